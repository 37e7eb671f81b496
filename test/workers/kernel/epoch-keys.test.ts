/**
 * The kernel for loaders: keys mixed for an epoch, the records of one range of keys, and every n-th record with its
 * end; kernel against twin, in pieces of any size.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { KernelOrder, WHOLE_KEY_SPACE } from './kernel-order.js';
import {
  checksumOf,
  decodeStored,
  encodeStored,
  type KeyedRecord,
  order,
  pileOfKey,
  recordKey,
} from './kernel-twin.js';

const kernel = new Kernel();
kernel.ensureArena(2 ** 20);
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const keyedRecords = fc.array(
  fc.record({ key: u64, bytes: fc.uint8Array({ maxLength: 40 }) }) satisfies fc.Arbitrary<KeyedRecord>,
  { maxLength: 30 },
);
/** Sizes in which bytes arrive, repeated. */
const pieces = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 });

/** The ends of the pieces of this many bytes. */
function* endsOf(byteLength: number, sizes: readonly number[]): Generator<number> {
  for (let end = 0, i = 0; end < byteLength; i++) {
    end = Math.min(byteLength, end + (sizes[i % sizes.length] ?? 1));
    yield end;
  }
}

function put(stored: Uint8Array): number {
  kernel.ensureArena(stored.byteLength + 2 ** 16);
  kernel.bytes.set(stored, ARENA_START);
  return ARENA_START;
}

const plain = (records: readonly KeyedRecord[]) => records.map(({ key, bytes }) => [key, ...bytes]);

describe('mixKeys', () => {
  /** What lies there after mixing, the bytes arriving in pieces; undefined: refused. */
  function mix(
    records: readonly KeyedRecord[],
    sizes: readonly number[],
    pile: number,
    pileCount: number,
    key: bigint,
  ) {
    const stored = encodeStored(records);
    const start = put(stored);
    let next = start;
    for (const end of endsOf(stored.byteLength, sizes)) {
      next = kernel.wasm.mixKeys(next, start + end, pile, pileCount, key) >>> 0;
      if (next === 0) return undefined;
    }
    expect(next).toBe(start + stored.byteLength);
    return plain(decodeStored(kernel.bytes.slice(start, start + stored.byteLength)));
  }

  it('gives each record the key that the twin draws from its own, and changes nothing else', () => {
    fc.assert(
      fc.property(keyedRecords, pieces, u64, (records, sizes, epochKey) => {
        const mixed = records.map(({ key, bytes }) => ({ key: recordKey(key, epochKey), bytes }));
        expect(mix(records, sizes, 0, 1, epochKey)).toEqual(plain(mixed));
      }),
    );
  });

  it('refuses a record of another pile, wherever it stands', () => {
    const pileCount = 5;
    fc.assert(
      fc.property(fc.array(u64, { minLength: 1, maxLength: 9 }), fc.nat({ max: 4 }), (keys, pile) => {
        const records = keys.map((key) => ({ key, bytes: Buffer.from('record') }));
        const isForeign = keys.some((key) => pileOfKey(key, 1n, pileCount) !== pile);
        expect(mix(records, [1000], pile, pileCount, 7n) === undefined).toBe(isForeign);
      }),
    );
  });
});

describe('compactRange', () => {
  it('keeps the records of the range in their order, and counts those before and all', () => {
    fc.assert(
      fc.property(
        keyedRecords,
        pieces,
        fc.integer({ min: 1, max: 5 }).chain((count) => fc.tuple(fc.nat({ max: count - 1 }), fc.constant(count))),
        fc.constantFrom(1n, 3n, 65536n),
        (records, sizes, [range, rangeCount], scale) => {
          const stored = encodeStored(records);
          // Like a reader: unseen bytes move down behind the kept records.
          const start = put(new Uint8Array());
          kernel.wasm.beginRange(start);
          let [seen, filled] = [start, start];
          let arrived = 0;
          for (const end of endsOf(stored.byteLength, sizes)) {
            kernel.bytes.set(stored.subarray(arrived, end), filled);
            filled += end - arrived;
            arrived = end;
            const next = kernel.wasm.compactRange(seen, filled, scale, range, rangeCount) >>> 0;
            seen = kernel.wasm.rangeEnd.value >>> 0;
            kernel.bytes.copyWithin(seen, next, filled);
            filled = seen + filled - next;
          }
          expect(filled).toBe(seen);
          const rangeOf = ({ key }: KeyedRecord) => pileOfKey(key, scale, rangeCount);
          const kept = records.filter((record) => rangeOf(record) === range);
          expect(plain(decodeStored(kernel.bytes.slice(start, filled)))).toEqual(plain(kept));
          expect([
            kernel.wasm.rangeRecords.value,
            kernel.wasm.recordsBefore.value,
            kernel.wasm.recordsSeen.value,
          ]).toEqual([kept.length, records.filter((record) => rangeOf(record) < range).length, records.length]);
        },
      ),
    );
  });
});

describe('gather with a step', () => {
  const OUT_BYTES = 2048;

  it('copies every n-th record that fits, says where each ends, and adds it to the checksum', () => {
    const call = fc.record({
      index: fc.nat({ max: 30 }),
      step: fc.integer({ min: 1, max: 6 }),
      count: fc.nat({ max: 40 }),
      capacity: fc.oneof(fc.constant(OUT_BYTES), fc.nat({ max: 300 })),
      base: fc.nat({ max: 1000 }),
    });
    fc.assert(
      fc.property(keyedRecords, fc.array(call, { maxLength: 4 }), (records, calls) => {
        const stored = encodeStored(records);
        const pile = new KernelOrder(kernel, ARENA_START, WHOLE_KEY_SPACE, stored, records.length, 4, OUT_BYTES, true);
        pile.walk(stored.byteLength);
        pile.order();
        const ordered = order(records, true);
        const ends = ARENA_START + 2 ** 17;
        kernel.ensureArena(2 ** 18);
        for (const { index, step, count, capacity, base } of calls) {
          const every = ordered.filter((_, i) => i >= index && (i - index) % step === 0).slice(0, count);
          const taken: KeyedRecord[] = [];
          const expectedEnds: number[] = [];
          let fill = 0;
          for (const record of every) {
            if (fill + record.bytes.byteLength > capacity) break;
            fill += record.bytes.byteLength;
            taken.push(record);
            expectedEnds.push(base + fill);
          }
          const before = pile.checksum();
          const { wasm } = kernel;
          const copied = wasm.gather(index, step, every.length, ARENA_START, capacity, 2n ** 62n, ends, base);
          expect(copied).toBe(taken.length);
          expect(Array.from(taken, (_, k) => kernel.view.getUint32(ends + 4 * k, true))).toEqual(expectedEnds);
          const bytes = kernel.bytes.subarray(ARENA_START, ARENA_START + (wasm.gatheredByteLength.value >>> 0));
          expect(Buffer.compare(bytes, Buffer.concat(taken.map((record) => record.bytes)))).toBe(0);
          expect(BigInt.asUintN(64, pile.checksum() - before)).toBe(checksumOf(taken));
        }
      }),
    );
  });
});
