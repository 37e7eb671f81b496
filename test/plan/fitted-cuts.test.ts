/** Cuts that follow long records are those of docs/ORDER.md, and no shard is empty or too large. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import { countEmptyShards, cutAt, fitCuts, MOST_SHARDS, planShardCuts } from '#src/plan/shard-cuts.js';
import { referenceShardBytes } from '../laws/reference-cuts.js';

const sum = (lengths: readonly number[]) => lengths.reduce((total, length) => total + length, 0);

/** @returns the bytes of records in each shard; undefined if the cuts need no measuring. */
async function cutLengths(lengths: readonly number[], maxShardBytes: number): Promise<number[] | undefined> {
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
  const cuts = await fitCuts(plan, async (_by, bytes) =>
    bytes.map((byte) => ({
      start: ends.findLast((end) => end <= byte) ?? 0,
      end: ends.find((end) => end >= byte) ?? 0,
    })),
  );
  // Each cut moves forward to the next record.
  const starts = Array.from(
    { length: cuts.shardCount },
    (_, shard) => ends.find((end) => end >= cutAt(cuts, shard)) ?? 0,
  );
  return starts.map((start, i) => (starts[i + 1] ?? totals.bytes) - start);
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
  it('are those of docs/ORDER.md, keep the limit, and leave no shard empty', async () => {
    let fitted = 0;
    await fc.assert(
      fc.asyncProperty(mixes, async ({ lengths, roomBytes }) => {
        const sizes = await cutLengths(lengths, roomBytes);
        if (sizes === undefined) return;
        fitted += 1;
        for (const size of sizes) {
          expect(size).toBeGreaterThan(0);
          expect(size).toBeLessThanOrEqual(roomBytes);
        }
        expect(sizes).toEqual(referenceShardBytes(lengths, roomBytes));
      }),
      { numRuns: 500 },
    );
    expect(fitted).toBeGreaterThan(100);
  });

  it('lie between bundles, and are refused if one is larger than a shard', async () => {
    const bundles = async (_by: string, places: readonly number[]) =>
      places.map((rank) => (rank <= 10 ? { start: 0, end: 300 } : { start: rank * 30, end: rank * 30 + 30 }));
    const cuts = await fitCuts({ shardCount: 6, totalRecords: 20, totalBytes: 600 }, bundles);
    expect(Array.from({ length: 6 }, (_, shard) => cutAt(cuts, shard))).toEqual([0, 300, 300, 300, 420, 510]);
    expect(countEmptyShards(cuts, { records: 20, bytes: 600 })).toBe(2);
    const totals = { records: 20, bytes: 600, longestRecordBytes: 30, bytesAround: 7 };
    const plan = planShardCuts({ by: 'bytes', maxShardBytes: 207 }, totals, true);
    const fitted =
      'roomBytes' in plan
        ? fitCuts(plan, async (_by, bytes) => bytes.map(() => ({ start: 100, end: 400 })))
        : undefined;
    await expect(fitted).rejects.toMatchObject({
      code: 'ERR_BUNDLE_TOO_LARGE',
      message:
        'a bundle of records has 300 bytes and no shard may have more than 200; expected `shards.maxShardBytes` of at least 307B',
    });
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
