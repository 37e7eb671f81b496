/**
 * Divides the memory budget: the number of piles, the size of a pile buffer, the number of workers and the bytes that
 * stay in memory. Pure.
 *
 * With a budget B, W workers, pile buffers of b bytes and N bytes to store, one level of piles needs
 *
 *     pass 1   M * (b + 96) + windows          <= B / W       (M pile buffers with slack and tally)
 *     pass 2   (N / M) * c + output buffers    <= B / W       (c: sort entries and skew on top)
 *
 * so N is at most about (B / W)^2 / (b * c). When the data is larger than that even with the smallest useful buffers,
 * the plan tries fewer workers, down to half of them. Beyond that, piles are too large to load, and pass 2 scatters
 * each of them again by the next part of its keys: in two levels, or as many as it takes.
 *
 * When everything fits, a pool of R bytes holds the segments in memory: R + W * arena <= B.
 *
 * Memory outside the arenas is spare: the pool and longer read windows draw from it as they grow. So a record longer
 * than planned sends segments to disk, and the job does not fail.
 */
import { UsageError } from '../errors.js';
import { MEMBER_BYTES } from '../floor/relay.js';
import { MOST_STRIPES } from '../piles/pile-layout.js';
import {
  LARGEST_ARENA_BYTES,
  OUTPUT_BUFFER_COUNT,
  pass1ArenaBytesOf,
  pass2ArenaBytesOf,
  SLACK_BYTES,
  storedByteCost,
  storedHeaderBytes,
  TALLY_BYTES,
} from './arena-sizes.js';
import { callerMemoryOf, type GivenMemory, leastMemoryWith } from './given-memory.js';
import {
  divideInMemory,
  dividePiles,
  IN_MEMORY,
  leastShareForLayout,
  ON_DISK,
  ON_ROTATING_DISK,
  type PileDivision,
  type PileSizes,
} from './pile-division.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The most files that a slice creates on many disks; more only to reach the fewest stripes wanted. */
const FILES_OF_SLICE = 64;
const FEWEST_STRIPES_WANTED = 4;
/** The smallest budget with which a worker can do useful work. */
export const SMALLEST_SHARE_BYTES = 4 * MIB;

/** The calling thread ends work of this size before two threads have started. */
export const INLINE_BYTES = 8 * MIB;

/** Sizes that tests shrink to make rare paths common. Users have no need to set them. */
export interface Tuning {
  readonly readBytes?: number;
  readonly outputBytes?: number;
  readonly memberBytes?: number;
  readonly sliceBytes?: number;
  readonly pileCount?: number;
  readonly bufferBytes?: number;
  readonly stripeCount?: number;
  /** The fixed size of a worker's arena in pass 2; a small arena forces piles to be scattered again. */
  readonly pass2ArenaBytes?: number;
  /** True if segments may stay in memory. */
  readonly mayUseRamPool?: boolean;
  /** True if the calling thread does a small job itself. */
  readonly inline?: boolean;
  /** The most bytes of an output that the commit of a job of tasks reads back itself. */
  readonly commitReadBytes?: number;
  /** The least size of the parts in which objects leave this machine. */
  readonly partBytes?: number;
}

export interface MemoryNeed extends GivenMemory {
  readonly workers: number;
  /** The most tasks that pass 1 can have: one for each input when no input can be cut. */
  readonly mostSlices: number;
  /** Estimated bytes of all records; a guess when `exact` is false. */
  readonly recordBytes: number;
  /** Bytes of the inputs at most, where weights make more or fewer records of them. Absent: `recordBytes`. */
  readonly mostReadBytes?: number | undefined;
  readonly meanRecordBytes: number;
  /** True if `recordBytes` is the true size (plain regular files). */
  readonly exact: boolean;
  readonly hasStreams: boolean;
  readonly tempDiskCount: number;
  /** True if a temp disk moves a head between two reads. */
  readonly tempDisksRotate: boolean;
  readonly openFileLimit: number;
  /** True if the work of the job must outlive its process: then segments stay in memory only if all are sure to fit. */
  readonly isResumable: boolean;
  /** True if output of pass 2 may have to wait in memory, as compressed output does. */
  readonly outputWaits: boolean;
  /** The bytes that a thread needs for a page of each column, about. Absent: there are no columns. */
  readonly columnBytes?: number | undefined;
  /** The most entries, as log2, of each table with which a long page is compressed. Absent: such tables are small. */
  readonly tableLogs?: readonly number[] | undefined;
  /** The piles that exist already, of an unfinished job or a store. */
  readonly layout: PileDivision | undefined;
  /** True if stored records have second keys, as the layout says. Absent: they have none. */
  readonly hasSecondKeys?: boolean | undefined;
  /** The bytes of other tables in an arena of pass 1. Absent: there are none. */
  readonly tableBytes?: number | undefined;
  /** Set if a pass reads the inputs and makes no piles: the only one, or the first. Absent: no pass does. */
  readonly reads?: 'only' | 'first' | undefined;
  /** The need if the job were not so large that it is resumable without being asked: more memory may make it small. */
  readonly unlessLarge?: MemoryNeed;
}

