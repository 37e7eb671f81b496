/** The shares of ranks, for any number of records and ranks: disjoint, complete, and as equal as they are asked to be. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Equalize, type RankShareRule, shareOfRank } from '#src/loader/rank-share.js';

const share = fc.constantFrom<RankShareRule>('strided', 'contiguous');
const sizes = { records: fc.nat({ max: 300 }), worldSize: fc.integer({ min: 1, max: 40 }), share };

/** The records of the order that a rank gets, one after the other. */
function recordsOf(records: number, rank: number, worldSize: number, by: RankShareRule, equalize: Equalize | null) {
  const { first, step, count } = shareOfRank(records, { rank, worldSize, share: by, equalize });
  return Array.from({ length: count }, (_, k) => (first + k * step) % records);
}

function allRanks(records: number, worldSize: number, by: RankShareRule, equalize: Equalize | null): number[][] {
  return Array.from({ length: worldSize }, (_, rank) => recordsOf(records, rank, worldSize, by, equalize));
}

function differences(shares: readonly number[][]): number {
  const counts = shares.map(({ length }) => length);
  return Math.max(...counts) - Math.min(...counts);
}

const ascending = (values: readonly number[]) => values.toSorted((a, b) => a - b);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('shares of ranks', () => {
  it('are disjoint and together complete, with counts that differ by at most one', () => {
    fc.assert(
      fc.property(fc.record(sizes), ({ records, worldSize, share: by }) => {
        const shares = allRanks(records, worldSize, by, null);
        expect(ascending(shares.flat())).toEqual(upTo(records));
        expect(differences(shares)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('have the same counts with drop, none twice, and fewer than the number of ranks left out', () => {
    fc.assert(
      fc.property(fc.record(sizes), ({ records, worldSize, share: by }) => {
        const shares = allRanks(records, worldSize, by, 'drop');
        expect(differences(shares)).toBe(0);
        expect(new Set(shares.flat()).size).toBe(shares.flat().length);
        expect(records - shares.flat().length).toBeLessThan(worldSize);
        for (const [rank, share] of shares.entries()) {
          expect(recordsOf(records, rank, worldSize, by, null).slice(0, share.length)).toEqual(share);
        }
      }),
    );
  });

  it('have the same counts with pad, none left out, and fewer than the number of ranks given twice', () => {
    fc.assert(
      fc.property(fc.record(sizes), ({ records, worldSize, share: by }) => {
        const shares = allRanks(records, worldSize, by, 'pad');
        expect(differences(shares)).toBe(0);
        expect(ascending([...new Set(shares.flat())])).toEqual(upTo(records));
        expect(shares.flat().length - records).toBeLessThan(records === 0 ? 1 : worldSize);
        for (const [rank, share] of shares.entries()) {
          const own = recordsOf(records, rank, worldSize, by, null);
          expect(share.slice(0, own.length)).toEqual(own);
        }
      }),
    );
  });

  it('give record i to rank i mod worldSize, or one piece of the order to each', () => {
    expect(allRanks(10, 3, 'strided', null)).toEqual([
      [0, 3, 6, 9],
      [1, 4, 7],
      [2, 5, 8],
    ]);
    expect(allRanks(10, 3, 'contiguous', null)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [6, 7, 8, 9],
    ]);
    expect(allRanks(10, 3, 'strided', 'pad')).toEqual([
      [0, 3, 6, 9],
      [1, 4, 7, 0],
      [2, 5, 8, 1],
    ]);
  });

  it('are exact where products of ranks and records exceed 2^53', () => {
    const records = 2 ** 52 + 1;
    const worldSize = 2 ** 20;
    const ofRank = (rank: number) => shareOfRank(records, { rank, worldSize, share: 'contiguous', equalize: null });
    const { first, count } = ofRank(worldSize - 1);
    expect(BigInt(first)).toBe((BigInt(worldSize - 1) * BigInt(records)) / BigInt(worldSize));
    expect(first + count).toBe(records);
  });
});
