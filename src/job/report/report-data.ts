/** Puts together what a report tells: from the result and the profile of a job, and from what its log took down. */
import { arch, cpus, release, totalmem } from 'node:os';
import { ownVersion } from '../../io/shipped-files.js';
import { isHead } from '../../keep/head.js';
import { type KeepSpec, reportedRules, whyNotUniform } from '../../keep/keep-spec.js';
import { isSplitByValue, type SplitRule, sizesOfSplits } from '../../keep/splits.js';
import { numberOf } from '../../keep/weights.js';
import type { ExpectedRange, PileSizes, ReportFacts, SampledRecord } from '../../options/report-facts.js';
import type { JobProfile, JobReport, ShuffleReport } from '../../options/reports.js';
import { cutAt, type ShardCuts, shardAt } from '../../plan/shard-cuts.js';
import type { ShuffleSpec } from '../../spec.js';
import { formatPlural } from '../../values/format-numbers.js';
import { givenBytesOf, type ShuffleRequest } from '../request.js';
import type { PassOutcome, ReportLog } from './report-log.js';
import { binomial, selfChecks, sum } from './self-check.js';

/**
 * @param command repeats the job.
 * @param log undefined: an earlier attempt had written all of the output.
 */
export function reportData(
  result: ShuffleReport,
  profile: JobProfile,
  request: ShuffleRequest,
  command: string | undefined,
  log: ReportLog | undefined,
): JobReport {
  const { outcome, job } = log ?? {};
  const { keep, cut } = request.spec;
  const piles = outcome && pileSizes(outcome, request.spec);
  const sampleMissing = whyNoSample(result, request.spec, log);
  const sample = sampleMissing === undefined && log !== undefined ? sampleOf(log, result) : [];
  const counts = { ordered: result.records + (result.leftOut?.records ?? 0), written: result.records };
  return {
    format: 'pileshuf report',
    version: 1,
    endedAt: new Date().toISOString(),
    call: {
      command,
      directory: command === undefined ? undefined : process.cwd(),
      output: request.output ?? '-',
      tempDirs: job?.tempDirs ?? request.tempDirs,
      memoryBytes: givenBytesOf(request),
      isSeedDrawn: request.isSeedDrawn,
      ...reportedRules(keep),
    },
    environment: environment(),
    result,
    profile,
    inputs: job?.inputs.map(({ path }, i) => ({ path, bytes: outcome?.recordEnds[i] })) ?? [],
    watch: log && watchOf(log),
    piles,
    shards: outcome && shardSizes(outcome.cuts, result),
    askedSplits: askedSplits(request.spec, result),
    askedShares: askedShares(keep),
    sample,
    sampleMissing,
    checks: selfChecks(sample, counts, piles, isSplitByValue(cut)),
  };
}

function environment(): ReportFacts['environment'] {
  const processors = cpus();
  return {
    pileshuf: ownVersion(),
    node: process.version,
    platform: `${process.platform} ${release()} ${arch()}`,
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cpuCount: processors.length,
    memoryBytes: totalmem(),
  };
}

function watchOf({ moments, job }: ReportLog): ReportFacts['watch'] {
  const { devices, permits } = job.deviceGates;
  const watched = devices.map(({ name, deviceClass: kind }, gate) => ({ name, kind, mostCalls: permits[gate] ?? 0 }));
  return { devices: job.inline ? [] : watched, moments };
}

function pileSizes({ piles: { totals } }: PassOutcome, spec: ShuffleSpec): PileSizes {
  const records = [...totals.records];
  const notExpected = whyNotUniform(spec.keep, spec.cut);
  const expected = notExpected === undefined ? binomial(sum(records), 1 / Math.max(1, records.length)) : undefined;
  return { records, bytes: [...totals.recordBytes], expected, notExpected };
}

