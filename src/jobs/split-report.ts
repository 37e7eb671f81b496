/** What a job says of its splits: before it starts, to the commit of its output, and in its report. */
import { andOthers } from '../inputs/list-inputs.js';
import type { SplitSummary } from '../output/commit-journal.js';
import type { FilesPlace } from '../output/output-place.js';
import { findOtherShards } from '../output/shard-names.js';
import type { FoundSplit } from '../passes/find-splits.js';
import { checksumTextOf } from '../pile-sets/pile-totals.js';
import type { ShardCuts } from '../plan/shard-cuts.js';
import type { SplitReport } from './options.js';
import type { OutputRequest, TalkRequest } from './request.js';

/** Readers of the directory would take shards of other splits, which an earlier job made, for a part of this output. */
export function warnOfOtherShards(
  { splits, output = '', onWarning }: Pick<OutputRequest & TalkRequest, 'splits' | 'output' | 'onWarning'>,
  place: FilesPlace,
): void {
  if (splits === undefined || place.kind !== 'shards' || !place.exists) return;
  const others = findOtherShards(place);
  const [first] = others;
  if (first === undefined) return;
  onWarning(`the output directory ${output} holds ${first}${andOthers(others)}, which no split of this job replaces`);
}

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
