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
import { MOST_PILES, MOST_STRIPES } from '../pile-store/store-layout.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Bytes of a stored record besides its own: key and length. */
export const STORED_HEADER_BYTES = 12;
/** Bytes of pass 2 a record: two u64 entries, and a u32 count for every record in the worst case. */
export const ENTRY_BYTES = 2 * 8 + 4;
/** Behind a pile buffer or an output buffer: short copies write up to 16 bytes too far. */
export const SLACK_BYTES = 64;
/** Output buffers of a thread: while the device takes some, another is filled and the next pile is loaded. */
export const OUTPUT_BUFFER_COUNT = 4;
/** Bytes of one pile's tally in the kernel. */
export const TALLY_BYTES = 32;
/** Records marked by one call of the framing. */
export const BOUNDARY_COUNT = 1024;
/** The boundary table, with the three entries of slack that scattering four at a time reads. */
export const BOUNDARY_TABLE_BYTES = (BOUNDARY_COUNT + 4) * 8;

/** The smallest budget that a worker can do anything useful with. */
const SMALLEST_SHARE_BYTES = 4 * MIB;
interface BufferLimits {
  readonly smallestBytes: number;
  readonly largestBytes: number;
}
/** Below the smallest a write is too small to be sequential on any disk; above the largest nothing is gained. */
const DISK_BUFFERS: BufferLimits = { smallestBytes: 32 * KIB, largestBytes: 256 * KIB };
/** A segment is what is read at one time: worth the way of the head to it, where memory allows. */
const ROTATING_DISK_BUFFERS: BufferLimits = { smallestBytes: 32 * KIB, largestBytes: 4 * MIB };
const MEMORY_BUFFERS: BufferLimits = { smallestBytes: 64 * KIB, largestBytes: 256 * KIB };
/** Of piles that are given, when there is no memory for larger ones. */
const SMALLEST_BUFFER_BYTES = 4 * KIB;
/** Piles larger than this only cost cache misses. */
const PREFERRED_PILE_BYTES = 24 * MIB;
/** Pile sizes scatter around their mean, the more the fewer records they hold. */
const PILE_SKEW = 1.2;
/** Leaves the other half of a thread's addresses to a long record. */
const MOST_FOR_BUFFERS_BYTES = 2 * 1024 * MIB;
/** 32-bit addresses, less what the kernel keeps for itself. */
export const LARGEST_ARENA_BYTES = 4 * 1024 * MIB - 4 * MIB;

/** Sizes that tests shrink so that rare paths are common; no user needs to. */
export interface Tuning {
  readonly pileCount?: number;
  readonly bufferBytes?: number;
  readonly readBytes?: number;
  readonly outputBytes?: number;
  readonly splitBytes?: number;
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
  readonly mostSplits: number;
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
  readonly layout: PileLayout | undefined;
}

/** How piles were laid out on disk; it cannot change any more. */
export interface PileLayout {
  readonly pileCount: number;
  readonly stripeCount: number;
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

/** Where pile buffers go when they are full. */
interface PilePlace extends BufferLimits {
  readonly diskCount: number;
}

interface Sizes {
  readonly readBytes: number;
  readonly outputBytes: number;
  readonly pileCount: number;
  readonly bufferBytes: number;
  /** Whether each pile is expected to fit when it is loaded. */
  readonly oneLevel: boolean;
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
  const onDisk = { ...diskBuffers, diskCount: need.tempDiskCount };
  const inMemory = { ...MEMORY_BUFFERS, diskCount: 1 };

