/**
 * Finds what stays of each pile where of equal records one is kept, so that the shuffle pass can plan with it. The piles
 * are put in order once more for that, or a resumed job takes the note of the earlier attempt. An output whose records lie
 * one behind the other, wherever they end, needs no such plan: the shuffle pass then finds the same as it writes.
 */
import type { MeasureDistinctTask } from '../../workers/tasks/measure-distinct.js';
import { StagedOutputError } from '../errors.js';
import type { DistinctNote, DistinctTally } from '../job-directory/notes.js';
import {
  addTotals,
  checksumTextOf,
  emptyTotals,
  type PileTally,
  type PileTotals,
  tallyOf,
  totalsOf,
  totalsOfRange,
} from '../pile-sets/pile-totals.js';
import { planPileRanges } from '../plan/pile-ranges.js';
import { onceMore } from './once-more.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import { type ScatteredPiles, scatteredPiles } from './scattered-piles.js';
import { bytesOfPart, isInPart, type PilePart, type PilesWork, pilesTask } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** Tasks a thread: the last ones to end keep the others waiting. */
const TASKS_A_THREAD = 4;

/** For a job that can be resumed: what stays is noted before piles are deleted. */
export interface KeptDistinct {
  /** The note of an earlier attempt; undefined: it noted nothing. */
  readonly found: DistinctNote | undefined;
  /** Whether the earlier attempt finished a part of the output, so that its piles may be deleted. */
  readonly hasFinishedRanges: boolean;
  readonly write: (note: DistinctNote) => Promise<void>;
}

/**
 * @param kept undefined: if the job fails, its output is lost.
 * @returns the same piles, with the totals of what stays.
 * @throws WrongTwiceError if a pile is not as it was; StagedOutputError if the note of an earlier attempt is missing or does
 *   not fit the piles.
 */
export async function takeDistinct(
  work: PilesWork,
  threads: Threads,
  kept: KeptDistinct | undefined,
): Promise<ScatteredPiles> {
  const { pileSets, keyScale, longestRecordBytes, totals } = work.piles;
  const measured = () => measureDistinct(work, threads);
  const distinct = kept === undefined ? await measured() : await keptTotals(kept, totals, measured);
  return { ...scatteredPiles(pileSets, distinct, longestRecordBytes), keyScale };
}

async function keptTotals(
  kept: KeptDistinct,
  all: PileTotals,
  measured: () => Promise<PileTotals>,
): Promise<PileTotals> {
  const noted = notedTotals(kept, all);
  if (noted !== undefined) return noted;
  const distinct = await measured();
  await kept.write({ piles: textsOf(distinct) });
  return distinct;
}

/** @returns undefined: an earlier attempt noted nothing, and deleted no piles. @throws StagedOutputError */
function notedTotals({ found, hasFinishedRanges }: KeptDistinct, all: PileTotals): PileTotals | undefined {
  if (found !== undefined) return requireDistinct(totalsOf(found.piles.map(tallyOfText)), all);
  if (!hasFinishedRanges) return undefined;
  throw new StagedOutputError(
    'the unfinished job finished a part of its output without noting what stays of its piles',
  );
}

/** @throws StagedOutputError if a pile has fewer records or bytes than are noted to stay. */
export function requireDistinct(distinct: PileTotals, all: PileTotals): PileTotals {
  const pile = distinct.records.findIndex(
    (records, i) => records > (all.records[i] ?? 0) || (distinct.recordBytes[i] ?? 0) > (all.recordBytes[i] ?? 0),
  );
  if (pile === -1) return distinct;
  throw new StagedOutputError(
    `the unfinished job noted that ${distinct.records[pile]} records of pile ${pile} stay, expected at most ${all.records[pile]}`,
  );
}

/**
 * @param part absent: all piles.
 * @param onMeasured called with the bytes of piles that are done.
 * @returns what stays of the piles of a part; of the others, nothing.
 */
export async function measureDistinct(
  work: PilesWork,
  threads: Threads,
  part?: PilePart,
  onMeasured: (bytes: number) => void = () => {},
): Promise<PileTotals> {
  const { totals } = work.piles;
  const distinct = emptyTotals(totals.records.length);
  const rangeBytes = bytesOfPart(totals, part) / (TASKS_A_THREAD * threads.pool.threadCount);
  const ranges = planPileRanges(
    totals,
    rangeBytes,
    () => false,
    (pile) => !isInPart(part, pile),
  );
  const tasks = ranges.map(
    ({ first, end }): MeasureDistinctTask => ({
      ...pilesTask(work, `distinct-${first}`),
      first,
      end,
      expected: totalsOfRange(totals, first, end),
    }),
  );
  const run = (task: MeasureDistinctTask) => onceMore(() => threads.pool.run('measure-distinct', task), work.onWarning);
  const take = (found: PileTotals, task: MeasureDistinctTask) => {
    addTotals(distinct, found, task.first);
    onMeasured(bytesOfPart(totals, task));
  };
  await runTasks(tasks, run, take, tasksAtOnce(threads), threads.stop);
  return distinct;
}

/** The totals of all piles, as a note has them. */
export function textsOf(totals: PileTotals): DistinctTally[] {
  return Array.from(totals.records, (_, pile) => {
    const { records, recordBytes, checksum } = tallyOf(totals, pile);
    return { records, recordBytes, checksum: checksumTextOf(checksum) };
  });
}

export function tallyOfText({ records, recordBytes, checksum }: DistinctTally): PileTally {
  return { records, recordBytes, checksum: BigInt(`0x${checksum}`) };
}
