/**
 * Shard cuts, simulated record by record: counts that differ by at most one, exact counts, sizes that
 * never exceed the limit, and `shardAt` as the inverse of `cutAt`.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError, UsageError } from '#src/errors.js';
import {
  cutAt,
  cutsWithin,
  fittedCuts,
  joinCuts,
  knownByteOf,
  MOST_SHARDS,
  type OutputTotals,
  planShardCuts,
  type ShardCuts,
  type ShardRule,
  shardAt,
} from '#src/plan/shard-cuts.js';

/** Cuts for which no record is measured. */
function arithmeticCuts(request: ShardRule, totals: OutputTotals): ShardCuts {
  const cuts = planShardCuts(request, totals);
  return 'by' in cuts ? cuts : expect.fail('there are long records');
}

/** Lengths of the records of each shard: a shard begins at the first record that starts at its cut or later. */
function cutRecords(lengths: readonly number[], request: ShardRule, bytesAround = 0): number[][] {
  const cuts = arithmeticCuts(request, {
    records: lengths.length,
    bytes: lengths.reduce((sum, length) => sum + length, 0),
    longestRecordBytes: Math.max(0, ...lengths),
    bytesAround,
  });
  const shards = Array.from({ length: cuts.shardCount }, (): number[] => []);
  let shard = 0;
  let byte = 0;
  for (const [rank, length] of lengths.entries()) {
    const place = cuts.by === 'rank' ? rank : byte;
    while (place >= cutAt(cuts, shard + 1)) shard += 1;
    expect(shardAt(cuts, place)).toBe(shard);
    shards[shard]?.push(length);
    byte += length;
  }
  expect(shards.flat()).toEqual(lengths);
  return shards;
}

const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 300 })), {
  maxLength: 200,
});

