/**
 * Ranges of piles: they tile the piles that are not done, know the rank and byte at which they begin, and end with
 * each stripe, when they hold enough, and before a pile that is done.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PileTotals } from '#src/piles/pile-totals.js';
import { planPileRanges } from '#src/plan/pile-ranges.js';

function totalsOf(piles: readonly (readonly [records: number, recordBytes: number])[]): PileTotals {
  return {
    records: Float64Array.from(piles, ([records]) => records),
    recordBytes: Float64Array.from(piles, ([, recordBytes]) => recordBytes),
    checksums: new BigUint64Array(piles.length),
  };
}

const none = () => false;

describe('planPileRanges', () => {
  it('tiles the piles that are not done; each range begins at the sum of the ranks and bytes before it', () => {
    const pile = fc.tuple(fc.nat({ max: 1000 }), fc.nat({ max: 2 ** 40 }));
    const somePiles = fc.uniqueArray(fc.nat({ max: 60 }));
    const anyPiles = fc.array(pile, { maxLength: 60 });
    fc.assert(
      fc.property(anyPiles, fc.nat({ max: 2 ** 41 }), somePiles, somePiles, (piles, bytes, ends, done) => {
        const isDone = (index: number) => done.includes(index);
        const ranges = planPileRanges(totalsOf(piles), bytes, (index) => ends.includes(index), isDone);
        let [next, rank, byte] = [0, 0, 0];
        const skipTo = (index: number) => {
          for (; next < index; next++) {
            const [records, recordBytes] = piles[next] ?? [0, 0];
            rank += records;
            byte += recordBytes;
          }
        };
        for (const range of ranges) {
          while (isDone(next) && next < piles.length) skipTo(next + 1);
          expect(range).toEqual({ first: next, end: range.end, firstRank: rank, firstByte: byte });
          expect(range.end).toBeGreaterThan(range.first);
          const inside = piles.slice(range.first, range.end);
          const bytesBefore = inside.slice(0, -1).reduce((sum, [, recordBytes]) => sum + recordBytes, 0);
          expect(bytesBefore === 0 || bytesBefore < bytes).toBe(true);
          for (const end of ends) expect(end >= range.first && end < range.end - 1).toBe(false);
          for (const index of done) expect(index >= range.first && index < range.end).toBe(false);
          skipTo(range.end);
        }
        while (isDone(next) && next < piles.length) skipTo(next + 1);
        expect(next).toBe(piles.length);
      }),
    );
  });

  it('joins small piles and leaves large ones alone', () => {
    const totals = totalsOf([
      [1, 10],
      [2, 20],
      [0, 0],
      [9, 95],
      [1, 5],
    ]);
    expect(planPileRanges(totals, 25, none, none)).toEqual([
      { first: 0, end: 2, firstRank: 0, firstByte: 0 },
      { first: 2, end: 4, firstRank: 3, firstByte: 30 },
      { first: 4, end: 5, firstRank: 12, firstByte: 125 },
    ]);
  });
});
