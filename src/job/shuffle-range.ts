/**
 * Writes the whole numbers of a range in random order, to one file or stream. The number at any place of the order can be
 * computed by itself, so there are no piles, no temp data and no pass that reads: memory stays the same however long the
 * range is.
 *
 * A task writes a stretch of places. The tasks take turns, because the place of a number in the output depends on the
 * digits of those before it.
 */
import type { NumberSettings } from '../../workers/settings.js';
import type { NumbersResult, NumbersTask } from '../../workers/tasks/write-numbers.js';
import type { Release } from '../cleanup.js';
import { UsageError, VerificationError } from '../errors.js';
import { JobControl, UNGATED } from '../job-control.js';
import type { WrittenRegion } from '../job-directory/notes.js';
import { deriveRangeKey, drawSeed } from '../keys.js';
import { requireKnownOptions } from '../known-options.js';
import { DeviceGates } from '../machine/devices.js';
import { readCpuCount } from '../machine/limits.js';
import type { ShuffleReport } from '../options/reports.js';
import { type RangeOptions, SHUFFLE_RANGE_OPTIONS } from '../options/shuffle-options.js';
import type { Tuning } from '../plan/memory-plan.js';
import {
  bytesOfAll,
  chooseWay,
  countOf,
  digitsOf,
  MOST_NUMBERS,
  type NumberRange,
  numberArenaBytes,
  sumOfAll,
} from '../plan/number-range.js';
import { NO_ENDS, type OutputLayout, storedEnds } from '../sinks/output-layout.js';
import { addRegion, type OutputTarget } from '../sinks/output-target.js';
import { inTurn, runTasks } from '../stages/run-tasks.js';
import { startThreads, type Threads } from '../stages/threads.js';
import { needsAtSite, requireSpace } from './disk-space.js';
import { claimPlace, type HeldSite } from './earlier-attempt.js';
import { runJob } from './job.js';
import { WITHOUT_INPUTS } from './job-description.js';
import { JobProgress } from './job-progress.js';
import { completeOutput, completeTalk, NEVER_RESUMED, type OutputRequest, type TalkRequest } from './request.js';
import { chooseSite } from './site.js';
import type { Staging } from './staging.js';
import { commitOutput, openStaging, workOn } from './staging.js';
import { TempDisks } from './temp-disks.js';

export interface RangeReport extends Pick<ShuffleReport, 'bytes' | 'seed' | 'checksum' | 'workers'> {
  /** How many numbers were written. */
  readonly numbers: number;
  /** Elapsed time. `total` includes preparation and cleanup. */
  readonly seconds: Pick<ShuffleReport['seconds'], 'total' | 'commit'>;
}

interface RangeRequest extends TalkRequest, OutputRequest {
  readonly range: NumberRange;
  readonly isRepeated: boolean;
  /** How many places of the order to write. */
  readonly places: bigint;
  /** Whether each number of the range is written once. */
  readonly isWhole: boolean;
  /** Whether nobody is expected to wait for the last place. */
  readonly isEndless: boolean;
  readonly terminator: number;
  readonly seed: string;
  readonly workers: number;
}

const NEWLINE = 0x0a;
/** Long enough that handing out tasks costs little, short enough for the core's cache. */
const OUTPUT_BYTES = 2 ** 20;
/** So few numbers are written before threads have started. */
const INLINE_PLACES = 2n ** 20n;

/**
 * Writes the whole numbers of a range in uniformly random order, or random numbers of it. The order depends only on the
 * seed and the range.
 *
 * @param tuning sizes for tests; they do not change the output.
 * @throws PileshufError as `shuffle`.
 */
