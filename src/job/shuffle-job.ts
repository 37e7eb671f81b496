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
import { type GateNumber, JobControl, UNGATED } from '../io/job-control.js';
import { openOutput } from '../output/job-output.js';
import { directoryOfOutput } from '../output/output-place.js';
import { createRamPool } from '../pile-store/ram-pool.js';
import type { Tuning } from '../plan/memory-plan.js';
import { planShardCuts, type ShardRequest } from '../plan/shard-cuts.js';
import { DeviceGates } from './device-gates.js';
import { fitPass2 } from './fit-pass2.js';
import type { JobContext, ScatteredPiles } from './job-context.js';
import { type JobInput, listInputs } from './job-inputs.js';
import { checkDisks, placeOutput } from './job-places.js';
import { type JobPlan, planJob } from './job-plan.js';
import { JobProgress } from './job-progress.js';
import { completeRequest, type JobRequest } from './job-request.js';
import { JobStop } from './job-stop.js';
import { scatterInputs } from './scatter-inputs.js';
import type { ShuffleOptions, ShuffleReport } from './shuffle-options.js';
import { shufflePiles } from './shuffle-piles.js';
import { openTaskPool } from './task-pool.js';
import { TempPlaces } from './temp-places.js';

/** One output is one shard of everything. */
const ONE_OUTPUT: ShardRequest = { by: 'count', shardCount: 1 };

export async function runShuffleJob(options: ShuffleOptions, tuning: Tuning): Promise<ShuffleReport> {
  const began = performance.now();
  if (options.signal?.aborted === true) throw new AbortedError();
  const request = completeRequest(options);
  const jobInputs = await listInputs(request.inputs, request.onWarning);
  const place = placeOutput(request, jobInputs);
  const gates = new DeviceGates(request.ioLimits);
  const inputGates = jobInputs.inputs.map((input) => (input.kind === 'file' ? gates.gateOf(input.path) : UNGATED));
  const tempPlaces = new TempPlaces(request.tempDirs, gates);
  const plan = planJob(request, jobInputs.inputs, tuning);
  checkDisks(request, plan, place, gates);

  const outputDirectory = directoryOfOutput(place);
  const outputGate = outputDirectory === undefined ? UNGATED : gates.gateOf(outputDirectory);
  const control = JobControl.create(gates.permits, plan.memory.pass1SpareBytes);
  const stop = new JobStop(control, request.signal);
  const progress = new JobProgress(control, request.onProgress);
  /** In the order in which things were taken; let go of in the opposite one. */
  const releases: (() => void | Promise<void>)[] = [() => tempPlaces.remove(), () => stop.release()];
  try {
    const output = await openOutput(place, outputGate, () => stop.isRequested);
    releases.push(() => output.release());
    const job = await openJob(request, plan, jobInputs.inputs, inputGates, control, stop, tempPlaces);
    releases.push(() => job.pool.destroy());

    const pass1 = await progress.during('scatter', plan.inputBytes, () => scatterInputs(job));
    const scattered = pass1.value;
    const cuts = planShardCuts(request.shards ?? ONE_OUTPUT, scattered);
    const target = output.target(cuts, scattered.bytes);

    const pass2Job = await fitPass2(job, scattered);
    releases.push(() => pass2Job.pool.destroy());
    const pass2 = await progress.during('shuffle', scattered.bytes, () => shufflePiles(pass2Job, scattered, target));

    const commit = await progress.during('commit', undefined, async () => {
      output.verify(pass2.value, cuts.shardCount, scattered.bytes);
      return output.commit(cuts.shardCount);
    });
    return {
      ...summarize(scattered),
      seed: request.seed,
      seconds: {
        total: (performance.now() - began) / 1000,
        pass1: pass1.seconds,
        pass2: pass2.seconds,
        commit: commit.seconds,
      },
      inputCount: jobInputs.inputs.length,
      workers: plan.memory.workers,
      piles: plan.memory.pileCount,
      shards: commit.value,
    };
  } finally {
    for (const release of releases.reverse()) await release();
  }
}

async function openJob(
  request: JobRequest,
  plan: JobPlan,
  inputs: readonly JobInput[],
  inputGates: readonly GateNumber[],
  control: JobControl,
  stop: JobStop,
  tempPlaces: TempPlaces,
): Promise<JobContext> {
  const share = shareOf(randomUUID(), request, plan, control, tempPlaces);
  const threadCount = plan.inline ? 0 : plan.memory.workers;
  // Pass 1 of a single stream keeps one thread busy; the others start when pass 2 has tasks for them.
  const pool = await openTaskPool({ threadCount, startCount: plan.splits.length }, share.jobName);
  return { seed: request.seed, inputs, inputGates, plan, share, control, stop, pool };
}

function shareOf(
  jobName: string,
  request: JobRequest,
  plan: JobPlan,
  control: JobControl,
  tempPlaces: TempPlaces,
): JobShare {
  const { memory } = plan;
  return {
    jobName,
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

function summarize(scattered: ScatteredPiles) {
  const { records, bytes, tempBytes } = scattered;
  return { records, bytes, tempBytes, checksum: scattered.checksum.toString(16).padStart(16, '0') };
}
