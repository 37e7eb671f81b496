/** The piles of a job on the machine of a task: what all scatter tasks have made, and threads that put it in order. */
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import { makeScratchDirectory, removeLeftOverTempDirectories } from '../job-directory/held-directory.js';
import { type OpenedPiles, openPiles } from '../jobs/task-settings.js';
import { requireTempDirs, TempDisks } from '../jobs/temp-disks.js';
import { readCommitted } from '../passes/committed-slices.js';
import { GatheredSlices } from '../passes/gathered-slices.js';
import type { ScatterOutcome } from '../passes/scatter-pass.js';
import type { ScatteredPiles } from '../passes/shuffle-work.js';
import { hearSignalsAt } from '../pause.js';
import { type ClusterJob, startTaskThreads, ungated } from './open-job.js';
import { requireDone } from './task-arrays.js';

export type Scattered = Pick<ScatterOutcome, 'piles' | 'found'>;

/** Checks that the tasks read every byte of every input once. */
export async function gatherScattered(job: ClusterJob): Promise<Scattered> {
  const { plan, piling, signal } = job;
  const gathered = new GatheredSlices({ ...ungated(job), settings: plan.spec }, piling.layout.pileCount);
  await requireDone(job, 'scatter');
  for (const slice of plan.slices.keys()) {
    await hearSignalsAt(slice, signal);
    gathered.add(slice, await readScatteredSlice(job, slice));
  }
  return { piles: gathered.piles(), found: gathered };
}

export async function readScatteredSlice(
  { directory, plan, piling, patience }: ClusterJob,
  slice: number,
): Promise<ScatterResult> {
  const size = { sliceCount: plan.slices.length, inputCount: plan.inputs.length };
  return patience.untilWhole(directory, () =>
    readCommitted({ layout: piling.layout, size, isStripeDone: () => false }, slice),
  );
}

export async function openPilesOfJob(job: ClusterJob, piles: ScatteredPiles): Promise<OpenedPiles> {
  const { plan, piling, onWarning, times, log, scope } = job;
  const { spec, inputIds } = plan;
  const { unique } = spec.keep;
  const first = await startTaskThreads(job);
  const rule = {
    framing: spec.read.framing,
    unique,
    tiesByBytes: unique !== undefined || inputIds !== undefined,
    hashesOutput: true,
    rescatterTo: openScratch(job),
    isProfiled: plan.profile !== undefined,
  };
  const toOpen = { piles, attempt: log.attempt, onWarning };
  const opened = await openPiles(toOpen, rule, plan, piling, first, times.add, scope.releases);
  times.useThreads(opened.threads.pool.threadCount);
  return opened;
}

/** Where piles that are too large are scattered again: on this machine alone. */
function openScratch({ scratchDir, gates, scope }: ClusterJob) {
  requireTempDirs([scratchDir], 'tempDirs');
  const disks = new TempDisks([scratchDir], gates);
  removeLeftOverTempDirectories(scratchDir);
  const directory = makeScratchDirectory(scratchDir, scope.releases);
  return { disks: disks.in([directory]), indexDirectory: directory };
}
