/** Visits of piles against the plain list of records: every record of a share, once, in its order, from any one on. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EpochPiles, visitsOf } from '#src/loader/portion-visits.js';
import { type Equalize, type RankShareRule, shareOfRank } from '#src/loader/rank-share.js';
import { within } from '#workers/tasks/load-portion.js';

const epoch = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 12 })), { minLength: 1, maxLength: 12 }).chain((counts) =>
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

const request = fc.integer({ min: 1, max: 9 }).chain((worldSize) =>
  fc.record({
    worldSize: fc.constant(worldSize),
    rank: fc.nat({ max: worldSize - 1 }),
    share: fc.constantFrom<RankShareRule>('strided', 'contiguous'),
    equalize: fc.constantFrom<Equalize | null>(null, 'drop', 'pad'),
  }),
);

/** What comes of the visits: `pile:index` of each record. */
function visited(piles: EpochPiles, share: ReturnType<typeof shareOfRank>, from: number): string[] {
  const given: string[] = [];
  for (const { pile, range, rangeCount, ...selection } of visitsOf(piles, share, from)) {
    const records = piles.records[pile] ?? 0;
    // Ranges of keys hold any number of records; here as equal ones as there can be.
    const begin = Math.floor((range * records) / rangeCount);
    const end = Math.floor(((range + 1) * records) / rangeCount);
    const { first, step, count } = within(selection, begin, end);
    for (let k = 0; k < count; k++) given.push(`${pile}:${first + k * step}`);
  }
  return given;
}

describe('visits', () => {
  it('give the records of a share in their order, from any one on', () => {
    fc.assert(
      fc.property(epoch, request, fc.nat({ max: 100 }), ({ records, piles, ranges }, ofRank, start) => {
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

  it('leave out the piles of which a rank takes nothing', () => {
    const piles = { piles: Uint32Array.of(0, 1, 2, 3), records: Float64Array.of(1, 1, 0, 1), rangeCountOf: () => 1 };
    const share = shareOfRank(3, { rank: 2, worldSize: 3, share: 'strided', equalize: null });
    expect([...visitsOf(piles, share, 0)].map(({ pile }) => pile)).toEqual([3]);
  });
});
