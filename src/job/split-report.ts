/** Says what a job has in its splits and shards: before it starts, to the commit of its output, and in its report. */
import { counted } from '../errors.js';
import { isSectionName } from '../keep/sections.js';
import { sumsOfShards } from '../keep/sum.js';
import type { ShuffleReport, SplitReport } from '../options/reports.js';
import { type RecordTotals, textOfTotals } from '../piles/pile-totals.js';
import type { SplitSummary } from '../places/outputs/commit-journal.js';
import type { OutputPlace } from '../places/outputs/output-place.js';
import type { OutputSummary } from '../places/outputs/staged-output.js';
import { countEmptyShards, type ShardCuts } from '../plan/shard-cuts.js';
import { andOthers } from '../sources/list-inputs.js';
import type { ShuffleSpec } from '../spec.js';
import type { FoundSplit, WrittenOutput } from '../stages/between-passes.js';
import type { OutputDecision } from '../stages/chain.js';
import { digestOutput } from '../stages/digest-output.js';
import type { Callbacks, OutputRequest } from './request.js';

export type ReportedOutput = Pick<
  ShuffleReport,
  'records' | 'bytes' | 'checksum' | 'sum' | 'shards' | 'splits' | 'sections' | 'emptyShards'
>;

/**
 * Warns of shards of other splits, which an earlier job made: readers of the directory would take them for a part of this
 * output.
 */
export function warnOfOtherShards(
  { spec, output = '', onWarning }: Pick<OutputRequest & Callbacks, 'spec' | 'output' | 'onWarning'>,
  place: OutputPlace,
): void {
  const others = (spec.cut.splits === undefined ? undefined : place.otherShards?.()) ?? [];
  const [first] = others;
  if (first === undefined) return;
  onWarning(`the output directory ${output} holds ${first}${andOthers(others)}, which no split of this job replaces`);
}

/** Readers may fail at shards without records. @param mostRecords the most that the output may have. */
export function warnOfEmptyShards(
  { spec, onWarning }: Pick<OutputRequest & Callbacks, 'spec' | 'onWarning'>,
  mostRecords: number,
): void {
  const { shards, splits } = spec.cut;
  const parts = splits?.map(({ rule, shards: ofSplit }) => ({ rule, shards: ofSplit })) ?? [
    { rule: undefined, shards },
  ];
  for (const { rule, shards: ofPart } of parts) {
    const most = rule !== undefined && 'records' in rule ? Math.min(rule.records, mostRecords) : mostRecords;
    if (ofPart?.by !== 'count' || ofPart.shardCount <= most) continue;
    const { shardCount } = ofPart;
    const [whose, fits] = rule === undefined ? ['', most] : [` of ${rule.name}`, `${rule.name}=${most}`];
    const advice = most === 0 ? '' : `; \`shards.shardCount\` ${fits} would do`;
    onWarning(
      `${shardCount - most} of ${counted(shardCount, 'shard')}${whose} will be empty, and readers may fail at them: there ${most === 1 ? 'is' : 'are'} at most ${counted(most, 'record')}${advice}`,
    );
  }
}

/**
 * Returns what the commit of an output is told.
 * @param spec undefined: the records are those of a store.
 */
export function summaryOf(
  written: RecordTotals,
  { layout: { cuts }, regions }: WrittenOutput,
  decided: Pick<OutputDecision, 'threads' | 'output'>,
  spec: ShuffleSpec | undefined,
): OutputSummary {
  const { sum: rule, repeat = false } = spec?.keep ?? {};
  const splits = summarizeSplits(decided.output.splits, cuts);
  const emptyShards = 'parts' in cuts ? undefined : countEmptyShards(cuts, written);
  const digest: OutputSummary['digest'] =
    spec?.write.sums === true ? (paths, gate) => digestOutput(decided, paths, gate) : undefined;
  const total = { shardCount: cuts.shardCount, ...textOfTotals(written), splits, emptyShards, spec, digest };
  if (rule === undefined || repeat) return total;
  const sumOf = sumsOfShards(regions);
  const parts = 'parts' in cuts ? cuts.parts : [];
  const sums = {
    of: rule.selector.text,
    total: sumOf(0, cuts.shardCount),
    splits: parts.map(({ firstShard, cuts: { shardCount } }) => sumOf(firstShard, firstShard + shardCount)),
  };
  return { ...total, sums };
}

/** @param paths of all shards; none if there is one output. */
export function reportOutput(
  { records, bytes, checksum, ...parts }: Omit<OutputSummary, 'shardCount'>,
  paths: readonly string[],
): ReportedOutput {
  const { sums } = parts;
  const sum = sums && { of: sums.of, total: sums.total };
  return { records, bytes, checksum, sum, ...reportShards(parts, paths) };
}

function summarizeSplits(
  found: readonly FoundSplit[] | undefined,
  cuts: ShardCuts,
): readonly SplitSummary[] | undefined {
  if (found === undefined || !('parts' in cuts)) return undefined;
  return found.map((split, i) => {
    const ofPart = cuts.parts[i]?.cuts;
    const emptyShards = ofPart && countEmptyShards(ofPart, split);
    return { name: split.name, shardCount: ofPart?.shardCount ?? 1, ...textOfTotals(split), emptyShards };
  });
}

/** @param paths of all shards, split by split. */
function reportSplits(
  { splits, sums }: Pick<OutputSummary, 'splits' | 'sums'>,
  paths: readonly string[],
): SplitReport[] | undefined {
  let shard = 0;
  return splits?.map(({ shardCount, ...split }, i) => {
    const first = shard;
    shard += shardCount;
    return { ...split, sum: sums?.splits[i], shards: paths.slice(first, shard) };
  });
}

/** @param paths of all shards; none if there is one output. */
export function reportShards(
  output: Pick<OutputSummary, 'splits' | 'sums' | 'emptyShards'>,
  paths: readonly string[],
): Pick<ShuffleReport, 'shards' | 'splits' | 'sections' | 'emptyShards'> {
  const ofSplits = reportSplits(output, paths);
  const isOfSections = output.splits?.every(({ name }) => isSectionName(name)) === true;
  const parts = isOfSections ? { splits: undefined, sections: ofSplits?.sort(byName) } : { splits: ofSplits };
  // Sections lie in the order of their keys, which follow from a sample: what is told must not.
  const shards = isOfSections ? (ofSplits ?? []).flatMap((section) => section.shards) : paths;
  const ofAll = ofSplits?.reduce((sum, split) => sum + (split.emptyShards ?? 0), 0) || undefined;
  const emptyShards = ofSplits === undefined && paths.length > 0 ? output.emptyShards : ofAll;
  return { shards, ...parts, emptyShards };
}

function byName(a: SplitReport, b: SplitReport): number {
  return a.name < b.name ? -1 : 1;
}
