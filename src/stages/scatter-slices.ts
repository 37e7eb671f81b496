/**
 * The scatter pass: inputs become pile sets, one task a slice. A task is a pure function of the work and the number of
 * its slice (`scatterTask`); this pass runs the tasks on threads of this process. At the end, the tasks must have read
 * every byte of every input once, and the piles must hold as many bytes.
 */

import { randomBytes } from 'node:crypto';
import { HeadLimit } from '../../workers/piles/head-limit.js';
import type { ScatterSettings } from '../../workers/settings.js';
import type { ScatterResult, ScatterTask } from '../../workers/tasks/scatter-slice.js';
import { RecordOverMemoryError, VerificationError, WindowOverMemoryError } from '../errors.js';
import { afterFailure } from '../floor/cleanup.js';
import type { KeyRule } from '../floor/keys.js';
import type { List } from '../floor/paged-list.js';
import { removeFile } from '../io/files.js';
import { NameTakenError } from '../io/rename-and-sync.js';
import {
  commitIndex,
  commitPileSets,
  committedIndexPath,
  type PileSetOfSlice,
  pileSetName,
} from '../job-directory/pile-set-commits.js';
import { type HeadPlan, largestKeyWith } from '../keep/head.js';
import { type PileSetLayout, pileSetFiles, roleOf } from '../piles/pile-layout.js';
import { areSameTotals, checksumTextOf, sumOverPiles } from '../piles/pile-totals.js';
import { retiredBytes, retireParts, takenBytes } from '../piles/ram-pool.js';
import type { Slice } from '../plan/slices.js';
import { type Inputs, storedBytesIn } from '../sources/input.js';
import { announceReadingOrder, inputPart, madeOf, type ReadableInputs, readBytesOf } from '../sources/input-part.js';
import { type CheckpointPileSets, readCommittedSlices, removeLeftovers, sizeOfJob } from './committed-slices.js';
import { missingBytesError } from './coverage-check.js';
import { GroupCommit, withGroupCommit } from './group-commit.js';
import { type Pass1Facts, Pass1Results } from './pass1-results.js';
import { retryOnce, runTasks, tasksAtOnce } from './run-tasks.js';
import type { ScatteredPiles } from './shuffle-work.js';
import { findStartStates, type StartStateOf } from './start-states.js';
import type { Threads } from './threads.js';

type ScatterHead = Pick<HeadPlan, 'records' | 'zeroBits'>;

export interface ScatterWork extends ReadableInputs {
  readonly slices: List<Slice>;
  /** The generator key of an input. */
  readonly keyOf: (inputOrdinal: number) => bigint;
  readonly settings: ScatterSettings;
  /** The source of the keys of records; absent: their positions in bytes. */
  readonly keys?: KeyRule;
  /** Leaves out records that cannot be among the first. Absent: all go on piles. */
  readonly head?: ScatterHead | undefined;
  /** Part of the names of pile sets, that no other attempt at the job has. */
  readonly attempt: string;
  readonly onWarning: (line: string) => void;
  /** True if a second scatter makes pile sets of piles, whose slices are numbered on. Absent: no. */
  readonly isFirstOfTwo?: boolean | undefined;
}

export interface ScatterOutcome {
  readonly piles: ScatteredPiles;
  readonly found: Pass1Facts;
  /** How many pile sets an earlier attempt at the job had committed. */
  readonly resumedCount: number;
  /** The pile sets of a second scatter that it had committed, by their place after the slices of inputs. */
  readonly ofPiles: readonly (ScatterResult | undefined)[];
}

/**
 * Scatters all slices that have no pile set yet. If the plan of a head expected far more records than there are, the pass
 * may leave out too much. Then the inputs are read again.
 * @param checkpoint undefined: the caller commits all pile sets together, or removes them when the job ends.
 */
export async function scatterInputs(
  work: ScatterWork,
  threads: Threads,
  checkpoint: CheckpointPileSets | undefined,
): Promise<ScatterOutcome> {
  const { control } = threads;
  const { layout, ramPool } = work.settings;
  const gathered = new Pass1Results(work, layout.pileCount, ramPool?.linear !== undefined);
  const ofPiles: ScatterResult[] = [];
  const resumedCount = checkpoint === undefined ? 0 : await takeOver(work, checkpoint, gathered, ofPiles, threads);
  const before = await findStartStates(work, threads, (slice) => gathered.has(slice));
  const left = Array.from({ length: work.slices.length }, (_, slice) => slice).filter((slice) => !gathered.has(slice));
  const take = (result: ScatterResult, slice: number) => {
    gathered.add(slice, result);
    control.count('finishedSlices', 1);
  };
  await scatterSlices(work, threads, left, before, fateInOneProcess(layout, checkpoint, take));
  const piles = gathered.piles();
  const { head } = work;
  const mayLack = head !== undefined && head.zeroBits > 0 && gathered.leftOut.records > 0;
  if (!mayLack || piles.records >= head.records)
    return { piles: { ...piles, keyScale: head && keyScaleOf(head) }, found: gathered, resumedCount, ofPiles };
  for (const { name } of piles.pileSets) removePileSet(layout, name);
  control.count('scatteredBytes', -control.counted('scatteredBytes'));
  const attempt = randomBytes(4).toString('hex');
  return scatterInputs({ ...work, attempt, head: { ...head, zeroBits: 0 } }, threads, checkpoint);
}

