/** The arithmetic of ranges of numbers, against counting, and the choice of the way to order them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesOfAll,
  chooseWay,
  countOf,
  digitsOf,
  networkOf,
  numberArenaBytes,
  regionsOf,
  sumOfAll,
} from '#src/plan/number-range.js';

const END = 2n ** 64n;

describe('a range', () => {
  it('has as many numbers, bytes and as large a sum as by counting', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 5, 90, 989, 99_990, 10 ** 15 - 7),
        fc.integer({ min: 0, max: 30 }),
        (from, count) => {
          const low = BigInt(from);
          const numbers = Array.from({ length: count }, (_, i) => low + BigInt(i));
          const range = { low, high: low + BigInt(count) - 1n };
          expect(countOf(range)).toBe(BigInt(count));
          expect(bytesOfAll(range)).toBe(BigInt(numbers.map((number) => `${number}\n`).join('').length));
          expect(sumOfAll(range)).toBe(numbers.reduce((sum, number) => sum + number, 0n));
        },
      ),
    );
  });

  it('may have all numbers of 64 bits, or none', () => {
    expect(countOf({ low: 0n, high: END - 1n })).toBe(END);
    expect(bytesOfAll({ low: 0n, high: END - 1n })).toBe(376_270_514_436_789_472_826n);
    expect([countOf, bytesOfAll, sumOfAll].map((of) => of({ low: 0n, high: -1n }))).toEqual([0n, 0n, 0n]);
    expect([0n, 9n, 10n, END - 1n].map(digitsOf)).toEqual([1, 1, 2, 20]);
  });
});

describe('a network', () => {
  it('has room for all offsets and hardly more, and halves of at most 32 bits', () => {
    const edge = fc.bigInt({ min: 1n, max: 2n ** 32n }).chain((root) => fc.constantFrom(root * root, root * root - 1n));
    fc.assert(
      fc.property(fc.oneof(edge, fc.bigInt({ min: 1n, max: END }), fc.constantFrom(END, END - 1n)), (count) => {
        fc.pre(count >= 1n);
        const { rows, columns } = networkOf(count);
        expect(rows * rows >= count && (rows - 1n) * (rows - 1n) < count).toBe(true);
        expect(rows * columns >= count && rows * columns < count + rows && rows * columns <= END).toBe(true);
        expect(columns <= rows && rows <= 2n ** 32n).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the way', () => {
  const wayOf = (count: bigint, places: bigint, isRepeated = false) =>
    chooseWay({ low: 5n, high: 4n + count }, isRepeated, places);

  it('sorts short ranges, permutes longer ones, and draws what repeats', () => {
    expect(wayOf(0n, 0n)).toEqual({ by: 'sorted' });
    expect(wayOf(2n ** 20n, 1n)).toEqual({ by: 'sorted' });
    expect(wayOf(2n ** 20n + 1n, 1n)).toEqual({ by: 'permuted', rows: 1025n, columns: 1024n, isTabled: false });
    expect(wayOf(6n, 1n, true)).toEqual({ by: 'drawn' });
  });

  it('makes tables where they have 16 bits and are used often', () => {
    const isTabled = (count: bigint, places: bigint) => wayOf(count, places).by === 'permuted' && wayOf(count, places);
    expect(isTabled(2n ** 32n, 2n ** 32n)).toMatchObject({ isTabled: true });
    expect(isTabled(2n ** 32n + 1n, 2n ** 32n)).toMatchObject({ isTabled: false });
    expect(isTabled(10n ** 8n, 40_000n)).toMatchObject({ isTabled: true });
    expect(isTabled(10n ** 8n, 39_999n)).toMatchObject({ isTabled: false });
  });

  it('takes little memory, whatever the range', () => {
    expect(regionsOf(wayOf(2n ** 32n, 2n ** 32n), 2n ** 32n)).toEqual([10 * 2 ** 17]);
    for (const [count, mostMib] of [
      [2n ** 20n, 38],
      [2n ** 32n, 3],
      [END, 2],
    ] as const) {
      expect(numberArenaBytes(wayOf(count, count), count, 2 ** 20)).toBeLessThan(mostMib * 2 ** 20);
    }
  });
});