export async function shuffleRange(options: RangeOptions, tuning: Partial<Tuning> = {}): Promise<RangeReport> {
  const { value, seconds } = await runJob(options, async (scope) => {
    const request = { ...completeRange(options), ...NEVER_RESUMED };
    const chosen = chooseSite(request, { inputs: [], mayHaveTempData: false });
    if (chosen.kind === 'files' && request.isEndless)
      throw new UsageError('`repeat` without `headCount` never ends; give `headCount`, or write to standard output');
    const plan = planRange(request, tuning);
    const { site } = await claimPlace(request, chosen, undefined, scope.releases);
    const gates = new DeviceGates({});
    if (site.kind === 'files') requireRangeSpace(request, plan, site, gates);
    const isGated = site.outputDirectory !== undefined && plan.threadCount > 0;
    const outputGate = isGated ? gates.gateOf(site.outputDirectory, 'output') : UNGATED;
    const control = JobControl.create(gates.permits, 0);
    const phases = [
      { phase: 'shuffle', bytes: plan.bytes },
      { phase: 'commit', bytes: 0 },
    ] as const;
    const progress = new JobProgress(control, request, gates, phases, scope.releases);
    const job = { request, site, disks: new TempDisks([], gates), outputGate, control, earlier: undefined };
    const staging = await openStaging({ ...job, ...WITHOUT_INPUTS }, scope);
    return workOn(staging, scope, ({ releases }) => writeTo(staging, request, plan, progress, releases));
  });
  return { ...value, seconds: { total: seconds, ...value.seconds } };
}

function completeRange(options: RangeOptions): RangeRequest {
  requireKnownOptions('shuffleRange()', options, SHUFFLE_RANGE_OPTIONS);
  const { seed, workers = readCpuCount(), headCount, repeat: isRepeated = false, zeroTerminated = false } = options;
  const output = completeOutput({ ...options, headCount: undefined }, 'lines');
  if (output.spec.write.compression !== undefined)
    throw new UsageError(`the output ${output.output} would be compressed, and numbers are not; name another`);
  const range = rangeOf(options.range);
  const wanted = headCount === undefined ? undefined : wholeOf(headCount);
  if (headCount !== undefined && wanted === undefined)
    throw new UsageError('`headCount`: expected a whole number of at least 0');
  const count = countOf(range);
  const most = isRepeated ? MOST_NUMBERS : count;
  const places = wanted === undefined || wanted > most ? most : wanted;
  if (isRepeated && count === 0n && places > 0n)
    throw new UsageError(`\`repeat\` has nothing to draw from: \`range\` ${range.low}-${range.high} has no numbers`);
  return {
    ...output,
    ...completeTalk(options),
    range,
    isRepeated,
    places,
    isWhole: !isRepeated && places === count,
    isEndless: isRepeated && places === MOST_NUMBERS,
    terminator: zeroTerminated ? 0 : NEWLINE,
    seed: seed ?? drawSeed(),
    workers,
  };
}

function rangeOf(range: unknown): NumberRange {
  const given = typeof range === 'object' && range !== null ? range : {};
  const low = 'low' in given ? wholeOf(given.low) : undefined;
  // The range from LO to LO - 1 is empty, also from 0 to -1.
  const high = 'high' in given && low !== undefined ? wholeOf(given.high, low - 1n) : undefined;
  if (low === undefined || high === undefined || low >= MOST_NUMBERS || high >= MOST_NUMBERS)
    throw new UsageError(
      `\`range\`: expected an object with \`low\` and \`high\`, whole numbers from 0 to ${MOST_NUMBERS - 1n}, the lower first`,
    );
  requireKnownOptions('`range`', range, { low: true, high: true });
  return { low, high };
}

/** A `number` above 2^53 may be another one than was meant. */
function wholeOf(value: unknown, least = 0n): bigint | undefined {
  const whole = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  return typeof whole === 'bigint' && whole >= least ? whole : undefined;
}

interface RangePlan {
  readonly settings: Omit<NumberSettings, 'jobName' | 'control'>;
  /** 0: the calling thread does all the work. */
  readonly threadCount: number;
  readonly placesOfTask: number;
  /** Expected bytes of the output; undefined for an endless one. */
  readonly bytes: number | undefined;
}

function planRange(request: RangeRequest, tuning: Partial<Tuning>): RangePlan {
  const { range, places, isRepeated, isEndless, workers, seed, terminator } = request;
  const { low, high } = range;
  const outputBytes = tuning.outputBytes ?? OUTPUT_BYTES;
  const placesOfTask = Math.floor(outputBytes / (digitsOf(high) + 1));
  const taskCount = places / BigInt(placesOfTask) + 1n;
  const mostThreads = taskCount < workers ? Number(taskCount) : workers;
  const way = chooseWay(range, isRepeated, places / BigInt(mostThreads));
  const count = countOf(range);
  // Exact if all numbers are written, or all have the same length; else what so many numbers have on average.
  const bytes = count === 0n ? 0 : Number((bytesOfAll(range) * places) / count);
  return {
    settings: {
      arenaBytes: numberArenaBytes(way, count, outputBytes),
      low,
      lastOffset: high - low,
      key: deriveRangeKey(seed, low, high),
      terminator,
      way,
      outputBytes,
    },
    threadCount: (tuning.inline ?? places <= INLINE_PLACES) ? 0 : mostThreads,
    placesOfTask,
    bytes: isEndless ? undefined : bytes,
  };
}

