/** Measures parts of piles between the passes: each pile is put in order an extra time. */
import type { MeasurePartsTask, PartEnds, PartMeasure } from '../../workers/tasks/measure-parts.js';
import { tallyOf } from '../pile-sets/pile-totals.js';
import { onceMore } from './once-more.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import { type PilesWork, pilesTask } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** A pile with records, and where its parts end. */
export interface PileCut {
  readonly pile: number;
  readonly ends: PartEnds;
}

/** @returns the parts of each pile. @throws WrongTwiceError if a pile is not as it was. */
export async function measurePiles(
  cuts: readonly PileCut[],
  work: PilesWork,
  threads: Threads,
): Promise<ReadonlyMap<number, readonly PartMeasure[]>> {
  const { totals } = work.piles;
  const tasks: MeasurePartsTask[] = cuts.map(({ pile, ends }) => ({
    ...pilesTask(work, `parts-${pile}`),
    pile,
    expected: tallyOf(totals, pile),
    ends,
  }));
  const partsOf = new Map<number, readonly PartMeasure[]>();
  const take = (parts: readonly PartMeasure[], { pile }: MeasurePartsTask) => partsOf.set(pile, parts);
  const run = (task: MeasurePartsTask) => onceMore(() => threads.pool.run('measure-parts', task), work.onWarning);
  await runTasks(tasks, run, take, tasksAtOnce(threads), threads.stop);
  return partsOf;
}