type DoneSlice = ScatterResult & PileSetOfSlice;
export type TakeSlice = (result: ScatterResult, slice: number) => void;

/** The fate of the slices that a pass has scattered. */
export interface SliceFate {
  /** Gets the result of each slice once. */
  readonly take?: TakeSlice;
  /**
   * Gives the index of a slice, when its files are durable, the name by which others know that the slice is done.
   * Undefined: the caller commits all slices together.
   */
  readonly giveName: ((done: DoneSlice) => void | Promise<void>) | undefined;
  /**
   * Gets what fails when a pass has failed and the files of slices that are not done are removed. Absent: they stay for
   * a later attempt, which removes them.
   */
  readonly warn?: (error: unknown) => void;
}

/** Returns the fate of slices in a job that meets no other attempt. @param checkpoint as `scatterInputs` has it. */
export function fateInOneProcess(
  layout: PileSetLayout,
  checkpoint: CheckpointPileSets | undefined,
  take: TakeSlice,
): SliceFate {
  if (checkpoint === undefined) return { take, giveName: undefined };
  const named = (result: ScatterResult, slice: number) => {
    const index = { path: committedIndexPath(layout.indexDirectory, slice) };
    take({ ...result, pileSet: { ...result.pileSet, index } }, slice);
  };
  return { take: named, giveName: (done) => commitIndex(layout, done) };
}

/** Scatters slices of inputs, and commits each when it is done. */
export function scatterSlices(
  work: ScatterWork,
  threads: Threads,
  slices: readonly number[],
  before: StartStateOf,
  fate: SliceFate,
): Promise<void> {
  const scatter = (take: TakeSlice) => scatterAll(withHeadLimit(work), threads, slices, before, take);
  return committingEach(work, threads, slices, fate, scatter);
}

/** Has `scatter` do these slices, and commits each as soon as it is taken. */
export async function committingEach(
  { settings: { layout }, attempt }: { readonly settings: Pick<ScatterSettings, 'layout'>; readonly attempt: string },
  { pool, control, stop }: Threads,
  slices: readonly number[],
  { take, giveName, warn }: SliceFate,
  scatter: (take: TakeSlice) => Promise<void>,
): Promise<void> {
  // A link that fails may have been made all the same: its files must stay.
  const mayBeNamed = new Set<number>();
  const commit = (slicesDone: readonly DoneSlice[]) =>
    commitPileSets(slicesDone, layout, control, (done) => {
      mayBeNamed.add(done.slice);
      return giveName?.(done);
    });
  const commits = giveName && new GroupCommit(commit, () => stop.request());
  const done = (result: ScatterResult, slice: number) => {
    take?.(result, slice);
    commits?.add({ ...result, slice });
  };
  try {
    await withGroupCommit(commits, () => scatter(done));
  } catch (error) {
    if (warn === undefined) throw error;
    // No thread may make a file of this attempt after the removal.
    await pool.destroy();
    for (const slice of slices) {
      try {
        if (!mayBeNamed.has(slice)) removePileSet(layout, pileSetName(slice, attempt));
      } catch (failure) {
        warn(failure);
      }
    }
    throw error;
  }
}

/** Gives the index of a slice its name, unless another attempt was first: then its pile set stands, and must be the same. */
export async function publishIfFirst(
  layout: PileSetLayout,
  own: DoneSlice,
  readFirst: (slice: number) => Promise<ScatterResult>,
): Promise<void> {
  const { slice, pileSet } = own;
  try {
    commitIndex(layout, own);
  } catch (error) {
    if (!(error instanceof NameTakenError)) throw error;
    const first = await readFirst(slice);
    // A link that fails may have been made all the same.
    if (first.pileSet.name === pileSet.name) return;
    requireSame(slice, own, first);
    removePileSet(layout, pileSet.name);
  }
}

