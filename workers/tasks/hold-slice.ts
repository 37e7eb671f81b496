/**
 * A task of pass 1 for a job that fits in memory: reads one slice and holds its records where they are read. If the memory
 * is full, the slice is scattered, as by `scatter-slice.ts`: first what it holds, then what follows.
 */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import { RecordHolder } from '../held/record-holder.js';
import { scatterHeld } from '../held/scatter-held.js';
import { type OpenScatter, openScatter } from '../piles/open-scatter.js';
import { readSlice } from '../read/read-slice.js';
import type { HoldSettings } from '../settings.js';
import { heldStateOf, pileStateOf, readStateOf } from '../thread-state.js';
import {
  commitScattered,
  type ReadResult,
  type ScatterResult,
  type ScatterTask,
  scatterSlice,
} from './scatter-slice.js';

export interface HoldTask extends ScatterTask {
  readonly hold: HoldSettings;
}

/** A slice whose records lie in memory. */
export interface HeldResult extends ReadResult {
  /** The address of its piles of entries. */
  readonly directory: number;
  /** Where the part of the memory ends that all slices have taken so far. */
  readonly takenEnd: number;
}

export async function holdSlice(task: HoldTask): Promise<HeldResult | ScatterResult> {
  const { job, hold, parts, pileSetName } = task;
  const { memory } = await heldStateOf(job, hold.memory);
  const ramPool = await pileStateOf(job).ramPool;
  let scatter: OpenScatter | undefined;
  const { maxRecordBytes, splitBy, unique, uniqueBy } = job;
  const holder = RecordHolder.open(memory, { ...hold, maxRecordBytes, splitBy, unique, uniqueBy }, (directory) => {
    scatter = openScatter(job, pileSetName, ramPool);
    scatterHeld(memory, hold, directory, scatter.scatterArena);
    return scatter.scatterArena;
  });
  if (holder === undefined) return scatterSlice({ job, parts, pileSetName });
  const read = async (): Promise<HeldResult | ScatterResult> => {
    const reading = await readSlice(parts, holder, readStateOf(job), job);
    if (scatter !== undefined) return commitScattered(reading, scatter.scatterArena, job);
    const longestRecordBytes = memory.kernel.wasm.longestHeld() >>> 0;
    return { ...reading, ...holder.held(), longestRecordBytes, takenEnd: memory.takenEnd };
  };
  return thenAlwaysAsync(read, () => scatter?.writer.close());
}
