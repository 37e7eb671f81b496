/**
 * Walk and order: kernel against twin, at every level of piles, for keys that differ everywhere, only below their
 * upper 32 bits, or not at all (equal keys keep the order of arrival, or take the order of their bytes), in pieces of
 * any size; and the refusals of the walk.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { KernelOrder, type PilePlace, WHOLE_KEY_SPACE } from './kernel-order.js';
import { encodeStored, type KeyedRecord, order, pileOfKey } from './kernel-twin.js';

const kernel = new Kernel();
const KEYS = 2n ** 64n;

/** Records with the given keys; their bytes tell when they arrived. */
function recordsOf(keys: readonly bigint[]): KeyedRecord[] {
  return keys.map((key, i) => ({ key, bytes: Buffer.from(`record ${i}`) }));
}

/** Orders with the kernel, the bytes arriving in `pieces` (sizes, repeated); keys and texts as they come out. */
function orderWithKernel(
  records: readonly KeyedRecord[],
  place = WHOLE_KEY_SPACE,
  bits = 4,
  pieces = [1 << 20],
  tiesByBytes = false,
) {
  const stored = encodeStored(records);
  const pile = new KernelOrder(kernel, ARENA_START, place, stored, records.length, bits, 0, tiesByBytes);
  for (let end = 0, i = 0; end < stored.byteLength; i++) {
    end = Math.min(stored.byteLength, end + (pieces[i % pieces.length] ?? 1));
    expect(pile.walk(end)).toBeDefined();
  }
  return legible(pile.order());
}

function legible(records: readonly KeyedRecord[]) {
  return records.map(({ key, bytes }) => `${key.toString(16)} ${Buffer.from(bytes).toString('latin1')}`);
}

