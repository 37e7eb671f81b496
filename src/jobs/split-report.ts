/** What a job says of its splits: to the commit of its output, and in its report. */
import type { SplitSummary } from '../output/commit-journal.js';
import type { FoundSplit } from '../passes/find-splits.js';
import { checksumTextOf } from '../pile-sets/pile-totals.js';
import type { ShardCuts } from '../plan/shard-cuts.js';
import type { SplitReport } from './options.js';

/** @returns undefined if the output is not split. */
export function summarizeSplits(
  found: readonly FoundSplit[] | undefined,
  cuts: ShardCuts,
): readonly SplitSummary[] | undefined {
  if (found === undefined || !('splits' in cuts)) return undefined;
  return found.map(({ name, records, bytes, checksum }, i) => {
    const shardCount = cuts.splits[i]?.cuts.shardCount ?? 1;
    return { name, shardCount, records, bytes, checksum: checksumTextOf(checksum) };
  });
}

/** @param paths of all shards, split by split. */
export function reportSplits(
  splits: readonly SplitSummary[] | undefined,
  paths: readonly string[],
): readonly SplitReport[] | undefined {
  let shard = 0;
  return splits?.map(({ shardCount, ...split }) => {
    const first = shard;
    shard += shardCount;
    return { ...split, shards: paths.slice(first, shard) };
  });
}
