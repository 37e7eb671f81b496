/**
 * The records of a rank, and their order. The order of piles is a contract: a state resumed next year must mean the
 * same. Shares are disjoint, complete and of the requested sizes. Visits give every record of a share once.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveEpochDraws, deriveEpochKey, deriveInputKey } from '#src/keys.js';
import { type EpochPiles, orderOfEpoch, shareOfRank, visitsOf } from '#src/loader/epoch-order.js';
import type { LoaderSettings } from '#src/loader/loader-state.js';
import { within } from '#workers/tasks/load-portion.js';

type ShareRule = LoaderSettings['share'];
type Equalize = LoaderSettings['equalize'];

const inPlace = [0, 1, 2, 3, 4, 5, 6, 7];

describe('orderOfEpoch', () => {
  it('takes piles by number and stored keys in epoch 0, and with `none` in all epochs', () => {
    for (const [epoch, reshuffle] of [
      [0, 'full'],
      [0, 'piles'],
      [0, 'none'],
      [7, 'none'],
    ] as const) {
      const { piles, epochKey } = orderOfEpoch('seed', epoch, reshuffle, 8);
      expect({ piles: [...piles], epochKey }).toEqual({ piles: inPlace, epochKey: undefined });
    }
  });

  it('draws the same order of piles with `full` and `piles`, and mixes keys only with `full`', () => {
    const full = orderOfEpoch('seed', 3, 'full', 8);
    const piles = orderOfEpoch('seed', 3, 'piles', 8);
    expect(full.piles).toEqual(piles.piles);
    expect([full.epochKey, piles.epochKey]).toEqual([deriveEpochKey('seed', 3), undefined]);
    expect([...full.piles].sort((a, b) => a - b)).toEqual(inPlace);
  });

  it('never changes', () => {
    expect([...orderOfEpoch('42', 1, 'full', 8).piles]).toMatchInlineSnapshot(`
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
    expect([...orderOfEpoch('42', 2, 'full', 8).piles]).toMatchInlineSnapshot(`
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

  it('draws every order of three piles about as often as the others', () => {
    const counts = new Map<string, number>();
    for (let epoch = 1; epoch <= 1200; epoch++) {
      const order = orderOfEpoch('any', epoch, 'piles', 3).piles.join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    // 200 each, give or take 5 standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - 200)).toBeLessThan(65);
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

const share = fc.constantFrom<ShareRule>('strided', 'contiguous');
const sizes = { records: fc.nat({ max: 300 }), worldSize: fc.integer({ min: 1, max: 40 }), share };

/** The records of the order that a rank gets, one after the other. */
function recordsOf(records: number, rank: number, worldSize: number, by: ShareRule, equalize: Equalize) {
  const { first, step, count } = shareOfRank(records, { rank, worldSize, share: by, equalize });
  return Array.from({ length: count }, (_, k) => (first + k * step) % records);
}

function allRanks(records: number, worldSize: number, by: ShareRule, equalize: Equalize): number[][] {
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

  it('have the same counts with drop, no record twice, and fewer than worldSize records left out', () => {
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

  it('have the same counts with pad, no record left out, and fewer than worldSize records twice', () => {
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
    share,
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

  it('leave out the piles from which a rank takes nothing', () => {
    const piles = { piles: Uint32Array.of(0, 1, 2, 3), records: Float64Array.of(1, 1, 0, 1), rangeCountOf: () => 1 };
    const share = shareOfRank(3, { rank: 2, worldSize: 3, share: 'strided', equalize: null });
    expect([...visitsOf(piles, share, 0)].map(({ pile }) => pile)).toEqual([3]);
  });
});
