/**
 * Start reading here: the whole of a job.
 *
 *     plan      inputs -> slices, piles, memory and disk budget       prepare/, ../plan/
 *     pass 1    one task a slice -> its pile set                      passes/scatter-inputs.ts, workers/tasks/scatter.ts
 *     merge     pile j = its segments over all pile sets              no bytes move: pile-sets/merged-pile.ts
 *     pass 2    one task a range of piles -> its part of the output     passes/shuffle-piles.ts, workers/tasks/shuffle.ts
 *     commit    verify what was written, make it durable and visible  output/staged-output.ts
 *
 * Every step is verified before anything is deleted or becomes visible. Nothing stays behind but what a job
 * that can be resumed needs to go on: its start is found in prepare/job-start.ts, what it has is in files-work.ts.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { JobShare } from '../../workers/tasks/job-share.js';
import { type Release, releasingAll } from '../cleanup.js';
import { AbortedError } from '../errors.js';
import type { CommitJournal } from '../output/commit-journal.js';
import { checksumTextOf, recordBytesOf } from '../output/output-target.js';
import { fitPass2 } from '../passes/fit-pass2.js';
import type { JobContext, ScatteredPiles } from '../passes/job-context.js';
import { JobStop } from '../passes/job-stop.js';
import { keepRamPool } from '../passes/keep-pool-memory.js';
import { layOutOutput } from '../passes/lay-out-output.js';
import { scatterInputs } from '../passes/scatter-pass.js';
import { shufflePiles } from '../passes/shuffle-pass.js';
import { openTaskPool, type TaskPool } from '../passes/task-pool.js';
import { ownRamPool, type RamPoolShare } from '../pile-sets/ram-pool.js';
import type { Tuning } from '../plan/memory-plan.js';
import type { JobPlan } from './job-plan.js';
import { ProfileLog } from './job-profile.js';
import { JobProgress } from './job-progress.js';
import type { JobWork } from './job-work.js';
import { openWork } from './open-work.js';
import type { ShuffleOptions, ShuffleReport } from './options.js';
import { type PreparedJob, prepareJob } from './prepare-job.js';

export function runShuffleJob(options: ShuffleOptions, tuning: Tuning): Promise<ShuffleReport> {
  return runJob(options, { prepare: (releases) => prepareJob(options, tuning, releases), gatherPiles: scatterInputs });
}

/** Where the piles of a job come from. */
export interface PileSource {
  /** @param releases gets what is to be done when the job ends. */
  prepare(releases: Release[]): Promise<PreparedJob>;
  /** Pass 1, or what stands in its place. */
  gatherPiles(job: JobContext): Promise<ScatteredPiles>;
}

export async function runJob(
  options: Pick<ShuffleOptions, 'signal' | 'onWarning' | 'onProfile'>,
  source: PileSource,
): Promise<ShuffleReport> {
  const began = performance.now();
  if (options.signal?.aborted === true) throw new AbortedError();
  // The job has ended: a function of the caller that fails changes nothing of that.
  const tell = (call: () => void) => {
    try {
      call();
    } catch {}
  };
  const warnOfLeftover = (error: unknown) =>
    tell(() => options.onWarning?.(error instanceof Error ? error.message : String(error)));
  const profile = new ProfileLog();
  const done = await releasingAll(async (releases) => {
    const prepared = await source.prepare(releases);
    const stop = new JobStop(prepared.control, prepared.request.signal);
    releases.push(() => stop.release());
    const work = await openWork(prepared, releases);
    // Threads end before it is decided what stays on disk: they have files open, and may still write.
    const result = await releasingAll(
      (threads) => carryOut(prepared, source, work, stop, profile, threads),
      warnOfLeftover,
    ).catch(async (thrown: unknown) => {
      // A stream cannot be taken back.
      const isStream = prepared.site.kind === 'stream';
      const error = thrown instanceof AbortedError && isStream ? new AbortedError('incomplete') : thrown;
      await work.failed(error);
      throw error;
    });
    // The output is there: what cannot be tidied up any more is told, and fails nothing.
    await work.succeeded().catch(warnOfLeftover);
    return result;
  }, warnOfLeftover);
  const report = { ...done, seconds: { total: secondsSince(began), ...done.seconds } };
  tell(() => options.onProfile?.(profile.profileOf(report)));
  return report;
}