export interface MemoryPlan {
  readonly workers: number;
  readonly pileCount: number;
  readonly stripeCount: number;
  readonly bufferBytes: number;
  readonly readBytes: number;
  readonly outputBytes: number;
  /** The bytes after which a compressed member ends with the next record. */
  readonly memberBytes: number;
  /** The size of one worker's arena in pass 1 when no record is longer than the read window. */
  readonly pass1ArenaBytes: number;
  /** The part of the budget beside the arenas of pass 1: for the memory pool and longer windows. */
  readonly pass1SpareBytes: number;
  /** The planned size of one worker's arena in pass 2, at least its size in pass 1. */
  readonly pass2ArenaBytes: number;
  /** True if arenas of pass 2 may take spare memory. */
  readonly pass2MayGrow: boolean;
  /** The most bytes that the memory pool may take; 0: all segments go to disk. */
  readonly ramPoolBytes: number;
  /** True if some segment may have to go to disk, as far as the plan knows. */
  readonly maySpill: boolean;
  /** Bytes that the pile sets will take, as far as the plan knows. */
  readonly storedBytes: number;
  /** The bytes that a thread needs beside its arena for pages of columns; 0: there are no columns. */
  readonly columnBytes: number;
  readonly tableLogs?: readonly number[] | undefined;
}

/** The part of the budget for compressed output that waits for its turn: about a third of each pile, compressed. */
const WAITING_OUTPUT_SHARE = 1 / 8;
/**
 * The share of rows that wait: all pages of a row group wait for the last one, and what finds no room goes to a temp
 * disk.
 */
const WAITING_ROWS_SHARE = 3 / 8;
/** The size of a table is known about. One of so many budgets does not fit in memory, so no part of it stays there. */
const TABLE_BEYOND_MEMORY = 2;
/** The part that pages of columns may have. Where they need more, there are fewer threads. */
const MOST_COLUMNS_SHARE = 1 / 2;

export function planMemory(need: MemoryNeed, tuning: Tuning = {}): MemoryPlan {
  const { budgetBytes, layout, columnBytes = 0, tableLogs } = need;
  if (!need.outputWaits && columnBytes === 0) return planArenas(need, tuning);
  const mostForColumns = budgetBytes * MOST_COLUMNS_SHARE;
  const workers = columnBytes === 0 ? need.workers : clampWhole(mostForColumns / columnBytes, need.workers);
  const waitingShare = columnBytes === 0 ? WAITING_OUTPUT_SHARE : WAITING_ROWS_SHARE;
  const wantedBytes =
    Math.min(workers * columnBytes, mostForColumns) + (need.outputWaits ? budgetBytes * waitingShare : 0);
  const neededBytes = Math.max(SMALLEST_SHARE_BYTES, layout === undefined ? 0 : leastShareForLayout(layout));
  const setAside = Math.max(0, Math.floor(Math.min(wantedBytes, budgetBytes - neededBytes)));
  const plan = planArenas({ ...need, workers, budgetBytes: budgetBytes - setAside }, tuning);
  return { ...plan, pass1SpareBytes: plan.pass1SpareBytes + setAside, columnBytes, ...(tableLogs && { tableLogs }) };
}

function clampWhole(count: number, most: number): number {
  return Math.max(1, Math.min(Math.floor(count), most));
}

