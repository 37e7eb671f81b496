/**
 * Runs of piles: they tile the piles, know the rank and byte at which they begin, and end with each
 * stripe and where they hold enough.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PileTotals, planPileRuns } from '#src/plan/pile-runs.js';

function totalsOf(piles: readonly (readonly [records: number, recordBytes: number])[]): PileTotals {
  return {
    records: Float64Array.from(piles, ([records]) => records),
    recordBytes: Float64Array.from(piles, ([, recordBytes]) => recordBytes),
    checksums: new BigUint64Array(piles.length),
  };
}

describe('planPileRuns', () => {
  it('tiles the piles, each run at the rank and byte that those before it add up to', () => {
    const pile = fc.tuple(fc.nat({ max: 1000 }), fc.nat({ max: 2 ** 40 }));
    const stripeEnds = fc.uniqueArray(fc.nat({ max: 60 }));
    fc.assert(
      fc.property(fc.array(pile, { maxLength: 60 }), fc.nat({ max: 2 ** 41 }), stripeEnds, (piles, bytes, ends) => {
        const runs = planPileRuns(totalsOf(piles), bytes, (index) => ends.includes(index));
        let [pileEnd, rank, byte] = [0, 0, 0];
        for (const run of runs) {
          expect(run).toEqual({ first: pileEnd, end: run.end, firstRank: rank, firstByte: byte });
          expect(run.end).toBeGreaterThan(run.first);
          const inside = piles.slice(run.first, run.end);
          const bytesBefore = inside.slice(0, -1).reduce((sum, [, recordBytes]) => sum + recordBytes, 0);
          expect(bytesBefore === 0 || bytesBefore < bytes).toBe(true);
          for (const end of ends) expect(end >= run.first && end < run.end - 1).toBe(false);
          pileEnd = run.end;
          for (const [records, recordBytes] of inside) {
            rank += records;
            byte += recordBytes;
          }
        }
        expect(pileEnd).toBe(piles.length);
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
    expect(planPileRuns(totals, 25, () => false)).toEqual([
      { first: 0, end: 2, firstRank: 0, firstByte: 0 },
      { first: 2, end: 4, firstRank: 3, firstByte: 30 },
      { first: 4, end: 5, firstRank: 12, firstByte: 125 },
    ]);
    expect(planPileRuns(totals, 1000, (pile) => pile === 0)).toEqual([
      { first: 0, end: 1, firstRank: 0, firstByte: 0 },
      { first: 1, end: 5, firstRank: 1, firstByte: 10 },
    ]);
  });
});
