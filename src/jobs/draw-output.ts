/**
 * The output of a job that draws with replacement: each place of the output takes the record of a random rank in the order
 * of all records. Pass 1 has put the records on piles; a pass of its own copies the drawn ones to piles by their places, and
 * the shuffle pass takes these. Half of the memory is for either piles. An output without end comes in batches.
 */
import { randomBytes } from 'node:crypto';
import type { ShuffleSettings } from '../../workers/settings.js';
import { type Release, releasingAll } from '../cleanup.js';
import { InputError } from '../errors.js';
import { deriveDrawKey } from '../keys.js';
import { threadsOfPass2 } from '../passes/between-passes.js';
import { drawCopies, drawsAtOnce } from '../passes/draw-pass.js';
import { openRamPool } from '../passes/job-memory.js';
import type { ScatteredPiles } from '../passes/scattered-piles.js';
import type { PilesWork } from '../passes/shuffle-work.js';
import type { OnProfile } from '../passes/task-pool.js';
import { startThreads, type Threads } from '../passes/threads.js';
import { hearSignals } from '../pause.js';
import { type MemoryNeed, type MemoryPlan, planMemory, type Tuning } from '../plan/memory-plan.js';
import type { JobProgress } from './job-progress.js';
import type { OpenSite } from './open-site.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import { shuffleSettings } from './task-settings.js';

/** The part of the memory for draws, which lie beside the arenas. */
const DRAWS_SHARE = 1 / 8;

/** Piles that the shuffle pass can write. */
export interface WritablePiles {
  readonly piles: ScatteredPiles;
  readonly settings: ShuffleSettings;
  readonly threads: Threads;
}

export interface DrawnJob {
  readonly prepared: PreparedShuffle;
  readonly site: OpenSite;
  /** The piles of pass 1. */
  readonly work: PilesWork;
  readonly threads: Threads;
  readonly tuning: Tuning;
  readonly progress: JobProgress;
  readonly onProfile: OnProfile;
  readonly onWarning: (error: unknown) => void;
}

/**
 * @param write writes a batch of the output. `isFirst`: nothing is written yet.
 * @returns what it returned for the last batch. An output without end ends when its reader leaves, with a ClosedPipeError.
 * @throws InputError ERR_INPUT_EMPTY if there is no record to draw.
 */
export async function drawOutput<T>(
  job: DrawnJob,
  write: (drawn: WritablePiles, isFirst: boolean) => Promise<T>,
): Promise<T> {
  const { work, prepared, onWarning } = job;
  const { headCount } = prepared.request;
  const { records } = work.piles;
  requireDrawable(work.piles, headCount);
  const batch = drawsAtOnce(headCount, records);
  const writeBatch = (number: number) =>
    releasingAll(async (releases) => {
      const threads = number === 0 ? job.threads : await readersAgain(job, releases);
      const drawn = await drawBatch(job, threads, number * batch, batch, releases);
      return write(drawn, number === 0);
    }, onWarning);
  for (let number = 0; headCount === undefined; number++) {
    await writeBatch(number);
    // On the calling thread a batch never waits: signals would not be seen, nor the memory of earlier batches freed.
    await hearSignals(prepared.request.signal, 'incomplete');
  }
  return writeBatch(0);
}

/** The threads of a batch end with it, to free their memory. */
async function readersAgain({ prepared, threads, onProfile }: DrawnJob, releases: Release[]): Promise<Threads> {
  const { control } = prepared;
  control.restartTurns();
  const threadCount = prepared.plan.inline ? 0 : threads.pool.threadCount;
  return startThreads({ threadCount, startCount: threadCount }, threads, onProfile, releases);
}

async function drawBatch(
  { prepared, site, work, tuning, progress, onProfile }: DrawnJob,
  threads: Threads,
  firstPlace: number,
  count: number,
  releases: Release[],
): Promise<WritablePiles> {
  const { request, plan } = prepared;
  const { piles, settings } = work;
  const meanRecordBytes = Math.max(1, piles.bytes / Math.max(1, piles.records));
  const memoryNeed = needOfCopies(plan.memoryNeed, count, meanRecordBytes);
  const memory = planMemory(memoryNeed, tuning);
  const { pileCount, stripeCount, bufferBytes, readBytes } = memory;
  const ramPool = await openRamPool(memory.ramPoolBytes, plan.inline, threads.stop, releases);
  const layout = { pileCount, stripeCount, ...site.piles };
  const draws = { key: deriveDrawKey(request.seed), firstPlace, count, records: piles.records };
  const keyScale = scaleOfPlaces(count);
  const copies = { layout, keyScale, ramPool, bufferBytes, readBytes, arenaBytes: memory.pass1ArenaBytes };
  const drawsBytes = drawsBytesOf(request.memoryBytes, memory);
  const copiesAttempt = randomBytes(4).toString('hex');
  const ofThreads = { ...settings, jobName: threads.jobName };
  const drawWork = { ...work, settings: ofThreads, draws, copies, drawsBytes, copiesAttempt };
  const { value: drawn } = await progress.during('draw', piles.bytes, () => drawCopies(drawWork, threads));

  const copyPlan = { ...plan, memory, memoryNeed };
  const second = await threadsOfPass2(threads, copyPlan, { ramPool, startsAnew: true }, drawn, onProfile, releases);
  const storage = { layout, ramPool, tempZstdLevel: request.tempZstdLevel };
  // Copies of one record are equal.
  const rest = {
    ...settings,
    keyScale,
    unique: false,
    uniqueBy: undefined,
    keepsPlaces: false,
    isProfiled: request.isProfiled,
  };
  const copySettings = shuffleSettings(second.threads, copyPlan, second.arenaBytes, storage, rest);
  return { piles: drawn, settings: copySettings, threads: second.threads };
}

/** What the memory for copies is planned for. @param need that of the piles from which they are drawn. */
export function needOfCopies(need: MemoryNeed, count: number, meanRecordBytes: number): MemoryNeed {
  const recordBytes = Math.max(1, count * meanRecordBytes);
  const size = { recordBytes, meanRecordBytes, layout: undefined };
  return { ...need, ...size, exact: true, hasStreams: false, mostSlices: Number.POSITIVE_INFINITY };
}

/** A place times this is its part of 2^64. */
export function scaleOfPlaces(count: number): bigint {
  return 2n ** 64n / BigInt(Math.max(2, count));
}

/** Memory of a thread for draws, beside its arenas. */
export function drawsBytesOf(memoryBytes: number, { workers }: MemoryPlan): number {
  return (memoryBytes * DRAWS_SHARE) / workers;
}

/** @throws InputError ERR_INPUT_EMPTY if there is no record to draw. */
export function requireDrawable({ records }: ScatteredPiles, headCount: number | undefined): void {
  if (records === 0 && headCount !== 0)
    throw new InputError('ERR_INPUT_EMPTY', 'the inputs have no record to repeat; expected at least one');
}