function planArenas(need: MemoryNeed, tuning: Tuning): MemoryPlan {
  const { budgetBytes, layout } = need;
  const recordCount = need.recordBytes / need.meanRecordBytes;
  const storedBytes = need.recordBytes + storedHeaderBytes(need) * recordCount;
  const perStoredByte = storedByteCost(need.meanRecordBytes);
  const diskLimits = need.tempDisksRotate ? ON_ROTATING_DISK : ON_DISK;
  const affordableWorkers = Math.floor(budgetBytes / SMALLEST_SHARE_BYTES);
  if (affordableWorkers < 1) {
    throw new UsageError(
      `a memory budget of ${callerMemoryOf(need)} bytes is too small: expected at least ${leastMemoryWith(SMALLEST_SHARE_BYTES, need) / MIB}M; give more with \`memoryBytes\``,
      'ERR_MEMORY_BUDGET',
    );
  }
  // A thread has up to eight files of its own and, with a single stripe, one data file on each temp disk.
  const openableWorkers = Math.floor((need.openFileLimit - 48) / (8 + need.tempDiskCount));
  const mostWorkers = Math.max(
    1,
    Math.min(
      need.workers,
      affordableWorkers,
      openableWorkers,
      layout === undefined ? Number.POSITIVE_INFINITY : workersForLayout(layout, need),
    ),
  );

  const { tableBytes } = need;
  const makesMembers = need.outputWaits && need.columnBytes === undefined;
  const common = { workers: mostWorkers, tableBytes, makesMembers };
  const onDisk = { ...diskLimits, diskCount: need.tempDiskCount, ...common };
  const inMemory = { ...IN_MEMORY, diskCount: 1, ...common };

  const wantedPool = storedBytes * 1.02 + (mostWorkers + 1) * 2 * MIB;
  const fitting = divideInMemory(storedBytes, wantedPool, budgetBytes, perStoredByte, inMemory);
  // A job that starts in memory and spills could not be resumed.
  const isBeyond = (need.columnBytes ?? 0) > 0 && storedBytes > TABLE_BEYOND_MEMORY * budgetBytes;
  const mayFit = layout === undefined && (need.exact ? fitting !== undefined : !need.isResumable && !isBeyond);

  if (mayFit && tuning.mayUseRamPool !== false) {
    const ramPoolBytes = need.exact ? wantedPool : Math.max(0, budgetBytes / 2 - 2 * MIB);
    const share = (budgetBytes - ramPoolBytes) / mostWorkers;
    const sizes = fitting ?? dividePiles(storedBytes, share, perStoredByte, onDisk);
    return finish(sizes, mostWorkers, share, ramPoolBytes, !need.exact, storedBytes, need, tuning);
  }

  let workers = mostWorkers;
  let sizes = dividePiles(storedBytes, budgetBytes / workers, perStoredByte, onDisk, layout);
  for (let fewer = workers - 1; !sizes.oneLevel && fewer >= Math.ceil(mostWorkers / 2); fewer--) {
    const roomier = dividePiles(storedBytes, budgetBytes / fewer, perStoredByte, onDisk, layout);
    if (roomier.oneLevel) {
      workers = fewer;
      sizes = roomier;
    }
  }
  return finish(sizes, workers, budgetBytes / workers, 0, true, storedBytes, need, tuning);
}

/** The most workers that the budget and the file limit allow for existing piles. */
function workersForLayout(layout: PileDivision, need: MemoryNeed): number {
  const { pileCount, stripeCount } = layout;
  const shareBytes = leastShareForLayout(layout);
  if (need.budgetBytes < shareBytes) {
    throw new UsageError(
      `a memory budget of ${callerMemoryOf(need)} bytes is too small for the ${pileCount} existing piles: expected at least ${leastMemoryWith(shareBytes, need) / MIB}M; give more with \`memoryBytes\``,
      'ERR_MEMORY_BUDGET',
    );
  }
  const filesOfWorker = 8 + 2 * stripeCount * Math.max(1, need.tempDiskCount);
  return Math.floor(Math.min(need.budgetBytes / shareBytes, Math.max(1, (need.openFileLimit - 48) / filesOfWorker)));
}

