/**
 * Does the stages of a job on the threads of this process: all tasks that no note of an earlier attempt covers.
 * `../stages/chain.ts` says how the stages follow each other.
 */
import type { Release } from '../floor/cleanup.js';
import { hasSecondKeys, isScatteredTwice, orderRuleOf, withColumns } from '../keep/content-rule.js';
import { isDistinct } from '../keep/distinct.js';
import { drawsPlaces } from '../keep/keep-spec.js';
import { takenOnce } from '../keep/mix.js';
import { drawBudgetError } from '../keep/repeat.js';
import { isTooLargeToDraw } from '../piles/pile-set-writer.js';
import { sumOverPiles } from '../piles/pile-totals.js';
import { inputKeysOf } from '../sources/ids.js';
import type { ShuffleSpec } from '../spec.js';
import { foundEnds, type ShuffledOutput } from '../stages/between-passes.js';
import type { ChainJob, Executor, OutputDecision, Scattered } from '../stages/chain.js';
import type { InputCounts } from '../stages/coverage-check.js';
import { dropDuplicates } from '../stages/drop-duplicates.js';
import { openRamPool } from '../stages/job-memory.js';
import { sampleSourceOf } from '../stages/sample-places.js';
import { gatherKept, partsOfPiles, scatterKept } from '../stages/scatter-kept.js';
import { fateInOneProcess, type ScatterOutcome, scatterInputs } from '../stages/scatter-slices.js';
import type { PilesWork } from '../stages/shuffle-work.js';
import { type PileStorage, scatterSettings } from '../stages/task-settings.js';
import { startThreads, type Threads } from '../stages/threads.js';
import { watchSpace } from './disk-space.js';
import type { ProfileLog } from './job-profile.js';
import { type JobProgress, measuresPiles } from './job-progress.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import type { Staging } from './staging.js';

export interface RunningJob {
  readonly staging: Staging;
  readonly progress: JobProgress;
  readonly profile: ProfileLog;
}

export interface RunningShuffle extends RunningJob {
  readonly prepared: PreparedShuffle;
  /** The name of this attempt, in the names of its files. */
  readonly attempt: string;
  readonly releases: Release[];
}

export interface LocalScatter extends Scattered, ScatterOutcome {
  readonly seconds: number;
  /** The spec with the columns that the headers of streams name. */
  readonly spec: ShuffleSpec;
}

export interface LocalOutput extends ShuffledOutput {
  readonly seconds: number;
}

export function chainOf({ prepared, staging, profile, attempt, releases }: RunningShuffle): ChainJob {
  const { request, plan } = prepared;
  const { spec, signal, onWarning } = request;
  return { spec, plan, attempt, notes: staging.checkpoint, signal, onWarning, onProfile: profile.add, releases };
}

/** @param onCounts gets what was counted of each input, when all are scattered. */
export function localExecutor(
  job: RunningShuffle,
  onCounts: (counts: InputCounts) => Promise<void>,
): Executor<LocalScatter> {
  const { prepared, staging, progress } = job;
  const { spec } = prepared.request;
  return {
    scatter: async () => {
      const scattered = await scatterLocally(job);
      await onCounts(scattered.found.counts);
      return scattered;
    },
    scatterKept: isScatteredTwice(spec)
      ? (from, work, threads) => scatterKeptLocally(job, from, work, threads)
      : undefined,
    measure: async (work, threads) => {
      const measure = () => dropDuplicates(spec, work, threads, staging.checkpoint);
      if (!measuresPiles(spec, prepared.earlier)) return measure();
      return (await progress.during('measure', work.piles.bytes, measure)).value;
    },
  };
}

/**
 * Estimates by what was read of the inputs. The plan only guesses the size of a stream: it is taken for twice what was
 * read.
 */
function expectedRecordBytes({ plan, control }: PreparedShuffle): number {
  const [decodedBytes, storedBytes] = [control.counted('decodedBytes'), control.counted('scatteredBytes')];
  const { inputBytes, memoryNeed, readBytes } = plan;
  const copies = memoryNeed.recordBytes / Math.max(1, readBytes);
  if (inputBytes === undefined) return Math.max(1, 2 * decodedBytes * copies);
  return Math.max(memoryNeed.recordBytes, (decodedBytes * inputBytes) / Math.max(1, storedBytes));
}

async function scatterKeptLocally(
  { prepared, staging, progress }: RunningShuffle,
  from: LocalScatter,
  work: PilesWork,
  threads: Threads,
): Promise<LocalScatter> {
  const { plan } = prepared;
  const parts = partsOfPiles(from.piles, plan.sliceBytes);
  const firstSlice = plan.slices.length;
  const ofKept = { ...work, spec: from.spec, weighing: prepared.weighing, parts, firstSlice };
  const results = [...from.ofPiles];
  const left = [...parts.keys()].filter((part) => results[part] === undefined).map((part) => firstSlice + part);
  const fate = fateInOneProcess(work.settings.layout, staging.checkpoint, (result, slice) => {
    results[slice - firstSlice] = result;
  });
  const scatter = () => scatterKept(ofKept, threads, left, fate);
  const { seconds } = await progress.during('measure', from.piles.bytes, scatter);
  return { ...gatherKept(ofKept, from, results), seconds: from.seconds + seconds };
}

