/**
 * Record boundaries: the kernel's 64-byte steps against the twin's single ones, wherever the scan
 * begins and ends, with delimiters behind the end that must not be seen.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { scanDelimiter } from './kernel-twin.js';

const kernel = new Kernel();
const TABLE_ENTRIES = 1024;
/** Entries behind the last one that a scan may write to. */
const SLACK_ENTRIES = 3;
const TABLE_BYTES = 8 * (TABLE_ENTRIES + SLACK_ENTRIES + 1);
const UNTOUCHED = new Uint8Array(TABLE_BYTES).fill(0xee);
const table = ARENA_START;
const data = ARENA_START + TABLE_BYTES + 64;
kernel.ensureArena(64 * 1024);

interface Scan {
  readonly bytes: Uint8Array;
  readonly from?: number;
  readonly to?: number;
  readonly recordStart?: number;
  readonly delimiter?: number;
  readonly maxCount?: number;
  /** Added to the address of the bytes. */
  readonly alignment?: number;
}

/** Calls both; checks that the kernel writes nothing behind the slack of the table. */
function scanBoth({ bytes, from = 0, to = bytes.byteLength, recordStart = 0, ...scan }: Scan) {
  const { delimiter = 0x0a, maxCount = TABLE_ENTRIES, alignment = 0 } = scan;
  const base = data + alignment;
  kernel.bytes.fill(0xee, table, table + TABLE_BYTES);
  kernel.bytes.fill(delimiter, base + bytes.byteLength, base + bytes.byteLength + 64);
  kernel.bytes.set(bytes, base);
  const count = kernel.wasm.scanDelimiter(base + from, base + to, base + recordStart, delimiter, table, maxCount);
  const pairs = Array.from({ length: count }, (_, i) => [
    kernel.view.getUint32(table + 8 * i, true) - base,
    kernel.view.getUint32(table + 8 * i + 4, true) - base,
  ]);
  const slackEnd = 8 * (count + SLACK_ENTRIES);
  const behind = kernel.bytes.subarray(table + slackEnd, table + TABLE_BYTES);
  expect(Buffer.compare(behind, UNTOUCHED.subarray(slackEnd))).toBe(0);
  return { kernel: pairs, twin: scanDelimiter(bytes, from, to, recordStart, delimiter, maxCount) };
}

describe('scanDelimiter', () => {
  it('finds a delimiter at every position of every length, and none behind the end', () => {
    for (let byteLength = 0; byteLength <= 130; byteLength++) {
      const none = scanBoth({ bytes: new Uint8Array(byteLength).fill(0x61) });
      expect(none.kernel).toEqual([]);
      for (let position = 0; position < byteLength; position++) {
        const bytes = new Uint8Array(byteLength).fill(0x61);
        bytes[position] = 0x0a;
        const found = scanBoth({ bytes, alignment: position % 16 });
        expect(found.kernel, `byte ${position} of ${byteLength}`).toEqual([[0, position + 1]]);
        expect(found.twin).toEqual(found.kernel);
      }
    }
  });

  it('stops when maxCount is reached, and goes on from there', () => {
    const bytes = new Uint8Array(200).fill(0x0a);
    for (const maxCount of [1, 2, 63, 64, 65, 128]) {
      const first = scanBoth({ bytes, maxCount });
      expect(first.kernel).toHaveLength(maxCount);
      expect(first.kernel).toEqual(first.twin);
      const rest = scanBoth({ bytes, from: maxCount, recordStart: maxCount });
      expect([...first.kernel, ...rest.kernel]).toEqual(Array.from(bytes, (_, i) => [i, i + 1]));
    }
  });

  it('equals the twin for any bytes, range, delimiter and count', () => {
    const byte = fc.oneof(fc.constantFrom(0x00, 0x0a, 0x0d, 0xff), fc.nat({ max: 255 }));
    const scan = fc.record({
      bytes: fc.array(byte, { maxLength: 400 }).map((bytes) => Uint8Array.from(bytes)),
      cuts: fc.tuple(fc.nat({ max: 400 }), fc.nat({ max: 400 }), fc.nat({ max: 400 })),
      delimiter: fc.constantFrom(0x00, 0x0a, 0x0d, 0xff),
      maxCount: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(TABLE_ENTRIES)),
      alignment: fc.nat({ max: 63 }),
    });
    fc.assert(
      fc.property(scan, ({ bytes, cuts, ...others }) => {
        const inside = cuts.map((cut) => Math.min(cut, bytes.byteLength)).sort((a, b) => a - b);
        const [recordStart = 0, from = 0, to = 0] = inside;
        const found = scanBoth({ bytes, recordStart, from, to, ...others });
        expect(found.kernel).toEqual(found.twin);
      }),
      { numRuns: 500 },
    );
  });
});
