/**
 * The pass between the others of a job that draws with replacement: merged piles become pile sets of copies of the drawn
 * records, one task a range of piles. The shuffle pass then takes the copies.
 */

import type { Draws } from '../../workers/piles/drawn-ranks.js';
import type { CopySettings } from '../../workers/settings.js';
import type { DrawResult, DrawTask } from '../../workers/tasks/draw-records.js';
import { VerificationError } from '../errors.js';
import { pileSetName } from '../job-directory/pile-set-commits.js';
import type { PileSet } from '../pile-sets/pile-set-writer.js';
import { addTotals, emptyTotals, type PileTotals, totalsOfRange } from '../pile-sets/pile-totals.js';
import { planPileRanges } from '../plan/pile-ranges.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import { type ScatteredPileSet, type ScatteredPiles, scatteredPiles } from './scattered-piles.js';
import { bytesOfPart, isInPart, type PilePart, type PilesWork, pilesTask } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** Tasks a thread: the last ones to end keep the others waiting. */
const TASKS_A_THREAD = 2;
const DRAW_BYTES = 8;
/** Places have 32 bits. */
export const MOST_DRAWS = 2 ** 32;
/** Ranks of a task have 32 bits. */
const MOST_TASK_RECORDS = 2 ** 31;

/** Of an output without end, if there are no more records. */
const LEAST_BATCH = 2 ** 20;

/** How many places are drawn together. @param headCount undefined: the output has no end. */
export function drawsAtOnce(headCount: number | undefined, records: number): number {
  return headCount ?? Math.min(Math.max(Math.ceil(records), LEAST_BATCH), MOST_DRAWS);
}

export interface DrawWork extends PilesWork {
  readonly draws: Draws;
  readonly copies: CopySettings;
  /** Memory of a thread for draws, beside its arenas. */
  readonly drawsBytes: number;
  /** Part of the names of the pile sets of the copies. */
  readonly copiesAttempt: string;
}

/** The copies of the records that were drawn from a part of the piles. */
export interface DrawnCopies {
  readonly pileSets: readonly PileSet[];
  readonly totals: PileTotals;
  readonly longestRecordBytes: number;
}

/** @throws VerificationError if a pile is not as it was. */
export async function drawCopies(work: DrawWork, threads: Threads): Promise<ScatteredPiles> {
  return pilesOfCopies(work, await drawFromPart(work, threads));
}

/**
 * For who puts the copies of several such passes together.
 * @param part the piles to draw from; absent: all.
 * @param onDrawn called with the bytes of piles that are done.
 */
export async function drawFromPart(
  work: DrawWork,
  threads: Threads,
  part?: PilePart,
  onDrawn: (bytes: number) => void = () => {},
): Promise<DrawnCopies> {
  const { copies } = work;
  const pileSets: PileSet[] = [];
  const totals = emptyTotals(copies.layout.pileCount);
  let longestRecordBytes = 0;
  const take = (
    { pileSet, totals: more, longestRecordBytes: longest }: DrawResult,
    [task, number]: [DrawTask, number],
  ) => {
    onDrawn(bytesOfPart(work.piles.totals, task.range));
    pileSets[number] = pileSet;
    addTotals(totals, more);
    longestRecordBytes = Math.max(longestRecordBytes, longest);
  };
  const tasks = drawTasks(work, threads, part).map((task, number): [DrawTask, number] => [task, number]);
  await runTasks(tasks, ([task]) => threads.pool.run('draw', task), take, tasksAtOnce(threads), threads.stop);
  return { pileSets, totals, longestRecordBytes };
}

/** @throws VerificationError if there are not as many copies as draws. */
export function pilesOfCopies(
  { copies, draws }: { readonly copies: Pick<CopySettings, 'keyScale'>; readonly draws: Pick<Draws, 'count'> },
  { pileSets, totals, longestRecordBytes }: DrawnCopies,
): ScatteredPiles {
  const stored = pileSets.map(({ name, index, diskBytes }): ScatteredPileSet => ({ name, index, diskBytes }));
  const piles = { ...scatteredPiles(stored, totals, longestRecordBytes), keyScale: copies.keyScale };
  if (piles.records !== draws.count)
    throw new VerificationError(
      `${piles.records} records were drawn, expected ${draws.count}; check the memory of this machine`,
    );
  return piles;
}

function drawTasks(work: DrawWork, { pool }: Threads, part: PilePart | undefined): DrawTask[] {
  const { piles, draws, copies, drawsBytes, copiesAttempt } = work;
  const { totals } = piles;
  const byMemory = Math.ceil((draws.count * DRAW_BYTES) / drawsBytes);
  const taskCount = Math.max(TASKS_A_THREAD * pool.threadCount, byMemory, Math.ceil(piles.records / MOST_TASK_RECORDS));
  const ranges = planPileRanges(
    totals,
    bytesOfPart(totals, part) / taskCount,
    () => false,
    (pile) => !isInPart(part, pile),
  );
  return ranges.map((range, number) => ({
    ...pilesTask(work, `draw-${number}`),
    range,
    expected: totalsOfRange(totals, range.first, range.end),
    draws,
    copies,
    pileSetName: pileSetName(number, copiesAttempt),
  }));
}
