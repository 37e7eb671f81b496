/**
 * The records of a rank, and their order. The order of piles is a contract: a state resumed next year must mean the
 * same. Shares are disjoint, complete and of the requested sizes. Visits give every record of a share once.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveEpochDraws, deriveEpochKey, deriveInputKey } from '#src/keys.js';
import { type EpochPiles, orderOfEpoch, shareOfRank, visitsOf } from '#src/loader/epoch-order.js';
import type { LoaderSettings } from '#src/loader/loader-options.js';
import { within } from '#workers/tasks/load-portion.js';

type Equalize = LoaderSettings['equalize'];

const inPlace = [0, 1, 2, 3, 4, 5, 6, 7];

describe('orderOfEpoch', () => {
  it('takes piles by number and stored keys in epoch 0 alone', () => {
    const { piles, epochKey } = orderOfEpoch('seed', 0, 8);
    expect({ piles: [...piles], epochKey }).toEqual({ piles: inPlace, epochKey: undefined });
    const later = orderOfEpoch('seed', 3, 8);
    expect([...later.piles].sort((one, other) => one - other)).toEqual(inPlace);
    expect(later.epochKey).toBe(deriveEpochKey('seed', 3));
  });

  it('never changes', () => {
    expect([...orderOfEpoch('42', 1, 8).piles]).toMatchInlineSnapshot(`
      [
        3,
        5,
        6,
        4,
        0,
        2,
        1,
        7,
      ]
    `);
    expect([...orderOfEpoch('42', 2, 8).piles]).toMatchInlineSnapshot(`
      [
        0,
        7,
        1,
        5,
        2,
        4,
        3,
        6,
      ]
    `);
    expect(deriveEpochKey('42', 1).toString(16)).toMatchInlineSnapshot(`"7943a92cf3ca69af"`);
  });
});

describe('keys of epochs', () => {
  it('differ by epoch and seed, from the keys of inputs, and from the seed of the order of piles', () => {
    const keys = [
      deriveEpochKey('a', 1),
      deriveEpochKey('a', 2),
      deriveEpochKey('b', 1),
      deriveInputKey('a', '1'),
      deriveInputKey('a', 'epoch keys'),
      Buffer.from(deriveEpochDraws('a', 1), 'hex').readBigUInt64LE(),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

const sizes = { records: fc.nat({ max: 300 }), worldSize: fc.integer({ min: 1, max: 40 }) };

/** The records of the order that a rank gets, one after the other. */
function recordsOf(records: number, rank: number, worldSize: number, equalize: Equalize) {
  const { first, step, count } = shareOfRank(records, { rank, worldSize, equalize });
  return Array.from({ length: count }, (_, k) => (first + k * step) % records);
}

function allRanks(records: number, worldSize: number, equalize: Equalize): number[][] {
  return Array.from({ length: worldSize }, (_, rank) => recordsOf(records, rank, worldSize, equalize));
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
      fc.property(fc.record(sizes), ({ records, worldSize }) => {
        const shares = allRanks(records, worldSize, null);
        expect(ascending(shares.flat())).toEqual(upTo(records));
        expect(differences(shares)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('have the same counts with drop, no record twice, and fewer than worldSize records left out', () => {
    fc.assert(
      fc.property(fc.record(sizes), ({ records, worldSize }) => {
        const shares = allRanks(records, worldSize, 'drop');
        expect(differences(shares)).toBe(0);
        expect(new Set(shares.flat()).size).toBe(shares.flat().length);
        expect(records - shares.flat().length).toBeLessThan(worldSize);
        for (const [rank, share] of shares.entries()) {
          expect(recordsOf(records, rank, worldSize, null).slice(0, share.length)).toEqual(share);
        }
      }),
    );
  });

  it('have the same counts with pad, no record left out, and fewer than worldSize records twice', () => {
    fc.assert(
      fc.property(fc.record(sizes), ({ records, worldSize }) => {
        const shares = allRanks(records, worldSize, 'pad');
        expect(differences(shares)).toBe(0);
        expect(ascending([...new Set(shares.flat())])).toEqual(upTo(records));
        expect(shares.flat().length - records).toBeLessThan(records === 0 ? 1 : worldSize);
        for (const [rank, share] of shares.entries()) {
          const own = recordsOf(records, rank, worldSize, null);
          expect(share.slice(0, own.length)).toEqual(own);
        }
      }),
    );
  });
});

const anyEpoch = fc
  .array(fc.oneof(fc.constant(0), fc.nat({ max: 12 })), { minLength: 1, maxLength: 12 })
  .chain((counts) =>
    fc.record({
      records: fc.constant(Float64Array.from(counts)),
      piles: fc.shuffledSubarray(
        counts.map((_, pile) => pile),
        { minLength: counts.length },
      ),
      /** Records in each range of keys, as a share of the pile. */
      ranges: fc.integer({ min: 1, max: 4 }),
    }),
  );

const anyRank = fc.integer({ min: 1, max: 9 }).chain((worldSize) =>
  fc.record({
    worldSize: fc.constant(worldSize),
    rank: fc.nat({ max: worldSize - 1 }),
    equalize: fc.constantFrom<Equalize>(null, 'drop', 'pad'),
  }),
);

/** The records that the visits give, each as `pile:index`. */
function visited(piles: EpochPiles, share: ReturnType<typeof shareOfRank>, from: number): string[] {
  const given: string[] = [];
  for (const { pile, range, rangeCount, ...selection } of visitsOf(piles, share, from)) {
    const records = piles.records[pile] ?? 0;
    // Key ranges hold any number of records; here they are as equal as possible.
    const begin = Math.floor((range * records) / rangeCount);
    const end = Math.floor(((range + 1) * records) / rangeCount);
    const { first, step, count } = within(selection, begin, end);
    for (let k = 0; k < count; k++) given.push(`${pile}:${first + k * step}`);
  }
  return given;
}

describe('visits', () => {
  it('give the records of a share in their order, from any record on', () => {
    fc.assert(
      fc.property(anyEpoch, anyRank, fc.nat({ max: 100 }), ({ records, piles, ranges }, ofRank, start) => {
        const plain = piles.flatMap((pile) => Array.from({ length: records[pile] ?? 0 }, (_, i) => `${pile}:${i}`));
        const share = shareOfRank(plain.length, ofRank);
        const from = Math.min(start, share.count);
        const expected = Array.from({ length: share.count - from }, (_, k) => {
          return plain[(share.first + (from + k) * share.step) % plain.length];
        });
        const epochPiles = { piles: Uint32Array.from(piles), records, rangeCountOf: () => ranges };
        expect(visited(epochPiles, share, from)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });
});
