/**
 * The hash of a record: values computed from docs/ORDER.md by a program of its own, kernel against twin
 * for every length up to 300 with garbage behind the end, which the kernel reads and must not use, and
 * what a checksum is for: whatever single thing goes wrong with a record changes its hash.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { recordHash } from './kernel-twin.js';

const kernel = new Kernel();
kernel.ensureArena(64 * 1024);

function kernelHash(bytes: Uint8Array, alignment = 0, garbage = 0xa5): bigint {
  const start = ARENA_START + alignment;
  kernel.bytes.fill(garbage, ARENA_START, start + bytes.byteLength + 64);
  kernel.bytes.set(bytes, start);
  return BigInt.asUintN(64, kernel.run.recordHash(start, bytes.byteLength));
}

/** The same bytes every time, without a pattern. */
function noise(byteLength: number): Uint8Array {
  let state = 0x2545f491;
  return Uint8Array.from({ length: byteLength }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
}

describe('recordHash', () => {
  it.each([
    ['', 0x0000000000000000n],
    ['\n', 0x24e0d82bf661c2b2n],
    ['a\n', 0x795ebd23f6a4f972n],
    ['fifteen bytes.\n', 0x1a7367cae355d66fn],
    ['sixteen bytes..\n', 0xe5399dfbbf11afd0n],
    ['seventeen bytes.\n', 0xcca395118bce782fn],
    ['1234567890'.repeat(8), 0x71ed925d7f1c40d8n],
    ['\0'.repeat(33), 0x56f43f759a28d221n],
    ['\u{ff}'.repeat(64), 0x6eec35bdd6e6a85en],
  ])('kernel and twin give the value of %j', (text, value) => {
    const bytes = Buffer.from(text, 'latin1');
    expect(kernelHash(bytes)).toBe(value);
    expect(recordHash(bytes)).toBe(value);
  });

  it('equals the twin for every length from 0 to 300, whatever lies behind', () => {
    const bytes = noise(300);
    for (let byteLength = 0; byteLength <= 300; byteLength++) {
      const record = bytes.subarray(0, byteLength);
      const expected = recordHash(record);
      for (const garbage of [0x00, 0x5a, 0xff]) {
        expect(kernelHash(record, byteLength % 17, garbage), `${byteLength} bytes before ${garbage}`).toBe(expected);
      }
    }
  });

  it('equals the twin for any bytes at any address', () => {
    const byte = fc.oneof(fc.constantFrom(0x00, 0xff), fc.nat({ max: 255 }));
    const bytes = fc.array(byte, { maxLength: 2000 }).map((values) => Uint8Array.from(values));
    fc.assert(
      fc.property(bytes, fc.nat({ max: 63 }), (record, alignment) => {
        expect(kernelHash(record, alignment)).toBe(recordHash(record));
      }),
    );
  });

  it('changes with any bit, with two blocks or words exchanged, and with zeros at the end', () => {
    const hashes = new Set<bigint>();
    let records = 0;
    const add = (record: Uint8Array) => {
      records += 1;
      hashes.add(kernelHash(record));
    };
    for (const original of [noise(77), new Uint8Array(77), new Uint8Array(77).fill(0xff)]) {
      add(original);
      for (let bit = 0; bit < 77 * 8; bit++) {
        const changed = Uint8Array.from(original);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        add(changed);
      }
      for (let byteLength = 0; byteLength < 77; byteLength++) {
        if (byteLength > 0 || original[0] === 0) add(original.subarray(0, byteLength));
      }
    }
    const bytes = noise(64);
    for (const size of [4, 8, 16, 32]) {
      for (let a = 0; a < 64; a += size) {
        for (let b = a + size; b < 64; b += size) {
          const changed = Uint8Array.from(bytes);
          changed.set(bytes.subarray(b, b + size), a);
          changed.set(bytes.subarray(a, a + size), b);
          add(changed);
        }
      }
    }
    // The three empty beginnings are one record.
    expect(hashes.size).toBe(records);
  });
});
