/**
 * Cuts that follow long records, against every choice that there is: no shard is empty or too large, none could be left
 * out, and only long records disturb the equal sizes.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import {
  type Crossing,
  type CutsToFit,
  cutAt,
  fitCuts,
  isLong,
  MOST_SHARDS,
  planShardCuts,
} from '#src/plan/shard-cuts.js';
import { referenceShardBytes } from '../laws/reference-cuts.js';

const sum = (lengths: readonly number[]) => lengths.reduce((total, length) => total + length, 0);

/** The limit, the cuts that were made, and the records at which they could lie. */
interface Cut {
  readonly roomBytes: number;
  readonly totalBytes: number;
  readonly rounds: readonly (readonly Crossing[])[];
  readonly starts: readonly number[];
  readonly sizes: readonly number[];
  readonly isEven: boolean;
}

/** @returns undefined if the cuts need no measuring. */
async function cutLengths(lengths: readonly number[], maxShardBytes: number): Promise<Cut | undefined> {
  const totals = {
    records: lengths.length,
    bytes: sum(lengths),
    longestRecordBytes: Math.max(...lengths),
    bytesAround: 0,
  };
  const plan = planShardCuts({ by: 'bytes', maxShardBytes }, totals);
  if (!('roomBytes' in plan)) return undefined;
  const ends = [0];
  for (const length of lengths) ends.push((ends.at(-1) ?? 0) + length);
  const rounds: Crossing[][] = [];
  const cuts = await fitCuts(plan, async (bytes) => {
    const crossings = bytes.map((byte) => {
      const start = ends.findLast((end) => end <= byte) ?? 0;
      return { start, end: ends.find((end) => end >= byte) ?? 0 };
    });
    rounds.push(crossings);
    return crossings;
  });
  // Each cut moves forward to the next record.
  const starts = Array.from(
    { length: cuts.shardCount },
    (_, shard) => ends.find((end) => end >= cutAt(cuts, shard)) ?? 0,
  );
  const sizes = starts.map((start, i) => (starts[i + 1] ?? totals.bytes) - start);
  const { roomBytes } = plan;
  return { roomBytes, totalBytes: totals.bytes, rounds, starts, sizes, isEven: !('starts' in cuts) };
}

/** The fewest shards of at most `roomBytes` that begin at some of these bytes: tries them all. */
function fewestShards(places: readonly number[], totalBytes: number, roomBytes: number): number {
  const fewestFrom = (begin: number): number => {
    if (totalBytes - begin <= roomBytes) return 1;
    const next = places.filter((place) => place > begin && place <= begin + roomBytes);
    return 1 + Math.min(...next.map((place) => memo(place)));
  };
  const known = new Map<number, number>();
  const memo = (begin: number) => {
    const fewest = known.get(begin) ?? fewestFrom(begin);
    known.set(begin, fewest);
    return fewest;
  };
  return memo(0);
}

const mixes = fc
  .record({
    short: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 300 }),
    long: fc.array(fc.record({ at: fc.nat(), share: fc.double({ min: 0.05, max: 1, noNaN: true }) }), {
      minLength: 1,
      maxLength: 12,
    }),
    roomBytes: fc.integer({ min: 60, max: 3000 }),
  })
  .map(({ short, long, roomBytes }) => {
    const lengths = [...short];
    for (const { at, share } of long) lengths.splice(at % lengths.length, 0, Math.ceil(share * roomBytes));
    return { lengths, roomBytes };
  });

describe('fitted cuts', () => {
  it('keep the limit, leave no shard empty, and make as few shards as their choice allows', async () => {
    let fitted = 0;
    await fc.assert(
      fc.asyncProperty(mixes, async ({ lengths, roomBytes }) => {
        const cut = await cutLengths(lengths, roomBytes);
        if (cut === undefined) return;
        const { sizes, totalBytes, rounds, isEven } = cut;
        expect(sum(sizes)).toBe(totalBytes);
        for (const size of sizes) {
          expect(size).toBeGreaterThan(0);
          expect(size).toBeLessThanOrEqual(roomBytes);
        }
        expect(sizes).toEqual(referenceShardBytes(lengths, roomBytes));
        const last = rounds.at(-1);
        if (last === undefined) return;
        fitted += 1;
        const places = last.flatMap(({ start, end }) => [start, end]);
        const fewest = fewestShards(places, totalBytes, roomBytes);
        if (isEven) expect(sizes.length).toBeLessThanOrEqual(fewest);
        else expect(sizes).toHaveLength(fewest);
      }),
      { numRuns: 500 },
    );
    expect(fitted).toBeGreaterThan(100);
  });

  it('add at most one shard for each long record at a cut, and disturb no other shard', async () => {
    await fc.assert(
      fc.asyncProperty(mixes, async ({ lengths, roomBytes }) => {
        const cut = await cutLengths(lengths, roomBytes);
        const crossings = cut?.rounds.at(-1);
        if (cut === undefined || crossings === undefined || cut.isEven) return;
        const { starts, sizes, totalBytes } = cut;
        const count = crossings.length + 1;
        const isLongCrossing = ({ start, end }: Crossing) => isLong(end - start, roomBytes);
        const longStarts = new Set(crossings.filter(isLongCrossing).map(({ start }) => start));
        expect(sizes.length).toBeLessThanOrEqual(count + longStarts.size);
        for (const [i, start] of starts.entries()) {
          const size = sizes[i] ?? 0;
          const ends = [start, start + size].filter((byte) => byte > 0 && byte < totalBytes);
          const atEnds = ends.map((byte) => crossings.filter((each) => each.start === byte || each.end === byte));
          if (atEnds.some((each) => each.length !== 1 || each.some(isLongCrossing))) continue;
          const spareBytes = sum(atEnds.flat().map((each) => each.end - each.start));
          expect(Math.abs(size - totalBytes / count)).toBeLessThanOrEqual(spareBytes + 1);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are measured once more, with more room, when a record that is not long would be alone in a shard', async () => {
    const cuts = { totalBytes: 19_970, roomBytes: 1000, even: undefined, enoughShardBytes: 0 } satisfies CutsToFit;
    const asked: number[] = [];
    const crossing = (byte: number) => ({ start: byte - 30, end: byte + 30 });
    const fitted = await fitCuts(cuts, async (bytes) => {
      asked.push(bytes.length + 1);
      // Every other cut lies in the middle of a record that has nearly 1/16 of the limit.
      return bytes.map((byte, i) => (i % 2 === 0 ? crossing(byte) : { start: byte, end: byte }));
    });
    expect(asked).toEqual([20, 22]);
    expect(fitted.shardCount).toBe(22);
  });

  it('are refused when they are too many, before anything is measured', async () => {
    const totals = { records: 3e9, bytes: 3e11, longestRecordBytes: 100_000, bytesAround: 7 };
    const plan = planShardCuts({ by: 'bytes', maxShardBytes: 200_007 }, totals);
    const measure = async () => expect.fail('nothing to measure');
    const refused = 'roomBytes' in plan ? fitCuts(plan, measure) : undefined;
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(
      `the output would have 1502931 shards, more than ${MOST_SHARDS}; expected \`shards.maxShardBytes\` of at least 700007B`,
    );
  });
});
