/**
 * Finds how much of each pile stays where the output gets one of equal records, so that the shuffle pass can plan with it.
 * For that, tasks order the piles once more, or a resumed job takes the note of the earlier attempt. An output in which each
 * record follows the one before, wherever that ends, needs no such plan: the shuffle pass drops duplicates as it writes.
 */
import type { MeasureDistinctTask } from '../../workers/tasks/measure-range.js';
import { StagedOutputError } from '../errors.js';
import { type CheckpointNotes, readOrWriteNote } from '../job-directory/notes.js';
import { isDistinct, isMeasuredBefore } from '../keep/distinct.js';
import {
  addTotals,
  emptyTotals,
  type PileTotals,
  pileTotalsOf,
  type RecordTotalsText,
  textOfTotals,
  totalsOfPile,
  totalsOfRange,
  totalsOfText,
} from '../piles/pile-totals.js';
import type { ShuffleSpec } from '../spec.js';
import { runVerified } from './run-tasks.js';
import {
  type PilePart,
  type PilesWork,
  pilesTask,
  rangesForThreads,
  type ScatteredPiles,
  withTotals,
} from './shuffle-work.js';
import type { Threads } from './threads.js';

/**
 * Returns the piles with the totals of the records that stay. If the output is one file or stream to which tasks append, it
 * returns them with all records, and the shuffle pass drops the duplicates.
 */
export async function dropDuplicates(
  spec: ShuffleSpec,
  work: PilesWork,
  threads: Threads,
  checkpoint: CheckpointNotes | undefined,
): Promise<ScatteredPiles> {
  if (!isDistinct(spec.keep)) return work.piles;
  // Tasks measure always: none of them writes all of the output.
  const isMeasured = isMeasuredBefore(spec) || checkpoint?.read('distinct') !== undefined;
  if (!isMeasured) return { ...work.piles, hasDuplicates: true };
  const { piles } = await readOrWriteNote(checkpoint, 'distinct', async () => ({
    piles: textsOf(await measureDistinct(work, threads)),
  }));
  return distinctPiles(work.piles, piles);
}

/** @param distinct what stays of each pile. */
export function distinctPiles(piles: ScatteredPiles, distinct: readonly RecordTotalsText[]): ScatteredPiles {
  return withTotals(piles, requireWithinPiles(pileTotalsOf(distinct.map(totalsOfText)), piles.totals));
}

/** Refuses totals of an earlier attempt that have more of a pile than it holds. */
export function requireWithinPiles(distinct: PileTotals, all: PileTotals): PileTotals {
  const pile = distinct.records.findIndex(
    (records, i) => records > (all.records[i] ?? 0) || (distinct.recordBytes[i] ?? 0) > (all.recordBytes[i] ?? 0),
  );
  if (pile === -1) return distinct;
  throw new StagedOutputError(
    `the unfinished job noted that ${distinct.records[pile]} records of pile ${pile} stay, expected at most ${all.records[pile]}`,
  );
}

/** Returns what stays of the piles of `part`; nothing of the others. */
export async function measureDistinct(work: PilesWork, threads: Threads, part?: PilePart): Promise<PileTotals> {
  const { totals } = work.piles;
  const distinct = emptyTotals(totals.records.length);
  const tasks = rangesForThreads(totals, threads, undefined, part).map(
    ({ first, end }): MeasureDistinctTask => ({
      ...pilesTask(work, `distinct-${first}`),
      first,
      end,
      expected: totalsOfRange(totals, first, end),
    }),
  );
  const take = (found: PileTotals, { first }: MeasureDistinctTask) => addTotals(distinct, found, first);
  await runVerified(threads, 'measure-distinct', tasks, work.onWarning, take);
  return distinct;
}

export function textsOf(totals: PileTotals): RecordTotalsText[] {
  return Array.from(totals.records, (_, pile) => textOfTotals(totalsOfPile(totals, pile)));
}