function requireSame(slice: number, own: ScatterResult, first: ScatterResult): void {
  // Which records cannot be in the head depends on those that were read before.
  if ([own, first].some(({ leftOut }) => leftOut !== undefined && leftOut.records > 0)) return;
  const [a, b] = [sumOverPiles(own.totals), sumOverPiles(first.totals)];
  if (areSameTotals(a, b)) return;
  throw new VerificationError(
    `two attempts at slice ${slice} found different records: ${a.records} with the checksum ${checksumTextOf(a.checksum)}, and ${b.records} with ${checksumTextOf(b.checksum)}; check the inputs and the memory of both machines`,
  );
}

/**
 * Scatters slices. A record, or the window of a decoder, may find no room beside what other threads hold, although it
 * fits the budget. Such a slice is set aside and scattered again when the threads have ended, which frees their memory:
 * by half as many threads, and in the end by one. Throws what does not fit even then.
 * @param take gets the result of each slice once.
 */
async function scatterAll(
  work: ScatterWork,
  threads: Threads,
  slices: readonly number[],
  before: StartStateOf,
  take: (result: ScatterResult, slice: number) => void,
): Promise<void> {
  const { pool, stop } = threads;
  const { threadCount } = pool;
  let { settings } = work;
  let left = slices;
  for (let isFirst = true; ; isFirst = false) {
    const setAside: number[] = [];
    let noRoom: unknown;
    const scatter = (slice: number) => {
      const task = scatterTask({ ...work, settings }, slice, before);
      const run = () => scatterVerified(task, threads, work.onWarning);
      return undefinedIfNoRoom(task, run, (error) => {
        noRoom ??= error;
      });
    };
    const takeOrSetAside = (result: ScatterResult | undefined, slice: number) => {
      if (result === undefined) setAside.push(slice);
      else take(result, slice);
    };
    await announceReadingOrder(work, left);
    await runTasks(left, scatter, takeOrSetAside, tasksAtOnce(threads), stop);
    if (setAside.length === 0) break;
    if (!isFirst && pool.threadCount === 1 && setAside.length === left.length) throw noRoom;
    left = setAside;
    await restartThreads(threads, settings, Math.ceil(pool.threadCount / 2), left.length);
    settings = withFreshHeadLimit(settings);
  }
  if (pool.threadCount !== threadCount) await restartThreads(threads, settings, threadCount, slices.length);
}

/** Ends the threads, and starts new ones. All memory that the pool of segments does not hold is free again. */
async function restartThreads(
  { pool, control }: Pick<Threads, 'pool' | 'control'>,
  { ramPool, memoryNeed, arenaBytes }: ScatterSettings,
  threadCount: number,
  taskCount: number,
): Promise<void> {
  await pool.restart(threadCount);
  if (ramPool !== undefined) retireParts(ramPool, arenaBytes);
  const poolBytes = ramPool === undefined ? 0 : takenBytes(ramPool);
  // The last thread gets all that the plan promises for one record, although retired parts hold some of it.
  const asideBytes = ramPool === undefined || threadCount === 1 ? 0 : retiredBytes(ramPool);
  const arenasBytes = Math.min(pool.threadCount, taskCount) * arenaBytes;
  control.setSpare(Math.max(0, memoryNeed.budgetBytes - poolBytes - asideBytes - arenasBytes));
}

/** @returns undefined: the task has found no room, and leaves nothing behind. */
async function undefinedIfNoRoom(
  task: ScatterTask,
  run: () => Promise<ScatterResult>,
  onNoRoom: (error: unknown) => void,
): Promise<ScatterResult | undefined> {
  try {
    return await run();
  } catch (error) {
    const hasNoRoom = error instanceof RecordOverMemoryError || error instanceof WindowOverMemoryError;
    // A stream cannot be read again.
    if (!hasNoRoom || task.parts.some(({ kind }) => kind === 'stream')) throw error;
    removePileSet(task.job.layout, task.pileSetName);
    onNoRoom(error);
    return undefined;
  }
}

/**
 * Returns settings with the same limit, on which no records count yet: those of a slice that is read again would count
 * twice.
 */
function withFreshHeadLimit(settings: ScatterSettings): ScatterSettings {
  if (settings.headLimit === undefined) return settings;
  return { ...settings, headLimit: HeadLimit.create(new HeadLimit(settings.headLimit)) };
}

function scatterTask(work: ScatterWork, slice: number, before: StartStateOf): ScatterTask {
  const { settings, attempt, keyOf } = work;
  const parts = (work.slices.at(slice) ?? []).map((part) => {
    const { count, records } = before(part);
    return inputPart(work, part, keyOf(part.inputOrdinal), count, records);
  });
  return { job: settings, pileSetName: pileSetName(slice, attempt), parts };
}

