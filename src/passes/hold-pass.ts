/**
 * Pass 1 of a job that fits in memory: one task a slice, which leaves the records where it reads them. If they do not fit
 * after all, the slices that were held are scattered, and the outcome is that of a scatter pass. A slice with a record for
 * which the memory beside the held records has no room is read again when nothing is held any more.
 */
import type { HoldSettings } from '../../workers/settings.js';
import type { HeldResult } from '../../workers/tasks/hold-slice.js';
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import type { PileTotals } from '../pile-sets/pile-totals.js';
import { type HoldPlan, heldPass2Bytes } from '../plan/hold-plan.js';
import { lookBeforeRanges } from './before-ranges.js';
import { GatheredSlices } from './gathered-slices.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import {
  restartThreads,
  type ScatterOutcome,
  type ScatterWork,
  scatterSlices,
  scatterTask,
  takeVerified,
  unlessNoRoom,
} from './scatter-pass.js';
import type { Threads } from './threads.js';

/** The work of pass 1 in memory; the settings of its scatter are for records that do not fit. */
export interface HoldWork extends ScatterWork {
  readonly hold: HoldSettings;
  readonly holdPlan: HoldPlan;
  /** Frees the memory for records when the threads have ended. */
  readonly release: () => Promise<void>;
}

/**
 * @throws VerificationError if the slices do not tile every input, or the piles did not get every byte; InputError
 *   ERR_SAMPLE_KEY_REPEATED if a key was seen twice.
 */
export async function holdInputs(work: HoldWork, threads: Threads): Promise<ScatterOutcome> {
  const { slices, hold, settings } = work;
  const { pool, stop, control } = threads;
  const before = await lookBeforeRanges(work, threads, () => false);
  const held = new Map<number, HeldResult>();
  const scattered = new Map<number, ScatterResult>();
  const setAside: number[] = [];
  const take = (result: HeldResult | ScatterResult | undefined, slice: number) => {
    if (result === undefined) setAside.push(slice);
    else if ('pileSet' in result) scattered.set(slice, result);
    else held.set(slice, result);
  };
  const read = (slice: number) => {
    const task = scatterTask(work, slice, before);
    const run = () => pool.run('hold', { ...task, hold });
    return unlessNoRoom(task, () => takeVerified(task, run, work.onWarning));
  };
  const takeRead = (result: HeldResult | ScatterResult | undefined, slice: number) => {
    take(result, slice);
    control.count('finishedSlices', 1);
  };
  await runTasks(slices.keys(), read, takeRead, tasksAtOnce(threads), stop);

  const ordered = [...held].sort(([a], [b]) => a - b);
  if (scattered.size === 0 && setAside.length === 0) {
    const gathered = new GatheredSlices(work, hold.pileCount);
    for (const [slice, result] of ordered) gathered.add(slice, result);
    const results = ordered.map(([, result]) => result);
    const piles = gathered.piles((totals) => heldPiles(hold, totals, results));
    if (hasRoomForPass2(work, piles.held?.mostRecords ?? 0, results, pool.threadCount))
      return outcomeOf(gathered, piles);
  }

  const scatter = ([slice, result]: [number, HeldResult]) => {
    const task = scatterTask(work, slice, before);
    const { job, pileSetName } = task;
    const run = () => pool.run('scatter-held', { job, pileSetName, hold, held: result });
    return unlessNoRoom(task, () => takeVerified(task, run, work.onWarning));
  };
  await runTasks(ordered, scatter, (result, [slice]) => take(result, slice), tasksAtOnce(threads), stop);
  if (setAside.length > 0) {
    await pool.destroy();
    await work.release();
    await restartThreads(threads, settings, pool.threadCount, setAside.length);
    await scatterSlices(work, threads, setAside, before, (result, slice) => scattered.set(slice, result));
  }
  const gathered = new GatheredSlices(work, settings.layout.pileCount);
  for (const [slice, result] of scattered) gathered.add(slice, result);
  return outcomeOf(gathered, gathered.piles());
}

function heldPiles(
  { memory, pileCount, blockBytes }: HoldSettings,
  { records }: PileTotals,
  results: readonly HeldResult[],
) {
  const mostRecords = records.reduce((most, count) => Math.max(most, count), 0);
  return { memory, pileCount, blockBytes, mostRecords, directories: results.map(({ directory }) => directory) };
}

/** Whether pass 2 can order the largest pile: it may have more records than planned, because they are shorter. */
function hasRoomForPass2(
  { holdPlan }: HoldWork,
  mostRecords: number,
  results: readonly HeldResult[],
  threadCount: number,
): boolean {
  const takenEnd = results.reduce((most, result) => Math.max(most, result.takenEnd), 0);
  return takenEnd + heldPass2Bytes(threadCount, holdPlan.outputBytes, mostRecords) <= holdPlan.memoryBytes;
}

function outcomeOf(
  { header, recordEnds, counts, decoders, leftOut, blank, beginnings, groups }: GatheredSlices,
  piles: ReturnType<GatheredSlices['piles']>,
) {
  const found = { header, recordEnds, counts, decoders, leftOut, blank, beginnings, groups };
  return { ...piles, ...found, resumedCount: 0 };
}
