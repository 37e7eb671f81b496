/**
 * Divides the memory budget: how many piles, how large a pile buffer, how many workers, how much
 * stays in memory. Pure.
 *
 * With a budget B, W workers, pile buffers of b bytes and N bytes to store, one level of piles needs
 *
 *     pass 1   M * (b + 96) + windows          <= B / W       (M pile buffers with slack and tally)
 *     pass 2   (N / M) * c + output buffers    <= B / W       (c: sort entries and skew on top)
 *
 * so N <= (B / W)^2 / (b * c), about. When the data is larger than that with the smallest buffers
 * worth having, fewer workers are tried down to half of them; beyond that piles are too large to
 * load and pass 2 splits each by the next part of its keys: two levels, or as many as it takes.
 *
 * When everything fits, a pool of R bytes keeps the segments in memory: R + W * arena <= B.
 *
 * What the arenas do not take is spare: the pool and longer read windows draw from it as they grow, so
 * that a record longer than planned pushes segments out to disk rather than ending the job.
 */
import { UsageError } from '../errors.js';
import { MOST_STRIPES } from '../pile-sets/pile-layout.js';
import { LARGEST_ARENA_BYTES, pass1Arena, pass2Arena, STORED_HEADER_BYTES, storedByteCost } from './arena-sizes.js';
import {
  DISK_BUFFERS,
  divide,
  divideInMemory,
  MEMORY_BUFFERS,
  type PileDivision,
  ROTATING_DISK_BUFFERS,
  type Sizes,
  shareForLayout,
} from './pile-division.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** What a slice leaves at most on many disks, unless there would be fewer stripes than are wanted. */
const FILES_OF_SLICE = 64;
const FEWEST_STRIPES_WANTED = 4;
/** The smallest budget that a worker can do anything useful with. */
const SMALLEST_SHARE_BYTES = 4 * MIB;

/** Sizes that tests shrink so that rare paths are common; no user needs to. */
export interface Tuning {
  readonly pileCount?: number;
  readonly bufferBytes?: number;
  readonly readBytes?: number;
  readonly outputBytes?: number;
  readonly sliceBytes?: number;
  readonly stripeCount?: number;
  /** What a worker's arena takes in pass 2, and no more; small ones force piles to be split again. */
  readonly pass2ArenaBytes?: number;
  /** Whether segments may stay in memory. */
  readonly keepInRam?: boolean;
  /** Whether a small job is done on the calling thread. */
  readonly inline?: boolean;
}

export interface MemoryNeed {
  readonly budgetBytes: number;
  /** Threads wanted. */
  readonly workers: number;
  /** Tasks that pass 1 can have at most: as many as inputs when none can be split. */
  readonly mostSlices: number;
  /** Estimated bytes of all records; a guess when `exact` is false. */
  readonly recordBytes: number;
  /** Estimated bytes of one record. */
  readonly meanRecordBytes: number;
  /** Whether `recordBytes` is the true size (plain regular files). */
  readonly exact: boolean;
  readonly tempDiskCount: number;
  /** Whether a temp disk has to move a head between two reads. */
  readonly tempDisksRotate: boolean;
  readonly openFileLimit: number;
  /** Whether what the job did must outlive it: then memory is used only where all is sure to fit. */
  readonly isResumable: boolean;
  /** Whether what pass 2 has written may have to wait in memory: outputs that are compressed. */
  readonly holdsOutput: boolean;
  /** What a job that goes on has laid out before. */
  readonly layout: PileDivision | undefined;
}

export interface MemoryPlan {
  readonly workers: number;
  readonly pileCount: number;
  readonly stripeCount: number;
  readonly bufferBytes: number;
  readonly readBytes: number;
  readonly outputBytes: number;
  /** What one worker's arena takes in pass 1, when no record is longer than the read window. */
  readonly pass1ArenaBytes: number;
  /** The part of the budget beside the arenas of pass 1: for the memory pool and longer windows. */
  readonly pass1SpareBytes: number;
  /** What one worker's arena is planned to take in pass 2, at least what it took in pass 1. */
  readonly pass2ArenaBytes: number;
  /** Whether arenas of pass 2 may take spare memory. */
  readonly pass2MayGrow: boolean;
  /** The most that the pool that keeps segments in memory may draw; 0: all of them go to disk. */
  readonly ramPoolBytes: number;
  /** Whether some segment may have to go to disk, as far as is known. */
  readonly maySpill: boolean;
  /** Bytes that the pile sets will take, as far as is known. */
  readonly storedBytes: number;
}

/** Of the budget, for compressed output that waits for its turn: of each pile about a third, compressed. */
const HELD_SHARE = 1 / 8;

export function planMemory(need: MemoryNeed, tuning: Tuning = {}): MemoryPlan {
  const { budgetBytes, layout } = need;
  if (!need.holdsOutput) return planArenas(need, tuning);
  const neededBytes = Math.max(SMALLEST_SHARE_BYTES, layout === undefined ? 0 : shareForLayout(layout));
  const heldBytes = Math.max(0, Math.floor(Math.min(budgetBytes * HELD_SHARE, budgetBytes - neededBytes)));
  const plan = planArenas({ ...need, budgetBytes: budgetBytes - heldBytes }, tuning);
  return { ...plan, pass1SpareBytes: plan.pass1SpareBytes + heldBytes };
}

