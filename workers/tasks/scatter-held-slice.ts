/**
 * A task between the passes of a job that did not fit in memory after all: makes a pile set of a slice that is held.
 */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import { scatterHeld } from '../held/scatter-held.js';
import { openScatter } from '../piles/open-scatter.js';
import { heldStateOf, pileStateOf } from '../thread-state.js';
import type { HeldResult, HoldTask } from './hold-slice.js';
import { commitScattered, type ScatterResult } from './scatter-slice.js';

export interface ScatterHeldTask extends Pick<HoldTask, 'job' | 'hold' | 'pileSetName'> {
  readonly held: HeldResult;
}

export async function scatterHeldSlice({ job, hold, pileSetName, held }: ScatterHeldTask): Promise<ScatterResult> {
  const { memory } = await heldStateOf(job, hold.memory);
  const { writer, scatterArena } = openScatter(job, pileSetName, await pileStateOf(job).ramPool);
  const scatter = async () => {
    scatterHeld(memory, hold, held.directory, scatterArena);
    const { coverage, keys, streamHeader, decoders, doubts } = held;
    return commitScattered({ coverage, keys, streamHeader, decoders, doubts }, scatterArena, job);
  };
  return thenAlwaysAsync(scatter, () => writer.close());
}
