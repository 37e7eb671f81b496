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

export type ShardRequest =
  | { readonly by: 'count'; readonly shardCount: number }
  | { readonly by: 'records'; readonly recordsPerShard: number }
  | { readonly by: 'bytes'; readonly maxShardBytes: number };

/** A request for more files is a mistake, and most file systems cannot cope with more. */
export const MOST_SHARDS = 1_000_000;

/**
 * @throws UsageError for more than `MOST_SHARDS`.
 * @throws InputError ERR_RECORD_TOO_LONG when one record is longer than a shard may be.
 */
export function planShardCuts(request: ShardRequest, totals: OutputTotals): ShardCuts {
  const cuts = chooseCuts(request, totals);
  if (cuts.shardCount <= MOST_SHARDS) return cuts;
  const advice =
    request.by === 'records'
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

function chooseCuts(request: ShardRequest, totals: OutputTotals): ShardCuts {
  switch (request.by) {
    case 'count':
      return { by: 'rank', shardCount: request.shardCount, totalRecords: totals.records };
    case 'records':
      return {
        by: 'rank',
        shardCount: Math.max(1, Math.ceil(totals.records / request.recordsPerShard)),
        totalRecords: totals.records,
        recordsPerShard: request.recordsPerShard,
      };
    case 'bytes': {
      // A cut at i * total / N moves forward to the next record start, by at most longest - 1 bytes;
      // N is the smallest number for which total / N plus that move still fits.
      const { longestRecordBytes, bytesAround } = totals;
      const fewestBytes = Math.max(1, longestRecordBytes) + bytesAround;
      const room = request.maxShardBytes - fewestBytes + 1;
      if (room < 1) {
        const around = bytesAround === 0 ? '' : `, a shard has ${bytesAround} bytes besides its records,`;
        throw new InputError(
          'ERR_RECORD_TOO_LONG',
          `the longest record has ${longestRecordBytes} bytes${around} and no shard may have more than ${request.maxShardBytes}; expected \`shards.maxShardBytes\` of at least ${fewestBytes}B`,
        );
      }
      return { by: 'byte', shardCount: Math.max(1, Math.ceil(totals.bytes / room)), totalBytes: totals.bytes };
    }
  }
}

/** floor(index * total / count), exact for every product. */
function proportion(index: number, total: number, count: number): number {
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
