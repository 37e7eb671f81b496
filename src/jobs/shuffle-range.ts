/**
 * Writes the whole numbers of a range in random order. The number at any place of the order can be computed by itself, so
 * there are no piles, no temp data and no pass that reads: memory stays the same however long the range is.
 *
 *     plan      how the order is made, places a task          prepareRange, ../plan/number-range.ts
 *     write     one task a stretch of places, in turns        ../passes/numbers-pass.ts
 *     verify    bytes and sum of all numbers, then as in      open-site.ts
 *     commit    shuffle.ts
 */
import { UsageError } from '../errors.js';
import { openEncoder } from '../formats/encoder-table.js';
import { type GateNumber, JobControl, UNGATED } from '../job-control.js';
import { deriveRangeKey } from '../keys.js';
import { DeviceGates } from '../machine/device-gates.js';
import { NO_ENDS, type OutputLayout, storedEnds } from '../output/output-layout.js';
import { requireReplaceable } from '../output/output-place.js';
import type { FoundSplit } from '../passes/find-splits.js';
import { type NumbersPart, type NumbersWork, type WrittenPart, writeAllNumbers } from '../passes/numbers-pass.js';
import { JobStop, startThreads } from '../passes/threads.js';
import { checksumTextOf } from '../pile-sets/pile-totals.js';
import type { Tuning } from '../plan/memory-plan.js';
import {
  bytesOfAll,
  chooseWay,
  countOf,
  digitsOf,
  type NumberWay,
  numberArenaBytes,
  sumOfAll,
} from '../plan/number-range.js';
import { type PlainCuts, planShardCuts, type ShardCuts, type ShardRule } from '../plan/shard-cuts.js';
import { joinCuts, splitRanks } from '../plan/splits.js';
import { needsAtSite, requireSpace } from './disk-space.js';
import { findStart, type StartedFiles } from './earlier-attempt.js';
import { type JobScope, runJob } from './job.js';
import { describeWithoutInputs } from './job-description.js';
import type { JobFiles } from './job-files.js';
import { JobProgress } from './job-progress.js';
import { beginOutput, commitOutput, type OpenStream, openFiles, openOutputStream, workAt } from './open-site.js';
import { completeRange, type RangeOptions, type RangeReport, type RangeRequest } from './range-options.js';
import { NEVER_RESUMED } from './request.js';
import { chooseSite, type StreamSite } from './site.js';
import { reportShards, summarizeSplits, warnOfEmptyShards, warnOfOtherShards } from './split-report.js';
import { TempDisks } from './temp-disks.js';

/** Long enough that handing out tasks costs little, short enough for the core's cache. */
const OUTPUT_BYTES = 2 ** 20;
/** So few numbers are written before threads have started. */
const INLINE_PLACES = 2n ** 20n;
/** One output is one shard. */
const ONE_OUTPUT: ShardRule = { by: 'count', shardCount: 1 };

/** The sizes that tests shrink; they do not change the output. */
type RangeTuning = Pick<Tuning, 'inline' | 'outputBytes'>;

/**
 * Writes the whole numbers of a range in uniformly random order, or random numbers of it. The order depends only on the
 * seed and the range.
 *
 * @param tuning sizes for tests; they do not change the output.
 * @throws PileshufError as `shuffle`.
 */
export async function shuffleRange(options: RangeOptions, tuning: Partial<Tuning> = {}): Promise<RangeReport> {
  const { value, seconds } = await runJob(options, async (scope) => {
    const prepared = await prepareRange(options, tuning, scope);
    const { request, control } = prepared;
    const stop = new JobStop(control, request.signal);
    scope.releases.push(() => stop.release());
    const phases = [
      { phase: 'shuffle', bytes: prepared.plan.bytes },
      { phase: 'commit', bytes: 0 },
    ] as const;
    const machine = { gates: prepared.gates, budgetBytes: undefined };
    const progress = new JobProgress(control, stop, request.onProgress, phases, machine);
    const site = await openSite(prepared, scope);
    return workAt(site, scope, (threadScope) => writeAt(site, prepared, stop, progress, threadScope));
  });
  return { ...value, seconds: { total: seconds, ...value.seconds } };
}

interface PreparedRange {
  readonly request: RangeRequest;
  readonly site: StreamSite | StartedFiles;
  readonly gates: DeviceGates;
  readonly outputGate: GateNumber;
  readonly plan: RangePlan;
  readonly control: JobControl;
}

