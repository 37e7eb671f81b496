/**
 * The shuffle pass: merged piles become the output, one task a range of piles. A task is a pure function of the work, its
 * range and the start of the range in the output (`writeTask`); this pass runs the tasks on threads of this process. A
 * stripe is deleted only when each of its piles came out as it went in.
 */
import type { WriteRangeTask, WriteResult } from '../../workers/tasks/write-range.js';
import { StagedOutputError } from '../errors.js';
import { removeFile } from '../io/files.js';
import type { WrittenRegion } from '../job-directory/notes.js';
import { type FinishedRange, type FinishedRanges, writeFinishedRanges } from '../job-directory/notes.js';
import { dataFilePath, type PileSetLayout, pilesOfStripe, stripeOfPile } from '../piles/pile-layout.js';
import {
  addRecordTotals,
  areSameTotals,
  copyOfTotals,
  type PileTotals,
  requireSameTotals,
  setTotalsOfPile,
  totalsOfPile,
  totalsOfRange,
  totalsOfText,
} from '../piles/pile-totals.js';
import type { StagedOutput } from '../places/outputs/staged-output.js';
import { type PileRange, planPileRanges } from '../plan/pile-ranges.js';
import { cutAt, cutsWithin } from '../plan/shard-cuts.js';
import { unitsOfRange } from '../plan/unit-cuts.js';
import { endOfReading, planUnitRanges } from '../plan/unit-ranges.js';
import { type OutputTarget, recordBytesOf, type SinkEnd, type SinkStart } from '../sinks/output-target.js';
import { requireWithinPiles, textsOf } from './drop-duplicates.js';
import { verifyFinishedRanges } from './finished-output.js';
import { GroupCommit, withGroupCommit } from './group-commit.js';
import { findRangeEnds, findRangeStarts } from './range-starts.js';
import { inOrder, retryOnce, runTasks, tasksAtOnce } from './run-tasks.js';
import { errorForNeighboursOfOneKey, type Neighbours, neighboursAtSeams } from './sample-places.js';
import type { ScatteredPileSet, ScatteredPiles } from './shuffle-work.js';
import { isInPart, pilesTask, type ShuffleWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** The smallest output that is worth a task. */
const RANGE_BYTES = 4 * 2 ** 20;
/**
 * Tasks a thread, if each record has its place. More tasks balance the threads better; but inside a task one pile is loaded
 * while the last one is written, and with shards each task may need one pile to be measured first. Tasks that take turns
 * give every thread a pile at any time.
 */
const FILE_RANGES_PER_THREAD = 8;

/** The number of shards from which on threads that send them hardly meet in one. */
const SHARDS_PER_THREAD = 2;
const PARTS_OF_RANGE = 8;

/**
 * The ranges of a job that can be resumed: finished ones are recorded one by one, and those of an earlier attempt are
 * reused.
 */
export interface CheckpointRanges {
  readonly finished: FinishedRanges;
  readonly output: Pick<StagedOutput, 'makeDurable'>;
}

export interface WrittenPiles {
  /** Includes the regions of an earlier attempt. */
  readonly regions: readonly WrittenRegion[];
  /** The part of each pile that the output has. */
  readonly totals: PileTotals;
}

/** Ends the pass at two neighbours of one key, until the places of both are found. */
class OneKeyFound extends Error {
  readonly neighbours: Neighbours;

  constructor(neighbours: Neighbours) {
    super('two neighbours have one key');
    this.neighbours = neighbours;
  }
}

/** @param checkpoint undefined: if the job fails, its output is lost. */
export async function shufflePiles(
  work: ShuffleWork,
  threads: Threads,
  checkpoint: CheckpointRanges | undefined,
): Promise<WrittenPiles> {
  const written = await shuffleRanges(work, threads, checkpoint);
  return { regions: written.flatMap(({ regions }) => regions), totals: writtenTotals(work.piles, written) };
}

/**
 * Writes ranges for who puts those of several passes together. Returns all ranges, with those of an earlier attempt.
 */
export async function shuffleRanges(
  work: ShuffleWork,
  threads: Threads,
  checkpoint?: CheckpointRanges | undefined,
): Promise<readonly FinishedRange[]> {
  try {
    const written = await writeRanges(work, threads, checkpoint);
    const neighbours = neighboursAtSeams(written);
    if (neighbours !== undefined) throw new OneKeyFound(neighbours);
    return written;
  } catch (error) {
    if (!(error instanceof OneKeyFound) || work.samples === undefined) throw error;
    throw await errorForNeighboursOfOneKey(error.neighbours, work.samples);
  }
}

async function writeRanges(
  work: ShuffleWork,
  threads: Threads,
  checkpoint: CheckpointRanges | undefined,
): Promise<FinishedRange[]> {
  const { piles, target, settings } = work;
  const { totals } = piles;
  const takesTurns = target.kind !== 'placed';
  const finished = checkpoint?.finished.ranges ?? [];
  const isFinished = new Uint8Array(totals.records.length);
  for (const { first, end } of finished) isFinished.fill(1, first, end);
  const stripes = new StripeRemoval(settings.layout, piles.pileSets, work.deletesStripes, isCompressed(target));
  const commits = checkpoint === undefined ? undefined : commitsOf(work, checkpoint, stripes, threads);
  const written = [...finished];
  const done = (range: FinishedRange) => {
    written.push(range);
    if (commits === undefined) stripes.pilesDone(range);
    else commits.add(range);
  };
  const totalsOfFinished = writtenTotals(piles, finished);
  await verifyFinishedRanges({ ...work, totals: totalsOfFinished }, finished, threads);
  stripes.noted(finished.toSorted((a, b) => a.first - b.first));
  const takeOne = (result: WriteResult, { range, start }: WriteRangeTask) => {
    const { regions, ends, ofOneKey, leavesTurn } = result;
    if (ofOneKey !== undefined) throw new OneKeyFound(ofOneKey);
    if (leavesTurn === true) threads.control.passTurn();
    verifyRange(totals, range, result);
    if (start.skippedBytes !== undefined) return;
    const tellsDistinct =
      piles.hasDuplicates === true || (checkpoint !== undefined && settings.content?.isDistinct === true);
    const distinct = tellsDistinct ? textsOf(result.totals) : undefined;
    done({ first: range.first, end: range.end, regions, ends, distinct });
  };
  // The records of appended output must cover it from the start, without a gap.
  const take = takesTurns ? inOrder(takeOne, ({ start }: WriteRangeTask) => start.turn) : takeOne;
  // When tasks take turns, every task that is handed out must have a thread: the task whose turn it is must not wait.
  const concurrency = takesTurns ? threads.pool.threadCount : tasksAtOnce(threads);
  await withGroupCommit(commits, async () => {
    const ranges: PileRange[] = [];
    const isLeft = (pile: number) => isFinished[pile] !== 1 && isInPart(work.part, pile);
    for (const range of planRanges(work, isLeft, threads)) {
      if (totals.recordBytes.subarray(range.first, range.end).some((bytes) => bytes > 0)) ranges.push(range);
      else done({ first: range.first, end: range.end, regions: [], ends: undefined, distinct: undefined });
    }
    ranges.unshift(...rangeOfOpenMember(work, totalsOfFinished, finished));
    const placed = [...ranges, ...rangeAfterPart(work)];
    const starts = await findRangeStarts(work, threads, placed, finished, isFinished);
    const ends = findRangeEnds(work, placed, starts, finished);
    const tasks = ranges.map((range, i) => writeTask(work, range, starts[i], ends[i], starts[i + 1]));
    const write = (task: WriteRangeTask) => retryOnce(() => threads.pool.run('write', task), work.onWarning);
    await runTasks(tasks, write, take, concurrency, threads.stop);
  });
  return written;
}

/** The task that writes a range, from `start` on and up to `end` in the output. @param next undefined: none follows. */
function writeTask(
  work: ShuffleWork,
  range: PileRange,
  start: SinkStart | undefined,
  end: SinkEnd | undefined,
  next: SinkStart | undefined,
): WriteRangeTask {
  if (start === undefined) throw new RangeError(`the piles from ${range.first} on have no place in the output`);
  const { target, piles } = work;
  const { totals } = piles;
  const cuts = target.units;
  const units = cuts && unitsOfRange(cuts, range, totals);
  const readEnd = units === undefined ? range.end : endOfReading(range, units, totals);
  return {
    ...pilesTask(work, `range-${start.turn}`),
    range,
    expected: totalsOfRange(totals, range.first, readEnd),
    expectsDropped: piles.hasDuplicates === true,
    target: targetOf(target, range, start, totals),
    start: { ...start, isLast: next === undefined },
    end,
    lastCut: next === undefined || next.shard === start.shard ? undefined : cutAt(target.cuts, next.shard),
    units,
  };
}

/** The target, with no more cuts than the task needs. */
function targetOf(
  target: OutputTarget,
  { first, end, firstRank, firstByte }: PileRange,
  { shard }: SinkStart,
  { records, recordBytes }: PileTotals,
): OutputTarget {
  const [column, begin] = target.cuts.by === 'rank' ? [records, firstRank] : [recordBytes, firstByte];
  const endOfRange = column.subarray(first, end).reduce((sum, more) => sum + more, begin);
  return { ...target, cuts: cutsWithin(target.cuts, shard, endOfRange), units: undefined };
}

/** Ranges end with their stripe, so that it can be deleted early, except if each range may need a measurement. */
function planRanges(
  { piles, target, settings }: ShuffleWork,
  isLeft: (pile: number) => boolean,
  { pool }: Threads,
): PileRange[] {
  const { layout } = settings;
  const isStripeEnd = (pile: number) => pilesOfStripe(layout, stripeOfPile(layout, pile)).end === pile + 1;
  const mayHaveUnknownCuts = target.cuts.shardCount > 1 && !('starts' in target.cuts);
  const tellsStart = isCompressed(target) && (mayHaveUnknownCuts || piles.hasDuplicates === true);
  // A task that has one pile knows, when this is in order, how much it will write.
  if (target.kind === 'claimed' || tellsStart)
    return planPileRanges(
      piles.totals,
      0,
      () => true,
      (pile) => !isLeft(pile),
    );
  const units = target.units;
  if (units !== undefined) return planUnitRanges(piles.totals, units, pool.threadCount, (pile) => !isLeft(pile));
  const isPlaced = target.kind === 'placed';
  const evenBytes = piles.bytes / (FILE_RANGES_PER_THREAD * pool.threadCount);
  const mostBytes = isPlaced ? evenBytes : mostBytesOfAppended(target, pool.threadCount, evenBytes);
  const rangeBytes = Math.max(RANGE_BYTES, mostBytes);
  const isRangeEnd = isPlaced && mayHaveUnknownCuts ? () => false : isStripeEnd;
  return planPileRanges(piles.totals, rangeBytes, isRangeEnd, (pile) => !isLeft(pile));
}

function isCompressed(target: OutputTarget): boolean {
  return 'compression' in target && target.compression !== undefined;
}

/**
 * Returns the finished piles that have records after the last member of the output. Read once more, they begin the next one as
 * if the attempt had not ended.
 * @param written what the output has of finished piles, when it is complete.
 */
function rangeOfOpenMember(
  { target, piles: { totals } }: ShuffleWork,
  written: PileTotals,
  finished: readonly FinishedRange[],
): PileRange[] {
  if (!isCompressed(target)) return [];
  const end = finished.reduce((last, range) => Math.max(last, range.end), 0);
  let skippedBytes = recordBytesOf(finished.flatMap(({ regions }) => regions));
  let [firstRank, firstByte] = [0, 0];
  for (let first = 0; first < end; first++) {
    const bytes = written.recordBytes[first] ?? 0;
    if (skippedBytes < bytes) return [{ first, end, firstRank, firstByte, skippedBytes }];
    skippedBytes -= bytes;
    firstRank += totals.records[first] ?? 0;
    firstByte += totals.recordBytes[first] ?? 0;
  }
  return [];
}

/** Few shards that are sent wait for a turn, and what is not a full part at the end of a range is staged. */
function mostBytesOfAppended(target: OutputTarget, threadCount: number, evenBytes: number): number {
  if (target.transfers === undefined) return 0;
  const areMany = target.cuts.shardCount >= SHARDS_PER_THREAD * threadCount;
  return areMany ? Math.min(evenBytes, PARTS_OF_RANGE * target.transfers.partBytes) : 0;
}

/** The piles after the part: others write them, and nothing may be written over them. */
function rangeAfterPart({ part, piles }: ShuffleWork): PileRange[] {
  const { records, recordBytes } = piles.totals;
  if (part === undefined) return [];
  const isRest = recordBytes.subarray(part.end).some((bytes) => bytes > 0);
  if (!isRest || part.end <= part.first) return [];
  const sum = (column: Float64Array) => column.subarray(0, part.end).reduce((total, more) => total + more, 0);
  return [{ first: part.end, end: records.length, firstRank: sum(records), firstByte: sum(recordBytes) }];
}

/** A stripe is deleted when its output is durable, so that a power failure cannot lose it. */
function commitsOf(
  { settings }: ShuffleWork,
  { finished, output }: CheckpointRanges,
  stripes: StripeRemoval,
  { stop }: Threads,
): GroupCommit<FinishedRange> {
  let { noteCount: recordCount } = finished;
  return new GroupCommit(
    async (ranges) => {
      await output.makeDurable(ranges.flatMap((range) => range.regions));
      await writeFinishedRanges(settings.layout.indexDirectory, recordCount + 1, ranges);
      recordCount += 1;
      stripes.noted(ranges);
    },
    () => stop.request(),
  );
}

/** Compares what a task wrote with what its piles hold. The task does that, too; but its result may come from elsewhere. */
export function verifyRange(
  totals: PileTotals,
  { first, end }: Pick<PileRange, 'first' | 'end'>,
  result: WriteResult,
): void {
  for (let pile = first; pile < end; pile++) {
    const written = totalsOfPile(result.totals, pile - first);
    const found =
      result.dropped === undefined ? written : addRecordTotals(written, totalsOfPile(result.dropped, pile - first));
    requireSameTotals(pile, found, totalsOfPile(totals, pile));
  }
}

/** Returns what the output has of each pile: all of it, or what the ranges tell of their piles. */
function writtenTotals({ totals, hasDuplicates }: ScatteredPiles, ranges: readonly FinishedRange[]): PileTotals {
  const written = copyOfTotals(totals);
  for (const { first, distinct = [] } of ranges) {
    for (const [i, text] of distinct.entries()) {
      const pileTotals = totalsOfText(text);
      // The piles may be deleted: two notes tell the same, or neither is believed.
      if (hasDuplicates !== true && !areSameTotals(pileTotals, totalsOfPile(totals, first + i)))
        throw new StagedOutputError(`the unfinished job noted two different totals of pile ${first + i}`);
      setTotalsOfPile(written, first + i, pileTotals);
    }
  }
  return hasDuplicates === true ? requireWithinPiles(written, totals) : totals;
}

class StripeRemoval {
  readonly #layout: PileSetLayout;
  readonly #pileSets: readonly ScatteredPileSet[];
  readonly #isOn: boolean;
  readonly #pilesLeft: number[];
  readonly #hasMembers: boolean;
  /** Ranges that may have records of a member that is not written. */
  readonly #held: FinishedRange[] = [];

  /** @param isOn false: deletes no files, because the piles belong to a store. */
  constructor(layout: PileSetLayout, pileSets: readonly ScatteredPileSet[], isOn: boolean, hasMembers: boolean) {
    this.#hasMembers = hasMembers;
    this.#layout = layout;
    this.#pileSets = pileSets.filter((pileSet) => pileSet.diskBytes > 0);
    this.#isOn = isOn;
    this.#pilesLeft = Array.from({ length: layout.stripeCount }, (_, stripe) => {
      const { first, end } = pilesOfStripe(layout, stripe);
      return end - first;
    });
  }

  /** Call this when the piles are verified, and their output is as durable as the job promises. */
  pilesDone({ first, end }: Pick<PileRange, 'first' | 'end'>): void {
    for (let pile = first; pile < end; pile++) {
      const stripe = stripeOfPile(this.#layout, pile);
      const left = (this.#pilesLeft[stripe] ?? 0) - 1;
      this.#pilesLeft[stripe] = left;
      if (left === 0 && this.#isOn) this.#remove(stripe);
    }
  }

  /** Call this when a later attempt would find these ranges, in their order. */
  noted(ranges: readonly FinishedRange[]): void {
    for (const range of ranges) {
      if (!this.#hasMembers) this.pilesDone(range);
      else {
        if (recordBytesOf(range.regions) > 0) for (const held of this.#held.splice(0)) this.pilesDone(held);
        this.#held.push(range);
      }
    }
  }

  #remove(stripe: number): void {
    for (const { name } of this.#pileSets) {
      for (let disk = 0; disk < this.#layout.disks.length; disk++)
        removeFile(dataFilePath(this.#layout, name, stripe, disk), 'temp');
    }
  }
}
