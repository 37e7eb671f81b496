/**
 * Start reading here: the whole of a job.
 *
 *     plan      inputs -> splits, piles, memory and disk budget       prepare-job.ts, plan/
 *     pass 1    one task a split -> its pile set                      scatter-inputs.ts, workers/scatter.ts
 *     merge     pile j = its segments over all pile sets              no bytes move: pile-store/merged-pile.ts
 *     pass 2    one task a run of piles -> its part of the output     shuffle-piles.ts, workers/shuffle.ts
 *     commit    verify what was written, make it durable and visible  output/staged-output.ts
 *
 * Every step is verified before anything is deleted or becomes visible; whatever happens, nothing
 * stays behind.
 */
import { randomUUID } from 'node:crypto';
import type { JobShare } from '../../workers/job-share.js';
import { AbortedError, addCleanupErrors } from '../errors.js';
import { openOutput } from '../output/job-output.js';
import { createRamPool, releaseRamPool } from '../pile-store/ram-pool.js';
import type { Tuning } from '../plan/memory-plan.js';
import { planShardCuts, type ShardRequest } from '../plan/shard-cuts.js';
import { fitPass2 } from './fit-pass2.js';
import type { JobContext } from './job-context.js';
import type { JobPlan } from './job-plan.js';
import { JobProgress } from './job-progress.js';
import { JobStop } from './job-stop.js';
import { type PreparedJob, prepareJob } from './prepare-job.js';
import { type Release, releasingAll } from './release-all.js';
import { scatterInputs } from './scatter-inputs.js';
import type { ShuffleOptions, ShuffleReport } from './shuffle-options.js';
import { shufflePiles } from './shuffle-piles.js';
import { openTaskPool, type TaskPool } from './task-pool.js';

/** One output is one shard of everything. */
const ONE_OUTPUT: ShardRequest = { by: 'count', shardCount: 1 };

export async function runShuffleJob(options: ShuffleOptions, tuning: Tuning): Promise<ShuffleReport> {
  const began = performance.now();
  if (options.signal?.aborted === true) throw new AbortedError();
  const prepared = await prepareJob(options, tuning);
  const { request, places } = prepared;
  const warnOfLeftover = (error: unknown) => request.onWarning(error instanceof Error ? error.message : String(error));
  try {
    const report = await releasingAll((releases) => carryOut(prepared, releases), warnOfLeftover);
    return { ...report, seconds: { total: secondsSince(began), ...report.seconds } };
  } catch (error) {
    if (!(error instanceof AbortedError) || places.output.kind !== 'stream') throw error;
    // A stream cannot be taken back.
    const incomplete = new AbortedError('incomplete');
    addCleanupErrors(incomplete, error.cleanupErrors);
    throw incomplete;
  }
}

async function carryOut(prepared: PreparedJob, releases: Release[]) {
  const { request, inputs, places, tempPlaces, plan, control } = prepared;
  const stop = new JobStop(control, request.signal);
  releases.push(() => stop.release());
  releases.push(() => tempPlaces.remove());
  const progress = new JobProgress(control, stop, request.onProgress);
  const output = await openOutput(places.output, prepared.outputGate, control);
  releases.push(() => output.release());
  const share = shareOf(prepared);
  const { ramPool } = share;
  if (ramPool !== undefined) releases.push(() => releaseRamPool(ramPool));
  const pool = await openPool(plan, share.jobName);
  releases.push(() => pool.destroy());
  const job: JobContext = { ...prepared, seed: request.seed, share, stop, pool };

  const pass1 = await progress.during('scatter', plan.inputBytes, () => scatterInputs(job));
  const scattered = pass1.value;
  const cuts = planShardCuts(request.shards ?? ONE_OUTPUT, scattered);
  const target = output.target(cuts, scattered.bytes);

  const pass2Job = await fitPass2(job, scattered);
  releases.push(() => pass2Job.pool.destroy());
  const pass2 = await progress.during('shuffle', scattered.bytes, () => shufflePiles(pass2Job, scattered, target));

  const commit = await progress.during('commit', undefined, async () => {
    output.verify(pass2.value, cuts.shardCount, scattered.bytes);
    return output.commit(cuts.shardCount, control);
  });
  return {
    records: scattered.records,
    bytes: scattered.bytes,
    seed: request.seed,
    checksum: scattered.checksum.toString(16).padStart(16, '0'),
    seconds: { pass1: pass1.seconds, pass2: pass2.seconds, commit: commit.seconds },
    inputCount: inputs.length,
    workers: plan.memory.workers,
    piles: plan.memory.pileCount,
    tempBytes: scattered.tempBytes + control.counted('resplitBytes'),
    shards: commit.value,
    resumed: undefined,
  };
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000;
}

function openPool(plan: JobPlan, jobName: string): Promise<TaskPool> {
  const threadCount = plan.inline ? 0 : plan.memory.workers;
  // Pass 1 of a single stream keeps one thread busy; the others start when pass 2 has tasks for them.
  return openTaskPool({ threadCount, startCount: plan.splits.length }, jobName);
}

function shareOf({ request, plan, control, tempPlaces }: PreparedJob): JobShare {
  const { memory } = plan;
  const places = tempPlaces.make();
  return {
    jobName: randomUUID(),
    control: control.buffer,
    layout: {
      pileCount: memory.pileCount,
      stripeCount: memory.stripeCount,
      tempPlaces: places,
      indexDirectory: places[0]?.directory ?? '',
    },
    ramPool: memory.ramPoolBytes > 0 ? createRamPool(memory.ramPoolBytes) : undefined,
    framing: request.framing,
    bufferBytes: memory.bufferBytes,
    readBytes: memory.readBytes,
    outputBytes: memory.outputBytes,
    arenaBytes: memory.pass1ArenaBytes,
    maxRecordBytes: request.maxRecordBytes,
    memoryNeed: plan.memoryNeed,
  };
}