/** Opens the memory and the threads of the job, and puts each record on a random pile. */
async function scatterLocally(job: RunningShuffle): Promise<LocalScatter> {
  const { prepared, staging, progress, profile, attempt } = job;
  const { request, inputIds, plan } = prepared;
  const { spec: given } = request;
  const isFirstOfTwo = isScatteredTwice(given);
  const { threads, storage } = await openMemoryAndThreads(job);
  profile.pass1Begins(prepared.reportLog);
  const work = {
    ...prepared,
    inputs: given.keep.range === undefined ? prepared.inputsToRead : [],
    weighing: isFirstOfTwo ? takenOnce(prepared.weighing) : prepared.weighing,
    isFirstOfTwo,
    slices: plan.slices,
    keys: given.key.from,
    head: plan.head,
    keyOf: inputKeysOf(given, inputIds),
    settings: scatterSettings(threads, plan, given, storage, {
      commitsPileSets: staging.checkpoint !== undefined,
      isProfiled: request.isProfiled,
      isSampled: request.isSampled,
    }),
    attempt,
    onWarning: request.onWarning,
  };
  const scatter = () => scatterInputs(work, threads, staging.checkpoint);
  // Nobody knows how much an earlier attempt has written.
  const watched = () => (prepared.earlier === undefined ? watchSpace(prepared, scatter, progress.stop) : scatter());
  const { value: outcome, seconds } = await progress
    .during('scatter', plan.inputBytes, watched)
    .catch((error: unknown) => {
      throw isTooLargeToDraw(error) ? drawBudgetError(plan.memoryNeed, expectedRecordBytes(prepared)) : error;
    });
  const { startFindings, recordEnds, header } = outcome.found;
  startFindings.tell(prepared.inputs, 'output', request.onWarning);
  // The scatter has read the headers of all inputs.
  const spec = withColumns(given, header && { path: 'the inputs', header });
  const order = {
    framing: spec.read.framing,
    ...orderRuleOf(spec, inputIds !== undefined),
    rescatterTo: staging.piles,
    hashesOutput: staging.checkpoint !== undefined,
    isProfiled: request.isProfiled,
    sampledKeys: prepared.reportLog?.sampledKeys(),
  };
  const samples = sampleSourceOf(spec, { ...work, signal: request.signal, recordEnds });
  return { ...outcome, seconds, spec, threads, storage, order, ends: foundEnds(spec.read, outcome.found), samples };
}

async function openMemoryAndThreads({ prepared, staging, progress, profile, releases }: RunningShuffle): Promise<{
  readonly threads: Threads;
  readonly storage: PileStorage;
}> {
  const { request, plan } = prepared;
  const { memory, inline, slices } = plan;
  const { pileCount, stripeCount } = memory;
  const { keep } = request.spec;
  // If a record outgrows its thread's part of a linear memory, its slice is read again, which a stream cannot be. A job that
  // drops equal records marks them where they lie, and might have to read them again.
  const mayBeLinear = !plan.memoryNeed.hasStreams && !isDistinct(keep);
  // The thread that owns the memory starts beside those of the task pool, and ends after them.
  const openingPool = openRamPool(memory, { isOnCallingThread: inline, mayBeLinear }, progress.stop, releases);
  openingPool.catch(() => {});
  // A single stream takes one thread in pass 1; the others start when pass 2 has tasks for them.
  const size = { threadCount: inline ? 0 : memory.workers, startCount: slices.length };
  const threads = await startThreads(size, progress, profile.add, releases);
  // Draws are made from piles in memory alone.
  const inMemory = drawsPlaces(request.spec.keep) && { disks: [] };
  const keys = { hasSecondKeys: hasSecondKeys(request.spec) };
  const layout = { pileCount, stripeCount, ...staging.piles, ...keys, ...inMemory };
  return { threads, storage: { layout, ramPool: await openingPool, tempZstdLevel: request.tempZstdLevel } };
}

/** Cuts the output into shards, and writes it. */
export async function shuffleLocally(
  { staging, progress, profile }: RunningJob,
  { output: { bytes, work, cut }, threads }: OutputDecision,
  deletesStripes: boolean,
): Promise<LocalOutput> {
  const { checkpoint } = staging;
  profile.pass2Begins();
  const { value, seconds } = await progress.during('shuffle', bytes, async () => {
    const { layout: planned, write } = await cut();
    // A claimed place cannot be taken back and written again, as a job needs that outlives its process.
    const inTurns = checkpoint === undefined && planned.kind === 'placed' ? 'claimed' : 'appended';
    const layout = { ...planned, kind: work.piles.hasDuplicates === true ? inTurns : planned.kind };
    const target = await staging.begin(layout, threads.control);
    const { regions, totals } = await write(target, deletesStripes, checkpoint);
    const written = sumOverPiles(totals);
    return { layout: { ...layout, recordBytes: written.bytes }, regions, written, totals };
  });
  return { ...value, seconds };
}
