/**
 * Cuts the global order into shards. Pure. Shard i begins at the record of rank `cutAt(i)`, or at the first record that
 * starts at byte `cutAt(i)` of the whole output or later. All cuts are arithmetic, so a task needs no list of them,
 * however many shards there are.
 */
import { InputError, UsageError } from '../errors.js';

/** Plain data; crosses threads. */
export type ShardCuts =
  | {
      readonly by: 'rank';
      readonly shardCount: number;
      readonly totalRecords: number;
      readonly recordsPerShard?: number;
    }
  | { readonly by: 'byte'; readonly shardCount: number; readonly totalBytes: number };

/** How the output is cut into shards. `by` selects one of three rules. */
export type ShardRule =
  /** This many shards, 1 to 1,000,000. Their record counts differ by at most one. */
  | { readonly by: 'count'; readonly shardCount: number }
  /** This many records in each shard, at least 1. The last shard may hold fewer. */
  | { readonly by: 'records'; readonly recordsPerShard: number }
  /** Shards of nearly equal size. No shard exceeds this many bytes before compression, and no record is cut. */
  | { readonly by: 'bytes'; readonly maxShardBytes: number };

/** A request for more files is a mistake, and most file systems cannot cope with more. */
export const MOST_SHARDS = 1_000_000;

/**
 * @throws UsageError for more than `MOST_SHARDS`.
 * @throws InputError ERR_RECORD_TOO_LONG when one record is longer than a shard may be.
 */
export function planShardCuts(rule: ShardRule, totals: OutputTotals): ShardCuts {
  const cuts = chooseCuts(rule, totals);
  if (cuts.shardCount <= MOST_SHARDS) return cuts;
  const advice =
    rule.by === 'records'
      ? `expected \`shards.recordsPerShard\` of at least ${Math.ceil(totals.records / MOST_SHARDS)}`
      : `expected \`shards.maxShardBytes\` of at least ${totals.longestRecordBytes + totals.bytesAround + Math.ceil(totals.bytes / MOST_SHARDS)}B`;
  throw new UsageError(`the output would have ${cuts.shardCount} shards, more than ${MOST_SHARDS}; ${advice}`);
}

/** What pass 1 has found out about the output. */
export interface OutputTotals {
  readonly records: number;
  readonly bytes: number;
  readonly longestRecordBytes: number;
  /** Bytes that each shard has besides its records. */
  readonly bytesAround: number;
}

function chooseCuts(rule: ShardRule, totals: OutputTotals): ShardCuts {
  switch (rule.by) {
    case 'count':
      return { by: 'rank', shardCount: rule.shardCount, totalRecords: totals.records };
    case 'records':
      return {
        by: 'rank',
        shardCount: Math.max(1, Math.ceil(totals.records / rule.recordsPerShard)),
        totalRecords: totals.records,
        recordsPerShard: rule.recordsPerShard,
      };
    case 'bytes': {
      // A cut at i * total / N moves forward to the next record start, by at most longest - 1 bytes;
      // N is the smallest number for which total / N plus that move still fits.
      const { longestRecordBytes, bytesAround } = totals;
      const fewestBytes = Math.max(1, longestRecordBytes) + bytesAround;
      const room = rule.maxShardBytes - fewestBytes + 1;
      if (room < 1) {
        const around = bytesAround === 0 ? '' : `, a shard has ${bytesAround} bytes besides its records,`;
        throw new InputError(
          'ERR_RECORD_TOO_LONG',
          `the longest record has ${longestRecordBytes} bytes${around} and no shard may have more than ${rule.maxShardBytes}; expected \`shards.maxShardBytes\` of at least ${fewestBytes}B`,
        );
      }
      return { by: 'byte', shardCount: Math.max(1, Math.ceil(totals.bytes / room)), totalBytes: totals.bytes };
    }
  }
}

/** floor(index * total / count), exact for every product. */
export function proportion(index: number, total: number, count: number): number {
  return Number((BigInt(index) * BigInt(total)) / BigInt(count));
}

/** The limit at which shard `shard` begins: a rank or a byte, according to `cuts.by`. */
export function cutAt(cuts: ShardCuts, shard: number): number {
  if (shard >= cuts.shardCount) return Number.POSITIVE_INFINITY;
  if (cuts.by === 'byte') return proportion(shard, cuts.totalBytes, cuts.shardCount);
  if (cuts.recordsPerShard !== undefined) return shard * cuts.recordsPerShard;
  return proportion(shard, cuts.totalRecords, cuts.shardCount);
}

/** The last shard whose cut lies at or before `rank` or `byte`. */
export function shardAt(cuts: ShardCuts, rankOrByte: number): number {
  let low = 0;
  let high = cuts.shardCount - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (cutAt(cuts, middle) <= rankOrByte) low = middle;
    else high = middle - 1;
  }
  return low;
}