async function carryOut(
  prepared: PreparedJob,
  source: PileSource,
  work: JobWork,
  stop: JobStop,
  profile: ProfileLog,
  releases: Release[],
) {
  const { request, inputs, plan, control, before } = prepared;
  const { output, kept } = work;
  const progress = new JobProgress(control, stop, request.onProgress);
  if (before?.journal !== undefined) return finishMoves(prepared, work, progress, before.journal);

  const jobName = randomUUID();
  // Its thread starts beside those of the pool, and ends after them.
  const openingRamPool = openRamPool(plan, releases);
  openingRamPool.catch(() => {});
  const pool = await openPool(plan, jobName, profile);
  releases.push(() => pool.destroy());
  const share = shareOf(prepared, work, jobName, await openingRamPool);
  const attempt = randomBytes(4).toString('hex');
  const { seed, onWarning } = request;
  const job: JobContext = {
    ...prepared,
    seed,
    onWarning,
    onTaskProfile: profile.add,
    share,
    stop,
    pool,
    attempt,
    keepsPiles: prepared.storedPiles !== undefined,
    kept,
  };
  profile.pass1Begins();

  const pass1 = await progress.during('scatter', plan.inputBytes, () => source.gatherPiles(job));
  const scattered = pass1.value;
  const { records, bytes } = scattered;
  const layout = layOutOutput(request, scattered);
  const pass2Job = await fitPass2(job, scattered);
  releases.push(() => pass2Job.pool.destroy());
  const finished = kept?.finished.ranges.flatMap((range) => range.regions) ?? [];
  const target = output.kind === 'stream' ? await output.begin(layout, control) : output.begin(layout, finished);
  profile.pass2Begins();
  const pass2 = await progress.during('shuffle', bytes, () => shufflePiles(pass2Job, scattered, target));

  const checksum = checksumTextOf(scattered.checksum);
  const { shardCount } = layout.cuts;
  const commit = await progress.during('commit', undefined, async () => {
    if (output.kind === 'stream') await output.complete(layout, control);
    else await output.complete(layout, pass2.value, control);
    output.verify(layout, pass2.value);
    return work.commit({ shardCount, records, bytes, checksum }, control);
  });
  return {
    records,
    bytes,
    seed,
    checksum,
    seconds: { pass1: pass1.seconds, pass2: pass2.seconds, commit: commit.seconds },
    inputCount: inputs.length,
    workers: plan.memory.workers,
    piles: plan.memory.pileCount,
    tempBytes: scattered.tempBytes + control.counted('rescatteredBytes'),
    shards: commit.value,
    resumed: resumedFrom(prepared, scattered.takenOverCount),
  };
}

/** All was written when the run before was killed: its outputs only get their names. */
async function finishMoves(prepared: PreparedJob, work: JobWork, progress: JobProgress, journal: CommitJournal) {
  const { request, inputs, plan } = prepared;
  const { records, bytes, checksum } = journal;
  const commit = await progress.during('commit', undefined, () => work.finishMoves(journal));
  return {
    records,
    bytes,
    seed: request.seed,
    checksum,
    seconds: { pass1: 0, pass2: 0, commit: commit.seconds },
    inputCount: inputs.length,
    workers: plan.memory.workers,
    piles: plan.memory.pileCount,
    tempBytes: 0,
    shards: commit.value,
    resumed: { pileSets: plan.slices.length, outputBytes: bytes },
  };
}

function resumedFrom({ before }: PreparedJob, pileSets: number): ShuffleReport['resumed'] {
  if (before === undefined) return undefined;
  return { pileSets, outputBytes: recordBytesOf(before.finished.ranges.flatMap((range) => range.regions)) };
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000;
}

function openPool(plan: JobPlan, jobName: string, profile: ProfileLog): Promise<TaskPool> {
  const threadCount = plan.inline ? 0 : plan.memory.workers;
  // Pass 1 of a single stream keeps one thread busy; the others start when pass 2 has tasks for them.
  return openTaskPool({ threadCount, startCount: plan.slices.length }, jobName, profile.add);
}

async function openRamPool({ inline, memory }: JobPlan, releases: Release[]): Promise<RamPoolShare | undefined> {
  const { ramPoolBytes } = memory;
  if (ramPoolBytes === 0) return undefined;
  return inline ? ownRamPool(ramPoolBytes) : keepRamPool(ramPoolBytes, releases);
}

function shareOf(
  { request, inputIds, plan, control, storedPiles }: PreparedJob,
  work: JobWork,
  jobName: string,
  ramPool: RamPoolShare | undefined,
): JobShare {
  const { memory } = plan;
  const { pileCount, stripeCount } = memory;
  const { tempPlaces, indexDirectory } = work;
  return {
    jobName,
    control: control.buffer,
    layout: storedPiles ?? { pileCount, stripeCount, tempPlaces, indexDirectory },
    rescatterPlaces: { tempPlaces, indexDirectory },
    ramPool,
    keepsPileSets: work.kept !== undefined,
    tempZstdLevel: request.tempZstdLevel,
    framing: request.framing,
    header: request.header,
    decompressProgram: request.decompressProgram,
    bufferBytes: memory.bufferBytes,
    readBytes: memory.readBytes,
    outputBytes: memory.outputBytes,
    arenaBytes: memory.pass1ArenaBytes,
    maxRecordBytes: request.maxRecordBytes,
    tiesByBytes: inputIds !== undefined || storedPiles !== undefined,
    memoryNeed: plan.memoryNeed,
    isProfiled: request.isProfiled,
  };
}