function shardSizes(cuts: ShardCuts, { records, bytes }: ShuffleReport): ReportFacts['shards'] {
  const isByRank = cuts.by === 'rank';
  const total = isByRank ? records : bytes;
  const starts = Array.from({ length: cuts.shardCount }, (_, shard) => Math.min(total, cutAt(cuts, shard)));
  const sizes = starts.map((start, shard) => (starts[shard + 1] ?? total) - start);
  return { by: isByRank ? 'records' : 'bytes', sizes, starts };
}

function whyNoSample(
  { records, resumed }: ShuffleReport,
  { keep: { repeat, range, bundleBy }, cut: { each } }: ShuffleSpec,
  log: ReportLog | undefined,
): string | undefined {
  if (log?.outcome === undefined || resumed !== undefined) return 'an earlier attempt had done a part of the work';
  if (repeat) return 'records were drawn with replacement, so none has one place';
  if (bundleBy !== undefined) return 'records of one value stay together, so their places follow from one another';
  if (each !== undefined) return 'the records of each value have an order of their own';
  if (range !== undefined) return 'the order of so many numbers is computed, and no record was read';
  if (records === 0) return 'the output has no records';
  return undefined;
}

function sampleOf({ records, outcome }: ReportLog, result: ShuffleReport): SampledRecord[] {
  if (outcome === undefined) return [];
  const { cuts, recordEnds, written: ofPiles } = outcome;
  const inputStarts = startsOf(recordEnds);
  const pileStarts = startsOf(ofPiles.records);
  // Piles are a random part of the records, so bytes grow with ranks.
  const byteOfRank = result.bytes / Math.max(1, result.records);
  return records
    .map(({ taken: { inputOrdinal, position, nextKey }, written }) => {
      const rank = (pileStarts[written.pile] ?? 0) + written.index;
      return {
        inputOrdinal,
        position,
        fromPart: ((inputStarts[inputOrdinal] ?? 0) + position) / Math.max(1, inputStarts.at(-1) ?? 1),
        rank,
        shard: shardAt(cuts, cuts.by === 'rank' ? rank : Math.floor(rank * byteOfRank)),
        keepsNeighbour:
          nextKey === undefined || written.nextKey === undefined ? undefined : nextKey === written.nextKey,
      };
    })
    .sort((a, b) => a.rank - b.rank);
}

/** Returns where each begins if they lie one after the other, and where the last one ends. */
function startsOf(sizes: Iterable<number>): number[] {
  const starts = [0];
  for (const size of sizes) starts.push((starts.at(-1) ?? 0) + size);
  return starts;
}

function askedShares({ mix: { shares } }: KeepSpec): ReportFacts['askedShares'] {
  if (shares === undefined) return undefined;
  const { unit, groups } = shares;
  const parts = groups.map(({ share }) => numberOf(share));
  const all = sum(parts);
  return { unit, groups: groups.map(({ name }, i) => ({ name, part: (parts[i] ?? 0) / all })) };
}

function askedSplits({ keep, cut }: ShuffleSpec, { records }: ShuffleReport): ReportFacts['askedSplits'] {
  const sizes = sizesOfSplits(keep, cut);
  const expectedOf = (size: (typeof sizes)[number]) => {
    if (size === undefined) return undefined;
    if ('count' in size) return exactly(size.count(records));
    return isHead(keep) ? exactly(size.share * records) : binomial(records, size.share);
  };
  return cut.splits?.map(({ rule }, i) => ({ name: rule.name, asked: amountOf(rule), expected: expectedOf(sizes[i]) }));
}

function exactly(mean: number): ExpectedRange {
  return { mean, standardDeviation: 0, lowest: mean - 1, highest: mean + 1 };
}

function amountOf(rule: SplitRule): string {
  if ('records' in rule) return formatPlural(rule.records, 'record');
  // 0.07 of 100 is 7.000000000000001.
  return 'share' in rule ? `${Number((rule.share * 100).toPrecision(12))} %` : 'the rest';
}
