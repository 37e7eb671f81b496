/**
 * Finds what stays of each pile where of equal records one is kept, so that the shuffle pass can plan with it. The piles
 * are put in order once more for that, or a resumed job takes the note of the earlier attempt. An output whose records lie
 * one behind the other, wherever they end, needs no such plan: the shuffle pass then finds the same as it writes.
 */
import type {
  DistinctResult,
  ListedLines,
  ListingSettings,
  MeasureDistinctTask,
} from '../../workers/tasks/measure-distinct.js';
import { StagedOutputError, VerificationError } from '../errors.js';
import type { DistinctNote, DistinctTally, StagedList } from '../job-directory/distinct-note.js';
import { pileSetName } from '../job-directory/pile-set-commits.js';
import type { PileSet } from '../pile-sets/pile-set-writer.js';
import {
  addTotals,
  checksumTextOf,
  emptyTotals,
  type PileTally,
  type PileTotals,
  sumTotals,
  tallyOf,
  totalsOf,
  totalsOfRange,
} from '../pile-sets/pile-totals.js';
import { planPileRanges } from '../plan/pile-ranges.js';
import { onceMore, runTasks, tasksAtOnce } from './run-tasks.js';
import { type ScatteredPileSet, type ScatteredPiles, scatteredPiles } from './scattered-piles.js';
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
  const measured = () => measure(work, threads);
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
  await kept.write({ piles: textsOf(distinct), duplicates: undefined });
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

/** What stays of the piles by the note of an earlier attempt, and the list that it staged. @throws StagedOutputError */
export function notedList(
  piles: ScatteredPiles,
  kept: KeptDistinct,
): { readonly distinct: ScatteredPiles; readonly staged: StagedList } | undefined {
  const { pileSets, keyScale, longestRecordBytes } = piles;
  const totals = notedTotals(kept, piles.totals);
  if (totals === undefined) return undefined;
  const staged = kept.found?.duplicates;
  if (staged === undefined) throw new StagedOutputError('the unfinished job noted no list of dropped records');
  return { distinct: { ...scatteredPiles(pileSets, totals, longestRecordBytes), keyScale }, staged };
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

/** How what is dropped is listed, but for the names of pile sets. */
export type Listing = Omit<ListingSettings, 'pileSetName'> & {
  /** Part of the names of the pile sets of the lines. */
  readonly linesAttempt: string;
};

/** What stays of a part of the piles, and the lines of what is dropped. */
export interface ListedPart {
  /** Of the other piles, nothing. */
  readonly distinct: PileTotals;
  readonly pileSets: readonly PileSet[];
  readonly totals: PileTotals;
  readonly longestRecordBytes: number;
}

/**
 * The same with a line for each record that is dropped.
 * @throws VerificationError if a pile is not as it was, or the lines are more or fewer than the records that are dropped.
 */
export async function listDropped(
  work: PilesWork,
  threads: Threads,
  listing: Listing,
): Promise<{ readonly distinct: ScatteredPiles; readonly lines: ScatteredPiles }> {
  const { pileSets, keyScale, longestRecordBytes } = work.piles;
  const listed = await listPart(work, threads, listing);
  const distinct = { ...scatteredPiles(pileSets, listed.distinct, longestRecordBytes), keyScale };
  return { distinct, lines: pilesOfLines(listed, listing.lines.keyScale) };
}

/** The piles of the lines of several parts, or of all. */
export function pilesOfLines(
  { pileSets, totals, longestRecordBytes }: Omit<ListedPart, 'distinct'>,
  keyScale: bigint | undefined,
): ScatteredPiles {
  const stored = pileSets.map(({ name, index, diskBytes }): ScatteredPileSet => ({ name, index, diskBytes }));
  return { ...scatteredPiles(stored, totals, longestRecordBytes), keyScale };
}

/**
 * For who puts the lines of several such passes together.
 * @param part absent: all piles.
 * @param onMeasured called with the bytes of piles that are done.
 * @throws VerificationError as `listDropped`.
 */
export async function listPart(
  work: PilesWork,
  threads: Threads,
  listing: Listing,
  part?: PilePart,
  onMeasured?: (bytes: number) => void,
): Promise<ListedPart> {
  const lineSets: PileSet[] = [];
  const lineTotals = emptyTotals(listing.lines.layout.pileCount);
  let longestLineBytes = 0;
  const takeLines = ({ pileSet, ...listed }: ListedLines, number: number) => {
    lineSets[number] = pileSet;
    addTotals(lineTotals, listed.totals);
    longestLineBytes = Math.max(longestLineBytes, listed.longestRecordBytes);
  };
  const distinct = await measure(work, threads, {
    listing,
    takeLines,
    ...(part && { part }),
    ...(onMeasured && { onMeasured }),
  });
  const { totals } = work.piles;
  const records = totals.records.subarray(part?.first, part?.end).reduce((sum, more) => sum + more, 0);
  const dropped = records - sumTotals(distinct).records;
  const lines = sumTotals(lineTotals).records;
  if (lines === dropped)
    return { distinct, pileSets: lineSets, totals: lineTotals, longestRecordBytes: longestLineBytes };
  throw new VerificationError(
    `${lines} dropped records were listed, expected ${dropped}; check the memory of this machine`,
  );
}

/**
 * For who puts the piles of several such passes together.
 * @param onMeasured called with the bytes of piles that are done.
 * @returns what stays of the piles of a part; of the others, nothing.
 */
export function measureDistinct(
  work: PilesWork,
  threads: Threads,
  part: PilePart,
  onMeasured: (bytes: number) => void,
): Promise<PileTotals> {
  return measure(work, threads, { part, onMeasured });
}

interface MeasureParts {
  /** Absent: nobody asks for what is dropped. */
  readonly listing?: Listing;
  readonly takeLines?: (listed: ListedLines, number: number) => void;
  /** Absent: all piles. */
  readonly part?: PilePart;
  readonly onMeasured?: (bytes: number) => void;
}

async function measure(
  work: PilesWork,
  threads: Threads,
  { listing, takeLines = () => {}, part, onMeasured = () => {} }: MeasureParts = {},
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
  const tasks = ranges.map(({ first, end }, number): MeasureDistinctTask => {
    const own = listing && { ...listing, pileSetName: pileSetName(number, listing.linesAttempt) };
    const expected = totalsOfRange(totals, first, end);
    return { ...pilesTask(work, `distinct-${first}`), first, end, expected, listing: own };
  });
  const measureOne = (task: MeasureDistinctTask) => threads.pool.run('measure-distinct', task);
  // The lines of a task that failed stay in the memory of all threads.
  const run = (task: MeasureDistinctTask) =>
    listing === undefined ? onceMore(() => measureOne(task), work.onWarning) : measureOne(task);
  const take = (found: DistinctResult, task: MeasureDistinctTask) => {
    addTotals(distinct, found.distinct, task.first);
    onMeasured(bytesOfPart(totals, task));
    if (found.listed !== undefined) takeLines(found.listed, tasks.indexOf(task));
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