interface RangePlan {
  readonly way: NumberWay;
  /** 0: the calling thread does all the work. */
  readonly threadCount: number;
  readonly outputBytes: number;
  readonly placesOfTask: number;
  /** Undefined: the order is not split. */
  readonly splits: readonly PlannedSplit[] | undefined;
  readonly cuts: ShardCuts;
  /** Expected bytes of the output; undefined for an endless one. */
  readonly bytes: number | undefined;
}

/** The place of a split in the order, and how it is cut. */
interface PlannedSplit {
  readonly name: string;
  readonly firstRank: number;
  readonly records: number;
  readonly cuts: PlainCuts;
}

/** @throws UsageError, InputError, SystemError */
async function prepareRange(
  options: RangeOptions,
  tuning: RangeTuning,
  { releases }: JobScope,
): Promise<PreparedRange> {
  const request = completeRange(options);
  const chosen = chooseSite({ ...request, ...NEVER_RESUMED }, { inputs: [], mayHaveTempData: false });
  if (chosen.kind === 'files' && request.isEndless)
    throw new UsageError('`repeat` without `headCount` never ends; give `headCount`, or write to standard output');
  const plan = planRange(request, tuning);
  const start = { ...request, resume: false, mayResume: false };
  const site = chosen.kind === 'files' ? { ...chosen, start: await findStart(start, chosen) } : chosen;
  const gates = new DeviceGates({});
  if (site.kind === 'files') {
    releases.push(() => site.start.directory.release());
    requireReplaceable(site.output, request.output ?? '', []);
    warnOfOtherShards(request, site.output);
    warnOfEmptyShards(request, Number(request.places));
    requireRangeSpace(request, plan, site, gates);
  }
  const isGated = site.outputDirectory !== undefined && plan.threadCount > 0;
  const outputGate = isGated ? gates.gateOf(site.outputDirectory, 'output') : UNGATED;
  return { request, site, gates, outputGate, plan, control: JobControl.create(gates.permits, 0) };
}

function planRange(request: RangeRequest, tuning: RangeTuning): RangePlan {
  const { range, places, isRepeated, workers, shards = ONE_OUTPUT } = request;
  const outputBytes = tuning.outputBytes ?? OUTPUT_BYTES;
  const longestRecordBytes = digitsOf(range.high) + 1;
  const placesOfTask = Math.floor(outputBytes / longestRecordBytes);
  const taskCount = places / BigInt(placesOfTask) + 1n;
  const mostThreads = taskCount < workers ? Number(taskCount) : workers;
  const isInline = tuning.inline ?? places <= INLINE_PLACES;
  const way = chooseWay(range, isRepeated, places / BigInt(mostThreads));
  const bytes = expectBytes(request);
  const splits = planSplits(request);
  const cuts = splits === undefined ? cutsOf(shards, Number(places)) : joinSplits(splits, []);
  return { way, threadCount: isInline ? 0 : mostThreads, outputBytes, placesOfTask, splits, cuts, bytes };
}

/** Ranges of ranks: the numbers have no keys that splits could have ranges of. @throws InputError ERR_TOO_FEW_RECORDS */
function planSplits({ splits, places }: RangeRequest): readonly PlannedSplit[] | undefined {
  if (splits === undefined) return undefined;
  const all = Number(places);
  const rules = splits.map(({ rule }) => rule);
  const starts = [0, ...splitRanks(rules, all)];
  return splits.map(({ rule, shards }, i) => {
    const firstRank = starts[i] ?? 0;
    const records = (starts[i + 1] ?? all) - firstRank;
    return { name: rule.name, firstRank, records, cuts: cutsOf(shards, records) };
  });
}

function cutsOf(rule: ShardRule, records: number): PlainCuts {
  const cuts = planShardCuts(rule, { records, bytes: 0, longestRecordBytes: 0, bytesAround: 0 });
  if ('roomBytes' in cuts) throw new RangeError('a range is not cut by bytes');
  return cuts;
}

/** @param written of each split; empty before its numbers are written: they have digits of their own. */
function joinSplits(splits: readonly PlannedSplit[], written: readonly WrittenPart[]): ShardCuts {
  return joinCuts(splits.map((split, i) => ({ ...split, firstByte: 0, bytes: written[i]?.bytes ?? 0 })));
}

/** Exact if all numbers are written, or all have the same length; else what so many numbers have on average. */
function expectBytes({ range, places, isEndless }: RangeRequest): number | undefined {
  if (isEndless) return undefined;
  const count = countOf(range);
  return count === 0n ? 0 : Number((bytesOfAll(range) * places) / count);
}