/** Has a thread scatter a slice of inputs, and once more if the result is wrong. A stream cannot be read again. */
async function scatterVerified(task: ScatterTask, { pool }: Threads, onWarning: (line: string) => void) {
  let tries = 0;
  const run = () => {
    tries += 1;
    return pool.run('scatter', tries === 1 ? task : { ...task, job: withFreshHeadLimit(task.job) });
  };
  if (task.parts.some(({ kind }) => kind === 'stream')) return requireScattered(await run());
  return takeVerified(task.job.layout, task.pileSetName, run, onWarning);
}

/** Runs a task that makes a pile set, and once more if the result is wrong. */
export function takeVerified(
  layout: PileSetLayout,
  name: string,
  run: () => Promise<ScatterResult>,
  onWarning: (line: string) => void,
): Promise<ScatterResult> {
  const orMakeWay = async () => {
    try {
      return requireScattered(await run());
    } catch (error) {
      // The next try takes the same name.
      throw error instanceof VerificationError ? afterFailure(error, () => removePileSet(layout, name)) : error;
    }
  };
  return retryOnce(orMakeWay, onWarning);
}

/** The piles must hold as many bytes as were read, and as many records where these are known. */
function requireScattered(result: ScatterResult): ScatterResult {
  for (const part of result.coverage) {
    const weighedBytes = part.weighed?.made?.readBytes ?? readBytesOf(part);
    if (weighedBytes !== readBytesOf(part)) throw missingBytesError(weighedBytes, readBytesOf(part));
  }
  const readBytes = result.coverage.reduce((sum, part) => sum + madeOf(part).bytes, 0);
  const totals = sumOverPiles(result.totals);
  const takenBytes = totals.bytes + (result.leftOut?.bytes ?? 0);
  if (takenBytes !== readBytes) throw missingBytesError(takenBytes, readBytes);
  if (result.coverage.every(({ weighed }) => weighed === undefined)) return result;
  const takenRecords = totals.records + (result.leftOut?.records ?? 0);
  const records = result.coverage.reduce((sum, part) => sum + madeOf(part).records, 0);
  if (takenRecords === records) return result;
  throw new VerificationError(
    `pass 1 put ${takenRecords} records on the piles, expected ${records} with all copies; check the memory of this machine`,
  );
}

/** The pile set may be incomplete. */
function removePileSet(layout: PileSetLayout, name: string): void {
  for (const path of pileSetFiles(layout, name)) removeFile(path, roleOf(layout));
}

/** Takes over the committed pile sets of an earlier attempt, and removes its other files. @returns the number of pile sets. */
async function takeOver(
  work: ScatterWork,
  { isStripeDone }: CheckpointPileSets,
  gathered: Pass1Results,
  ofPiles: ScatterResult[],
  { control }: Threads,
): Promise<number> {
  const { slices, inputs, settings, onWarning: onDamage, isFirstOfTwo = false } = work;
  const { layout } = settings;
  const names = new Set<string>();
  const size = sizeOfJob(work, isFirstOfTwo ? Number.POSITIVE_INFINITY : 0);
  for await (const { slice, result } of readCommittedSlices({ layout, size, isStripeDone, onDamage, control })) {
    names.add(result.pileSet.name);
    if (slice >= slices.length) {
      ofPiles[slice - slices.length] = result;
      continue;
    }
    gathered.add(slice, result);
    const storedBytes = storedBytesOf(slices.at(slice) ?? [], inputs);
    control.count('scatteredBytes', storedBytes);
    control.count('resumedBytes', storedBytes);
  }
  removeLeftovers(layout, names);
  return names.size;
}

export function storedBytesOf(slice: Slice, inputs: Inputs): number {
  return slice.reduce((sum, { inputOrdinal, start, end, members }) => {
    const input = inputs.at(inputOrdinal);
    const last = end ?? (input && storedBytesIn(input)) ?? start;
    return sum + (members === undefined ? last - start : members.storedEnd - members.storedStart);
  }, 0);
}

function withHeadLimit(work: ScatterWork): ScatterWork {
  const { head, settings } = work;
  if (head === undefined) return work;
  const headLimit = HeadLimit.create({ records: head.records, largestKey: largestKeyWith(head.zeroBits) });
  return { ...work, settings: { ...settings, headLimit, keyScale: keyScaleOf(head) } };
}

/** The piles share the keys up to the first limit. */
function keyScaleOf({ zeroBits }: ScatterHead): bigint {
  return 2n ** BigInt(zeroBits);
}