function planArenas(need: MemoryNeed, tuning: Tuning): MemoryPlan {
  const { budgetBytes } = need;
  const recordCount = need.recordBytes / need.meanRecordBytes;
  const storedBytes = need.recordBytes + STORED_HEADER_BYTES * recordCount;
  const perStoredByte = storedByteCost(need.meanRecordBytes);
  const diskBuffers = need.tempDisksRotate ? ROTATING_DISK_BUFFERS : DISK_BUFFERS;
  const affordableWorkers = Math.floor(budgetBytes / SMALLEST_SHARE_BYTES);
  if (affordableWorkers < 1) {
    throw new UsageError(
      `a memory budget of ${budgetBytes} bytes is too small: expected at least ${SMALLEST_SHARE_BYTES / MIB}M; give more with \`memoryBytes\``,
      'ERR_MEMORY_BUDGET',
    );
  }
  // A thread has up to eight files of its own, and one data file a temp disk with a single stripe.
  const openableWorkers = Math.floor((need.openFileLimit - 48) / (8 + need.tempDiskCount));
  const { layout } = need;
  const mostWorkers = Math.max(
    1,
    Math.min(
      need.workers,
      affordableWorkers,
      openableWorkers,
      layout === undefined ? Number.POSITIVE_INFINITY : workersForLayout(layout, need),
    ),
  );

  const onDisk = { ...diskBuffers, diskCount: need.tempDiskCount, workers: mostWorkers };
  const inMemory = { ...MEMORY_BUFFERS, diskCount: 1, workers: mostWorkers };

  // In memory: small piles that stay in the cache, and the pool takes what the arenas leave.
  const cached = divideInMemory(storedBytes, budgetBytes / mostWorkers, perStoredByte, inMemory);
  const cachedArena = Math.max(pass1Arena(cached), pass2Arena(cached, storedBytes, perStoredByte));
  const wantedPool = storedBytes * 1.02 + (mostWorkers + 1) * 2 * MIB;
  const fits = cached.oneLevel && wantedPool + mostWorkers * cachedArena <= budgetBytes;
  // What begins in memory and spills could not be taken up again.
  const mayFit = layout === undefined && (need.exact ? fits : !need.isResumable);

  if (mayFit && tuning.keepInRam !== false) {
    const ramPoolBytes = need.exact ? wantedPool : Math.max(0, budgetBytes / 2 - 2 * MIB);
    const share = (budgetBytes - ramPoolBytes) / mostWorkers;
    const sizes = fits ? cached : divide(storedBytes, share, perStoredByte, onDisk);
    return finish(sizes, mostWorkers, share, ramPoolBytes, !need.exact, storedBytes, need, tuning);
  }

  let workers = mostWorkers;
  let sizes = divide(storedBytes, budgetBytes / workers, perStoredByte, onDisk, layout);
  for (let fewer = workers - 1; !sizes.oneLevel && fewer >= Math.ceil(mostWorkers / 2); fewer--) {
    const roomier = divide(storedBytes, budgetBytes / fewer, perStoredByte, onDisk, layout);
    if (roomier.oneLevel) {
      workers = fewer;
      sizes = roomier;
    }
  }
  return finish(sizes, workers, budgetBytes / workers, 0, true, storedBytes, need, tuning);
}

/**
 * How many workers can go on with piles that are laid out already, at most.
 * @throws UsageError ERR_MEMORY_BUDGET when there is not enough for one.
 */
function workersForLayout(layout: PileDivision, need: MemoryNeed): number {
  const { pileCount, stripeCount } = layout;
  const shareBytes = shareForLayout(layout);
  if (need.budgetBytes < shareBytes) {
    throw new UsageError(
      `a memory budget of ${need.budgetBytes} bytes is too small for the ${pileCount} piles that are laid out already: expected at least ${Math.ceil(shareBytes / MIB)}M; give more with \`memoryBytes\``,
      'ERR_MEMORY_BUDGET',
    );
  }
  const filesOfWorker = 8 + 2 * stripeCount * Math.max(1, need.tempDiskCount);
  return Math.floor(Math.min(need.budgetBytes / shareBytes, Math.max(1, (need.openFileLimit - 48) / filesOfWorker)));
}

function finish(
  sizes: Sizes,
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
  const pass1ArenaBytes = Math.ceil(pass1Arena({ pileCount, bufferBytes, readBytes }));
  const wanted = pass2Arena(sizes, storedBytes, storedByteCost(need.meanRecordBytes));
  const pass2ArenaBytes = Math.max(Math.floor(Math.min(share, wanted, LARGEST_ARENA_BYTES)), pass1ArenaBytes);
  return {
    workers,
    pileCount,
    stripeCount: need.layout?.stripeCount ?? Math.min(tuning.stripeCount ?? planStripes(need, workers), pileCount),
    bufferBytes,
    readBytes,
    outputBytes: tuning.outputBytes ?? sizes.outputBytes,
    pass1ArenaBytes,
    pass1SpareBytes: Math.max(0, need.budgetBytes - Math.min(workers, need.mostSlices) * pass1ArenaBytes),
    pass2ArenaBytes: tuning.pass2ArenaBytes ?? pass2ArenaBytes,
    pass2MayGrow: tuning.pass2ArenaBytes === undefined,
    ramPoolBytes: Math.floor(ramPoolBytes),
    maySpill: tuning.keepInRam === false || maySpill,
    storedBytes,
  };
}

/**
 * Stripes bound the disk space that temp data and output take together to (1 + 1/S) times the data;
 * each costs every worker one open file a disk, and every slice a file a disk, to be created, synced and removed.
 */
function planStripes(need: MemoryNeed, workers: number): number {
  const diskCount = Math.max(1, need.tempDiskCount);
  const filesForStripes = Math.max(0, need.openFileLimit - 48 - 8 * workers) / 2;
  const wanted = Math.max(FEWEST_STRIPES_WANTED, Math.min(Math.floor(FILES_OF_SLICE / diskCount), MOST_STRIPES));
  return Math.max(1, Math.min(Math.floor(filesForStripes / (workers * diskCount)), wanted));
}