describe('orderWalked', () => {
  const u64 = fc.bigInt({ min: 0n, max: KEYS - 1n });
  const u32 = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });
  const bits = fc.integer({ min: 1, max: 12 });
  const pieces = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 });

  it.each<[string, fc.Arbitrary<bigint>]>([
    ['any keys', u64],
    ['keys of which many are equal', fc.constantFrom(0n, 1n, 2n ** 63n, KEYS - 1n)],
    ['keys of one upper half', u32.map((low) => (0x12345678n << 32n) | low)],
    ['keys of two upper halves', fc.tuple(fc.constantFrom(5n, 6n), u32).map(([high, low]) => (high << 32n) | low)],
    ['keys close together', fc.bigInt({ min: 2n ** 32n - 3n, max: 2n ** 32n + 3n })],
  ])('equals the twin for %s', (_, key) => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 120 }), bits, pieces, (keys, ofBits, ofPieces) => {
        const records = recordsOf(keys);
        expect(orderWithKernel(records, WHOLE_KEY_SPACE, ofBits, ofPieces)).toEqual(legible(order(records)));
      }),
    );
  });

  it('keeps equal keys in the order in which they arrived', () => {
    const records = recordsOf([9n, 5n, 9n, 5n, 9n, 5n].map((key) => key << 32n));
    expect(orderWithKernel(records).map((line) => line.split(' ')[2])).toEqual(['1', '3', '5', '0', '2', '4']);
  });

  it('puts records of equal keys in the order of their bytes, when asked to', () => {
    // Of two letters, so that some are equal and some are the beginning of others; bytes above 127 are not negative ones.
    const bytes = fc.array(fc.constantFrom(0x61, 0x80), { maxLength: 20 }).map((codes) => Uint8Array.from(codes));
    const key = fc.constantFrom(0n, 2n ** 40n, KEYS - 1n);
    fc.assert(
      fc.property(fc.array(fc.record({ key, bytes }), { maxLength: 60 }), bits, pieces, (records, ofBits, ofPieces) => {
        const ordered = orderWithKernel(records, WHOLE_KEY_SPACE, ofBits, ofPieces, true);
        expect(ordered).toEqual(legible(order(records, true)));
      }),
    );
  });

  it('has nothing to do with how they arrived then', () => {
    const records = ['b', 'a', '', 'ab', 'a', '\xff'].map((text) => ({ key: 7n, bytes: Buffer.from(text, 'latin1') }));
    for (const arrived of [records, records.toReversed()]) {
      expect(orderWithKernel(arrived, WHOLE_KEY_SPACE, 4, [9], true).map((line) => line.slice(2))).toEqual([
        '',
        'a',
        'a',
        'ab',
        'b',
        'ÿ',
      ]);
    }
  });

  it('compares whole keys where their upper halves are equal', () => {
    const high = 0xabcdef01n << 32n;
    const lows = [3n, 0xffffffffn, 0n, 0x80000000n, 3n, 1n];
    expect(orderWithKernel(recordsOf(lows.map((low) => high | low))).map((line) => line.split(' ')[2])).toEqual(
      '2 5 0 4 3 1'.split(' '),
    );
  });

  it('equals the twin inside a pile of any level, where places and not keys decide the ranges', () => {
    // A pile of level n is the range J of P of all keys, P being the product of the pile counts.
    const level = fc.record({
      counts: fc.array(fc.bigInt({ min: 1n, max: 65536n }), { minLength: 1, maxLength: 3 }),
      range: fc.bigInt({ min: 0n, max: 2n ** 48n }),
      fractions: fc.array(fc.oneof(u32, fc.constantFrom(0n, 1n, 2n ** 32n - 1n)), { maxLength: 60 }),
    });
    fc.assert(
      fc.property(level, bits, ({ counts, range, fractions }, ofBits) => {
        const total = counts.reduce((a, b) => a * b);
        const last = counts.at(-1) ?? 1n;
        const index = range % total;
        const first = (index * KEYS + total - 1n) / total;
        const end = ((index + 1n) * KEYS + total - 1n) / total;
        const keys = fractions.map((fraction) => first + ((end - first - 1n) * fraction) / (2n ** 32n - 1n));
        const place: PilePlace = {
          pile: Number(index % last),
          pileCount: Number(last),
          parentScale: (total / last) % KEYS,
        };
        for (const key of keys) expect(pileOfKey(key, place.parentScale, place.pileCount)).toBe(place.pile);
        const records = recordsOf(keys);
        expect(orderWithKernel(records, place, ofBits, [37])).toEqual(legible(order(records)));
      }),
    );
  });
});

describe('walkStored', () => {
  const records = recordsOf([1n << 60n, 0n, 2n ** 62n - 1n, 3n]);
  const stored = encodeStored(records);
  const quarter: PilePlace = { pile: 0, pileCount: 4, parentScale: 1n };

  it('stops before an incomplete record, wherever the bytes end', () => {
    for (let end = 0; end <= stored.byteLength; end++) {
      const pile = new KernelOrder(kernel, ARENA_START, quarter, stored, 4, 1);
      const complete = Math.floor(end / 20);
      expect(pile.walk(end)).toBe(20 * complete);
      expect(pile.walk(stored.byteLength)).toBe(stored.byteLength);
      expect(pile.order()).toHaveLength(4);
    }
  });

  it('refuses a record more than announced', () => {
    expect(new KernelOrder(kernel, ARENA_START, quarter, stored, 3, 1).walk(stored.byteLength)).toBeUndefined();
  });

  it('refuses a key of another pile', () => {
    for (const [key, pile] of [
      [2n ** 62n, 1],
      [2n ** 63n, 2],
      [KEYS - 1n, 3],
    ] as const) {
      const foreign = encodeStored(recordsOf([1n, key]));
      const walk = (place: PilePlace) =>
        new KernelOrder(kernel, ARENA_START, place, foreign, 2, 1).walk(foreign.byteLength);
      expect(walk(quarter)).toBeUndefined();
      expect(walk({ ...quarter, pile })).toBeUndefined();
      expect(walk(WHOLE_KEY_SPACE)).toBe(foreign.byteLength);
    }
  });
});