  const affordableWorkers = Math.floor(budgetBytes / SMALLEST_SHARE_BYTES);
  if (affordableWorkers < 1) {
    throw new UsageError(
      `a memory budget of ${budgetBytes} bytes is too small: expected at least ${SMALLEST_SHARE_BYTES / MIB}M; give more with --memory`,
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

  // In memory: small piles that stay in the cache, and the pool takes what the arenas leave.
  const cached = divide(storedBytes, Math.min(budgetBytes / mostWorkers, 64 * MIB), perStoredByte, inMemory);
  const cachedArena = arenaFor(cached, storedBytes, perStoredByte);
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
function workersForLayout(layout: PileLayout, need: MemoryNeed): number {
  const { pileCount, stripeCount } = layout;
  const shareBytes = shareForLayout(layout);
  if (need.budgetBytes < shareBytes) {
    throw new UsageError(
      `a memory budget of ${need.budgetBytes} bytes is too small for the ${pileCount} piles of the unfinished job: expected at least ${Math.ceil(shareBytes / MIB)}M; give more with --memory`,
      'ERR_MEMORY_BUDGET',
    );
  }
  const filesOfWorker = 8 + 2 * stripeCount * Math.max(1, need.tempDiskCount);
  return Math.floor(Math.min(need.budgetBytes / shareBytes, Math.max(1, (need.openFileLimit - 48) / filesOfWorker)));
}

/** The least that a worker can go on with. */
function shareForLayout({ pileCount }: PileLayout): number {
  const buffersBytes = pileCount * (SMALLEST_BUFFER_BYTES + SLACK_BYTES + TALLY_BYTES);
  // The two halves of the read window take an eighth of a share.
  return ((buffersBytes + BOUNDARY_TABLE_BYTES + 64 * KIB) * 8) / 7;
}

/** Bytes of arena in pass 2 for each stored byte of a pile. */
function storedByteCost(meanRecordBytes: number): number {
  return PILE_SKEW * (1 + ENTRY_BYTES / (meanRecordBytes + STORED_HEADER_BYTES));
}

/** Chooses piles and buffers for one worker's share of the budget. */
function divide(
  storedBytes: number,
  share: number,
  perStoredByte: number,
  place: PilePlace,
  layout?: PileLayout,
): Sizes {
  const usable = Math.min(share, LARGEST_ARENA_BYTES);
  const readBytes = roundDown(clamp(usable / 16, 64 * KIB, MIB), 4 * KIB);
  const outputBytes = roundDown(clamp(usable / 16 / OUTPUT_BUFFER_COUNT, 32 * KIB, MIB), 4 * KIB);
  const forBuffers = Math.min(usable - 2 * readBytes - BOUNDARY_TABLE_BYTES - 64 * KIB, MOST_FOR_BUFFERS_BYTES);
  const mostPiles = Math.max(2, Math.floor(forBuffers / (place.smallestBytes + SLACK_BYTES + TALLY_BYTES)));
  const largestPileBytes = (usable - OUTPUT_BUFFER_COUNT * outputBytes - 64 * KIB) / perStoredByte;
  const fewestPiles = Math.ceil(storedBytes / largestPileBytes);
  // More piles than necessary keep a pile in the cache, as long as the buffers stay large.
  const pleasantPiles = Math.min(
    Math.ceil(storedBytes / PREFERRED_PILE_BYTES),
    Math.floor(forBuffers / 2 / (place.largestBytes + SLACK_BYTES)),
  );
  const most = Math.min(mostPiles, MOST_PILES);
  const pileCount =
    layout?.pileCount ?? spreadEvenly(clamp(Math.max(fewestPiles, pleasantPiles), 1, most), place.diskCount, most);
  const bufferBytes = roundDown(
    clamp(forBuffers / pileCount - SLACK_BYTES - TALLY_BYTES, SMALLEST_BUFFER_BYTES, place.largestBytes),
    4 * KIB,
  );
  return { readBytes, outputBytes, pileCount, bufferBytes, oneLevel: fewestPiles <= pileCount };
}

/** As many piles on each disk, where there may be so many: all wait for the disk that has the most to do. */
function spreadEvenly(pileCount: number, diskCount: number, mostPiles: number): number {
  const evenCount = Math.ceil(pileCount / diskCount) * diskCount;
  return evenCount <= mostPiles ? evenCount : pileCount;
}

function arenaFor(sizes: Sizes, storedBytes: number, perStoredByte: number): number {
  return Math.max(pass1Arena(sizes), pass2Arena(sizes, storedBytes, perStoredByte));
}

/** Buffers with slack and tally, the window, the boundary table, and what alignment may cost. */
function pass1Arena({ pileCount, bufferBytes, readBytes }: Pick<Sizes, 'pileCount' | 'bufferBytes' | 'readBytes'>) {
  return pileCount * (bufferBytes + SLACK_BYTES + TALLY_BYTES) + 2 * readBytes + BOUNDARY_TABLE_BYTES + 64 * KIB;
}

function pass2Arena({ pileCount, outputBytes }: Sizes, storedBytes: number, perStoredByte: number): number {
  return (storedBytes / pileCount) * perStoredByte + OUTPUT_BUFFER_COUNT * outputBytes + 128 * KIB;
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
    pass1SpareBytes: Math.max(0, need.budgetBytes - Math.min(workers, need.mostSplits) * pass1ArenaBytes),
    pass2ArenaBytes: tuning.pass2ArenaBytes ?? pass2ArenaBytes,
    pass2MayGrow: tuning.pass2ArenaBytes === undefined,
    ramPoolBytes: Math.floor(ramPoolBytes),
    maySpill: tuning.keepInRam === false || maySpill,
    storedBytes,
  };
}

/**
 * Stripes bound the disk space that temp data and output take together to (1 + 1/S) times the data;
 * each costs every worker one open file a disk.
 */
function planStripes(need: MemoryNeed, workers: number): number {
  const filesPerStripe = workers * Math.max(1, need.tempDiskCount);
  const filesForStripes = Math.max(0, need.openFileLimit - 48 - 8 * workers) / 2;
  return clamp(Math.floor(filesForStripes / filesPerStripe), 1, MOST_STRIPES);
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

function roundDown(value: number, unit: number): number {
  return Math.floor(value / unit) * unit;
}