function finish(
  sizes: PileSizes,
  workers: number,
  share: number,
  ramPoolBytes: number,
  maySpill: boolean,
  storedBytes: number,
  need: MemoryNeed,
  tuning: Tuning,
): MemoryPlan {
  const pileCount = need.layout?.pileCount ?? tuning.pileCount ?? sizes.pileCount;
  const bufferBytes = tuning.bufferBytes ?? sizes.bufferBytes;
  const readBytes = tuning.readBytes ?? sizes.readBytes;
  const pass1ArenaBytes = Math.ceil(pass1ArenaBytesOf({ ...sizes, pileCount, bufferBytes, readBytes }));
  const wanted = pass2ArenaBytesOf(sizes, storedBytes, storedByteCost(need.meanRecordBytes));
  const pass2ArenaBytes = Math.max(Math.floor(Math.min(share, wanted, LARGEST_ARENA_BYTES)), pass1ArenaBytes);
  return {
    workers,
    pileCount,
    stripeCount: need.layout?.stripeCount ?? Math.min(tuning.stripeCount ?? planStripes(need, workers), pileCount),
    bufferBytes,
    readBytes,
    outputBytes: tuning.outputBytes ?? sizes.outputBytes,
    memberBytes: tuning.memberBytes ?? MEMBER_BYTES,
    pass1ArenaBytes,
    pass1SpareBytes: Math.max(0, need.budgetBytes - Math.min(workers, need.mostSlices) * pass1ArenaBytes),
    pass2ArenaBytes: tuning.pass2ArenaBytes ?? pass2ArenaBytes,
    pass2MayGrow: tuning.pass2ArenaBytes === undefined,
    ramPoolBytes: Math.floor(ramPoolBytes),
    maySpill: tuning.mayUseRamPool === false || maySpill,
    storedBytes,
    columnBytes: 0,
  };
}

/**
 * Stripes bound the disk space of temp data and output together to (1 + 1/S) times the data. Each stripe costs every
 * worker one open file a disk, and every slice one file a disk to create, sync and remove.
 */
function planStripes(need: MemoryNeed, workers: number): number {
  const diskCount = Math.max(1, need.tempDiskCount);
  const filesForStripes = Math.max(0, need.openFileLimit - 48 - 8 * workers) / 2;
  const wanted = Math.max(FEWEST_STRIPES_WANTED, Math.min(Math.floor(FILES_OF_SLICE / diskCount), MOST_STRIPES));
  return Math.max(1, Math.min(Math.floor(filesForStripes / (workers * diskCount)), wanted));
}

/** The parts of the budget in pass 1, in all threads together. They add up to the budget. */
export interface MemoryOfPass1 {
  /** One buffer a pile, of each thread. */
  readonly pileBufferBytes: number;
  /** The bytes that a thread reads at a time. */
  readonly readWindowBytes: number;
  readonly tableBytes: number;
  /** The most bytes of piles that stay in memory. */
  readonly poolBytes: number;
  /** The bytes that transfers hold. */
  readonly transferBytes: number;
  /** The bytes for long records, decoders, and more data than expected. */
  readonly spareBytes: number;
}

/** The parts of the budget in pass 2, in all threads together. */
export interface MemoryOfPass2 {
  readonly outputBufferBytes: number;
  /** Loaded piles with their sort entries. */
  readonly pileBytes: number;
  readonly poolBytes: number;
  readonly transferBytes: number;
  readonly spareBytes: number;
}

export function memoryOfPass1(
  plan: MemoryPlan,
  { mostSlices, ...given }: GivenMemory & Pick<MemoryNeed, 'mostSlices'>,
): MemoryOfPass1 {
  const threads = Math.min(plan.workers, mostSlices);
  const pileBufferBytes = threads * plan.pileCount * (plan.bufferBytes + SLACK_BYTES);
  const readWindowBytes = threads * 2 * plan.readBytes;
  const tableBytes = Math.max(0, threads * plan.pass1ArenaBytes - pileBufferBytes - readWindowBytes);
  const sizes = {
    pileBufferBytes,
    readWindowBytes,
    tableBytes: Math.max(tableBytes, threads * plan.pileCount * TALLY_BYTES),
    poolBytes: plan.ramPoolBytes,
    transferBytes: given.transfers?.byteLength ?? 0,
  };
  return { ...sizes, spareBytes: restOf(callerMemoryOf(given), sizes) };
}

export function memoryOfPass2(plan: MemoryPlan, given: GivenMemory): MemoryOfPass2 {
  const { workers, ramPoolBytes: poolBytes } = plan;
  const outputBufferBytes = workers * OUTPUT_BUFFER_COUNT * plan.outputBytes;
  const pileBytes = Math.max(0, workers * plan.pass2ArenaBytes - outputBufferBytes);
  const sizes = { outputBufferBytes, pileBytes, poolBytes, transferBytes: given.transfers?.byteLength ?? 0 };
  return { ...sizes, spareBytes: restOf(callerMemoryOf(given), sizes) };
}

/** Sizes that tests set may be more than the budget. */
function restOf(budgetBytes: number, sizes: Readonly<Record<string, number>>): number {
  return Math.max(0, budgetBytes - Object.values(sizes).reduce((sum, bytes) => sum + bytes, 0));
}