function requireRangeSpace(
  { range, places, isWhole, onWarning }: RangeRequest,
  { bytes = 0 }: RangePlan,
  site: HeldSite,
  gates: DeviceGates,
): void {
  const leastBytes = isWhole ? bytes : Number(places) * (digitsOf(range.low) + 1);
  const needOf = (outputBytes: number) => ({ tempBytes: 0, outputBytes });
  const needs = { least: needOf(leastBytes), expected: needOf(bytes) };
  requireSpace(needs, (need) => needsAtSite(need, site), 1, gates, onWarning, 'by the mean length of the numbers');
}

async function writeTo(
  staging: Staging,
  { places, seed, range, isWhole }: RangeRequest,
  plan: RangePlan,
  progress: JobProgress,
  releases: Release[],
): Promise<Omit<RangeReport, 'seconds'> & { readonly seconds: Pick<RangeReport['seconds'], 'commit'> }> {
  const { threadCount } = plan;
  const threads = await startThreads({ threadCount, startCount: threadCount }, progress, () => {}, releases);
  const numbers = Number(places);
  const layout: OutputLayout = {
    cuts: { by: 'rank', shardCount: 1, totalRecords: numbers },
    ends: storedEnds(NO_ENDS, undefined),
    recordBytes: 0,
    compression: undefined,
    kind: 'appended',
  };
  const target = await staging.begin(layout, progress.control);
  const { value: written } = await progress.during('shuffle', plan.bytes, () =>
    writeNumbers(plan, places, target, threads),
  );
  if (isWhole) requireTotals(written, range);
  const { bytes, regions } = written;
  const output = { layout: { ...layout, recordBytes: bytes }, regions, written: { ...written, records: numbers } };
  const { output: committed, seconds } = await commitOutput(staging, output, undefined, progress);
  const { checksum } = committed;
  return { numbers, bytes, seed, checksum, workers: Math.max(1, threadCount), seconds: { commit: seconds } };
}

async function writeNumbers(
  { settings, placesOfTask }: RangePlan,
  places: bigint,
  target: OutputTarget,
  { control, jobName, pool, stop }: Threads,
): Promise<NumbersResult> {
  const job: NumberSettings = { ...settings, jobName, control: control.buffer };
  function* tasks(): Generator<NumbersTask> {
    const step = BigInt(placesOfTask);
    for (let first = 0n, turn = 0; first < places; first += step, turn += 1) {
      const left = places - first;
      const count = left < step ? Number(left) : placesOfTask;
      yield { job, first, count, target, start: { shard: 0, shardByte: 0, turn } };
    }
  }
  const regions: WrittenRegion[] = [];
  let [bytes, sum, checksum] = [0, 0n, 0n];
  const take = (result: NumbersResult) => {
    for (const region of result.regions) addRegion(regions, region);
    bytes += result.bytes;
    sum = BigInt.asUintN(64, sum + result.sum);
    checksum = BigInt.asUintN(64, checksum + result.checksum);
  };
  const takeInTurn = inTurn(take, ({ start }: NumbersTask) => start.turn);
  // Every task that is handed out must have a thread: the task whose turn it is must not wait.
  await runTasks(tasks(), (task) => pool.run('write-numbers', task), takeInTurn, pool.threadCount, stop);
  return { regions, bytes, sum, checksum };
}

/** Checks that the numbers are those of the range, as far as their bytes and their sum can tell. */
export function requireTotals({ bytes, sum }: Pick<NumbersResult, 'bytes' | 'sum'>, range: NumberRange): void {
  const expectedBytes = bytesOfAll(range);
  const expectedSum = BigInt.asUintN(64, sumOfAll(range));
  if (BigInt(bytes) === expectedBytes && sum === expectedSum) return;
  throw new VerificationError(
    `the written numbers have ${bytes} bytes and the sum ${sum} modulo 2^64, expected ${expectedBytes} and ${expectedSum}; check the memory of this machine`,
  );
}
