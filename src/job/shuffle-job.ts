/**
 * Start reading here: the whole of a job.
 *
 *     plan      inputs -> splits, piles, memory and disk budget       job-plan.ts, plan/
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
import { AbortedError } from '../errors.js';
import { JobControl, UNGATED } from '../io/job-control.js';
import { openOutput } from '../output/job-output.js';
import { createRamPool, releaseRamPool } from '../pile-store/ram-pool.js';
import type { Tuning } from '../plan/memory-plan.js';
import { planShardCuts, type ShardRequest } from '../plan/shard-cuts.js';
import { checkDisks } from './check-disks.js';
import { DeviceGates } from './device-gates.js';
import { fitPass2 } from './fit-pass2.js';
import type { JobContext } from './job-context.js';
import { listInputs } from './job-inputs.js';
import { choosePlaces } from './job-places.js';
import { type JobPlan, planJob } from './job-plan.js';
import { JobProgress } from './job-progress.js';
import { completeRequest, type JobRequest } from './job-request.js';
import { JobStop } from './job-stop.js';
import { type Release, releasingAll } from './release-all.js';
import { scatterInputs } from './scatter-inputs.js';
import type { ShuffleOptions, ShuffleReport } from './shuffle-options.js';
import { shufflePiles } from './shuffle-piles.js';
import { openTaskPool, type TaskPool } from './task-pool.js';
import { TempPlaces } from './temp-places.js';

/** One output is one shard of everything. */
const ONE_OUTPUT: ShardRequest = { by: 'count', shardCount: 1 };

export async function runShuffleJob(options: ShuffleOptions, tuning: Tuning): Promise<ShuffleReport> {
  const began = performance.now();
  if (options.signal?.aborted === true) throw new AbortedError();
  const request = completeRequest(options);
  const jobInputs = await listInputs(request.inputs, request.onWarning);
  const places = choosePlaces(request, jobInputs);
  const { inputs } = jobInputs;
  const gates = new DeviceGates(request.ioLimits);
  const inputGates = inputs.map((input) => (input.kind === 'file' ? gates.gateOf(input.path, 'input') : UNGATED));
  const tempPlaces = new TempPlaces(places.tempDirs, gates);
  const plan = planJob(request, inputs, tempPlaces, tuning);
  checkDisks(request, plan, places, gates);

  const outputGate = places.outputDirectory === undefined ? UNGATED : gates.gateOf(places.outputDirectory, 'output');
  const control = JobControl.create(gates.permits, plan.memory.pass1SpareBytes);
  const stop = new JobStop(control, request.signal);
  const progress = new JobProgress(control, stop, request.onProgress);
  const work = async (releases: Release[]): Promise<ShuffleReport> => {
    releases.push(() => stop.release());
    releases.push(() => tempPlaces.remove());
    const output = await openOutput(places.output, outputGate, control);
    releases.push(() => output.release());
    const share = shareOf(request, plan, control, tempPlaces);
    const { ramPool } = share;
    if (ramPool !== undefined) releases.push(() => releaseRamPool(ramPool));
    const pool = await openPool(plan, share.jobName);
    releases.push(() => pool.destroy());
    const job: JobContext = { seed: request.seed, inputs, inputGates, plan, share, control, stop, pool };

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
      seconds: {
        total: (performance.now() - began) / 1000,
        pass1: pass1.seconds,
        pass2: pass2.seconds,
        commit: commit.seconds,
      },
      inputCount: inputs.length,
      workers: plan.memory.workers,
      piles: plan.memory.pileCount,
      tempBytes: scattered.tempBytes + control.counted('resplitBytes'),
      shards: commit.value,
    };
  };
  const warnOfLeftover = (error: unknown) => request.onWarning(error instanceof Error ? error.message : String(error));
  try {
    return await releasingAll(work, warnOfLeftover);
  } catch (error) {
    // A stream cannot be taken back.
    throw error instanceof AbortedError && places.output.kind === 'stream' ? new AbortedError('incomplete') : error;
  }
}

function openPool(plan: JobPlan, jobName: string): Promise<TaskPool> {
  const threadCount = plan.inline ? 0 : plan.memory.workers;
  // Pass 1 of a single stream keeps one thread busy; the others start when pass 2 has tasks for them.
  return openTaskPool({ threadCount, startCount: plan.splits.length }, jobName);
}

function shareOf(request: JobRequest, plan: JobPlan, control: JobControl, tempPlaces: TempPlaces): JobShare {
  const { memory } = plan;
  return {
    jobName: randomUUID(),
    control: control.buffer,
    layout: { pileCount: memory.pileCount, stripeCount: memory.stripeCount, tempPlaces: tempPlaces.make() },
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