describe('planShardCuts', () => {
  it('by bytes: no byte over the limit when a record begins one byte before its cut', () => {
    // Even cuts at 152 would let a shard run to 152 + 9 bytes.
    const totals = { records: 152, bytes: 1520, longestRecordBytes: 10, bytesAround: 0 };
    expect(arithmeticCuts({ by: 'bytes', maxShardBytes: 160 }, totals).shardCount).toBe(11);
    expect(arithmeticCuts({ by: 'bytes', maxShardBytes: 161 }, totals).shardCount).toBe(10);
  });

  it('by count: as many shards as asked for, record counts that differ by at most one', () => {
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 300 }), (records, shardCount) => {
        const counts = cutRecords(records, { by: 'count', shardCount }).map((shard) => shard.length);
        expect(counts).toHaveLength(shardCount);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('by records: that many in each shard, the last one with 1 or more', () => {
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 300 }), (records, recordsPerShard) => {
        const counts = cutRecords(records, { by: 'records', recordsPerShard }).map((shard) => shard.length);
        expect(counts).toHaveLength(Math.max(1, Math.ceil(records.length / recordsPerShard)));
        for (const count of counts.slice(0, -1)) expect(count).toBe(recordsPerShard);
        expect(records.length === 0 || (counts.at(-1) ?? 0) > 0).toBe(true);
      }),
    );
  });

  it('by bytes: no shard above the limit or empty, while no record is long', () => {
    fc.assert(
      fc.property(lengths, fc.nat({ max: 500 }), fc.nat({ max: 50 }), (records, more, bytesAround) => {
        const longest = Math.max(1, ...records);
        const maxShardBytes = bytesAround + 16 * longest + more;
        const sizes = cutRecords(records, { by: 'bytes', maxShardBytes }, bytesAround).map((shard) =>
          shard.reduce((sum, length) => sum + length, bytesAround),
        );
        for (const size of sizes) expect(size).toBeLessThanOrEqual(maxShardBytes);
        const total = records.reduce((sum, length) => sum + length, 0);
        expect(records.length === 0 || sizes.every((size) => size > bytesAround)).toBe(true);
        expect(sizes).toHaveLength(Math.max(1, Math.ceil(total / (maxShardBytes - bytesAround - longest + 1))));
      }),
      { numRuns: 500 },
    );
  });

  it('by bytes: a record may be as long as a shard, and not longer', () => {
    const totals = { records: 3, bytes: 30, longestRecordBytes: 10, bytesAround: 0 };
    const fitted = { totalBytes: 30, roomBytes: 10, even: undefined };
    expect(planShardCuts({ by: 'bytes', maxShardBytes: 10 }, totals)).toMatchObject(fitted);
    const refused = () => planShardCuts({ by: 'bytes', maxShardBytes: 9 }, totals);
    expect(refused).toThrow(InputError);
    expect(refused).toThrow(
      'the longest record has 10 bytes and no shard may have more than 9; expected `shards.maxShardBytes` of at least 10B',
    );
    const withHeader = { ...totals, bytesAround: 5 };
    expect(planShardCuts({ by: 'bytes', maxShardBytes: 15 }, withHeader)).toMatchObject(fitted);
    expect(() => planShardCuts({ by: 'bytes', maxShardBytes: 14 }, withHeader)).toThrow(
      'the longest record has 10 bytes, a shard has 5 bytes besides its records, and no shard may have more than 14; expected `shards.maxShardBytes` of at least 15B',
    );
  });

  it('by bytes: the cuts are arithmetic up to a sixteenth of the limit, and if all fits one shard', () => {
    const totals = { records: 30, bytes: 3000, longestRecordBytes: 100, bytesAround: 4 };
    const even = { by: 'byte', shardCount: 2, totalBytes: 3000 };
    expect(planShardCuts({ by: 'bytes', maxShardBytes: 1604 }, totals)).toMatchObject({ shardCount: 2 });
    expect(planShardCuts({ by: 'bytes', maxShardBytes: 1603 }, totals)).toMatchObject({ roomBytes: 1599, even });
    const oneShard = { ...totals, longestRecordBytes: 2000 };
    expect(planShardCuts({ by: 'bytes', maxShardBytes: 3004 }, oneShard)).toEqual({ ...even, shardCount: 1 });
    expect(planShardCuts({ by: 'bytes', maxShardBytes: 3003 }, oneShard)).toMatchObject({ even: undefined });
  });

  it('refuses too many shards, and names a rule that makes fewer', () => {
    const totals = { records: 3e9, bytes: 3e11, longestRecordBytes: 1000, bytesAround: 0 };
    for (const request of [
      { by: 'records' as const, recordsPerShard: 2999 },
      { by: 'bytes' as const, maxShardBytes: 300_000 },
    ]) {
      expect(() => planShardCuts(request, totals)).toThrow(UsageError);
    }
    expect(() => planShardCuts({ by: 'records', recordsPerShard: 2999 }, totals)).toThrow(
      'expected `shards.recordsPerShard` of at least 3000',
    );
    expect(arithmeticCuts({ by: 'records', recordsPerShard: 3000 }, totals).shardCount).toBe(MOST_SHARDS);
    expect(() => planShardCuts({ by: 'bytes', maxShardBytes: 300_000 }, totals)).toThrow(
      'expected `shards.maxShardBytes` of at least 301000B',
    );
    expect(arithmeticCuts({ by: 'bytes', maxShardBytes: 301_000 }, totals).shardCount).toBeLessThanOrEqual(MOST_SHARDS);
  });

  it('makes one empty shard of nothing, or as many as were asked for', () => {
    expect(cutRecords([], { by: 'records', recordsPerShard: 5 })).toEqual([[]]);
    expect(cutRecords([], { by: 'bytes', maxShardBytes: 5 })).toEqual([[]]);
    expect(cutRecords([], { by: 'count', shardCount: 3 })).toEqual([[], [], []]);
  });
});