/** @throws SystemError ERR_NO_SPACE */
function requireRangeSpace(
  { range, places, isWhole, compression, onWarning }: RangeRequest,
  { bytes = 0 }: RangePlan,
  site: StartedFiles,
  gates: DeviceGates,
): void {
  if (compression !== undefined) return;
  const leastBytes = isWhole ? bytes : Number(places) * (digitsOf(range.low) + 1);
  const needOf = (outputBytes: number) => ({ tempBytes: 0, outputBytes });
  const needs = { least: needOf(leastBytes), expected: needOf(bytes) };
  requireSpace(needs, (need) => needsAtSite(need, site), 1, gates, onWarning, 'by the mean length of the numbers');
}

async function openSite(prepared: PreparedRange, scope: JobScope): Promise<JobFiles | OpenStream> {
  const { request, site, gates, outputGate, control } = prepared;
  if (site.kind === 'stream') return openOutputStream(site.output.path, control, scope.releases);
  const describe = (removesJobDirectory: boolean) =>
    describeWithoutInputs(request, request.seed, site, removesJobDirectory);
  const { directory } = site.start;
  const neverResumed = { earlier: undefined, isResumable: false, mayResume: false, layout: undefined, keepTemp: false };
  return openFiles({ site, directory, disks: new TempDisks([], gates), outputGate, ...neverResumed, describe }, scope);
}

async function writeAt(
  site: JobFiles | OpenStream,
  { request, plan, control }: PreparedRange,
  stop: JobStop,
  progress: JobProgress,
  { releases }: JobScope,
): Promise<Omit<RangeReport, 'seconds'> & { readonly seconds: Pick<RangeReport['seconds'], 'commit'> }> {
  const { places, seed, compression } = request;
  const { threadCount } = plan;
  const threads = await startThreads({ threadCount, startCount: threadCount }, { control, stop }, () => {}, releases);
  const encoder = compression === undefined ? undefined : openEncoder(compression);
  const layout: OutputLayout = {
    cuts: plan.cuts,
    ends: storedEnds(NO_ENDS, encoder),
    recordBytes: 0,
    compression,
    isAppended: true,
  };
  const target = await beginOutput(site, layout, control);
  const work = { ...numbersWork(request, plan, threads.jobName, control), target };
  const written = await progress.during('shuffle', plan.bytes, () => writeAllNumbers(work, threads));

  const { bytes, regions, parts } = written.value;
  const [numbers, checksum] = [Number(places), checksumTextOf(written.value.checksum)];
  const cuts = plan.splits === undefined ? plan.cuts : joinSplits(plan.splits, parts);
  const splits = summarizeSplits(foundSplits(plan, parts), cuts);
  const output = { layout: { ...layout, cuts, recordBytes: bytes }, regions };
  const summary = { shardCount: cuts.shardCount, records: numbers, bytes, checksum, splits };
  const commit = await progress.during('commit', undefined, () => commitOutput(site, output, summary, control));
  const workers = Math.max(1, threadCount);
  const seconds = { commit: commit.seconds };
  return { numbers, bytes, seed, checksum, seconds, workers, ...reportShards(summary, commit.value) };
}

/** The splits with what was written to them. */
function foundSplits({ splits }: RangePlan, parts: readonly WrittenPart[]): readonly FoundSplit[] | undefined {
  let firstByte = 0;
  return splits?.map(({ name, firstRank, records }, i) => {
    const { bytes = 0, checksum = 0n } = parts[i] ?? {};
    const found = { name, firstRank, firstByte, records, bytes, checksum };
    firstByte += bytes;
    return found;
  });
}

function numbersWork(
  { range, places, isWhole, seed, terminator }: RangeRequest,
  { way, outputBytes, placesOfTask, splits }: RangePlan,
  jobName: string,
  control: JobControl,
): Omit<NumbersWork, 'target'> {
  const { low, high } = range;
  return {
    settings: {
      jobName,
      control: control.buffer,
      arenaBytes: numberArenaBytes(way, countOf(range), outputBytes),
      low,
      lastOffset: high - low,
      key: deriveRangeKey(seed, low, high),
      terminator,
      way,
      outputBytes,
    },
    parts: splits?.map(partOf) ?? [{ first: 0n, end: places }],
    placesOfTask,
    expected: isWhole ? { bytes: bytesOfAll(range), sum: BigInt.asUintN(64, sumOfAll(range)) } : undefined,
  };
}

function partOf({ firstRank, records }: PlannedSplit): NumbersPart {
  return { first: BigInt(firstRank), end: BigInt(firstRank + records) };
}
