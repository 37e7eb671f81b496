/** What all tasks of the scatter pass have made, from the indexes of their pile sets. */
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import { readCommitted } from '../passes/committed-slices.js';
import { GatheredSlices } from '../passes/gathered-slices.js';
import type { ScatteredPiles } from '../passes/shuffle-work.js';
import { hearSignalsAt } from '../pause.js';
import { type ClusterJob, ungated } from './open-job.js';
import { requireDone } from './task-arrays.js';

export interface Scattered {
  readonly piles: ScatteredPiles;
  readonly found: Pick<GatheredSlices, 'header' | 'recordEnds' | 'leftOut' | 'blank' | 'beginnings'>;
}

/** Checks that the tasks read every byte of every input once. */
export async function gatherScattered(job: ClusterJob): Promise<Scattered> {
  const { plan, piling, signal } = job;
  const gathered = new GatheredSlices({ ...ungated(job), settings: plan.request }, piling.layout.pileCount);
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