describe('cutAt', () => {
  it('is exact, also where the product of shard and total is not', () => {
    const shardCount = fc.integer({ min: 1, max: MOST_SHARDS });
    const total = fc.oneof(fc.nat({ max: Number.MAX_SAFE_INTEGER }), fc.nat({ max: 10_000_000 }));
    fc.assert(
      fc.property(shardCount, total, fc.nat({ max: MOST_SHARDS }), (count, totalBytes, any) => {
        const shard = any % count;
        const cut = BigInt(cutAt({ by: 'byte', shardCount: count, totalBytes }, shard));
        const product = BigInt(shard) * BigInt(totalBytes);
        expect(cut * BigInt(count) <= product && product < (cut + 1n) * BigInt(count)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('shardAt', () => {
  const anyCuts: fc.Arbitrary<ShardCuts> = fc.oneof(
    fc.record({
      by: fc.constant('rank' as const),
      shardCount: fc.integer({ min: 1, max: 1_000_000 }),
      totalRecords: fc.nat({ max: 2 ** 45 }),
    }),
    fc.record({
      by: fc.constant('byte' as const),
      shardCount: fc.integer({ min: 1, max: 1_000_000 }),
      totalBytes: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    }),
    fc.uniqueArray(fc.integer({ min: 1, max: 5000 }), { maxLength: 200 }).map((starts) => {
      return fittedCuts([0, ...starts].sort((a, b) => a - b));
    }),
    fc.tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 2 ** 30 })).map(([count, each]) => ({
      by: 'rank' as const,
      shardCount: count,
      totalRecords: count * each,
      recordsPerShard: each,
    })),
  );

  it('is the last shard whose cut lies at or before a place', () => {
    fc.assert(
      fc.property(anyCuts, fc.nat({ max: 1_000_000 }), (cuts, any) => {
        const cut = cutAt(cuts, any % cuts.shardCount);
        for (const place of [cut - 1, cut, cut + 1].filter((value) => value >= 0)) {
          const shard = shardAt(cuts, place);
          expect(cutAt(cuts, shard)).toBeLessThanOrEqual(place);
          expect(cutAt(cuts, shard + 1)).toBeGreaterThan(place);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('cutsWithin', () => {
  it('gives a task the cuts up to its end, and no others', () => {
    const cuts = fittedCuts([0, 10, 20, 30, 40]);
    const within = cutsWithin(cuts, 1, 35);
    expect(within).toMatchObject({ shardCount: 5, starts: Float64Array.of(10, 20, 30) });
    expect([1, 2, 3].map((shard) => cutAt(within, shard))).toEqual([10, 20, 30]);
    expect(cutAt(within, 4)).toBe(Number.POSITIVE_INFINITY);
    const even: ShardCuts = { by: 'byte', shardCount: 5, totalBytes: 50 };
    expect(cutsWithin(even, 1, 35)).toBe(even);
  });

  it('gives a task its parts of the order, and no others', () => {
    const cuts = partsOf(10);
    const within = cutsWithin(cuts, 7, 45);
    expect(within).toMatchObject({ shardCount: 20, parts: [{ firstShard: 6 }, { firstShard: 8 }] });
    expect([7, 8, 9].map((shard) => cutAt(within, shard))).toEqual([35, 40, 45]);
    expect(cutAt(within, 10)).toBe(Number.POSITIVE_INFINITY);
  });
});

/** Parts of 10 records of 3 bytes, each in 2 shards. */
function partsOf(count: number): ShardCuts {
  return joinCuts(
    Array.from({ length: count }, (_, i) => ({
      firstRank: 10 * i,
      firstByte: 30 * i,
      bytes: 30,
      cuts: { by: 'rank' as const, shardCount: 2, totalRecords: 10 },
    })),
  );
}

describe('joinCuts', () => {
  it('finds the shard of a rank among many parts, and the bytes at which parts begin', () => {
    const cuts = partsOf(10_000);
    expect(shardAt(cuts, 54_321)).toBe(10_864);
    expect(cutAt(cuts, 10_864)).toBe(54_320);
    expect(knownByteOf(cuts, 10_864)).toBe(162_960);
    expect(knownByteOf(cuts, 10_865)).toBeUndefined();
  });
});
