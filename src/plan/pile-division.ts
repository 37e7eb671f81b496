/** Chooses the number of piles and the size of their buffers within one worker's share of the budget. Pure. */
import { MEMBER_BYTES } from '../floor/relay.js';
import { MOST_PILES } from '../piles/pile-layout.js';
import {
  BOUNDARY_TABLE_BYTES,
  LARGEST_ARENA_BYTES,
  MOST_SUB_PILES,
  OUTPUT_BUFFER_COUNT,
  pass1ArenaBytesOf,
  pass2ArenaBytesOf,
  SLACK_BYTES,
  SUB_PILE_FILL,
  TALLY_BYTES,
} from './arena-sizes.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The limits that are worth their memory, depending on where full pile buffers go. */
interface PileLimits {
  readonly smallestBufferBytes: number;
  readonly largestBufferBytes: number;
  /** More piles than necessary are made as long as their buffers have this size. */
  readonly pleasantBufferBytes: number;
  /** All pile buffers of a thread, unless there are so many that they have the smallest size. */
  readonly mostBuffersBytes: number;
  readonly preferredPileBytes: number;
  readonly mostReadBytes: number;
  readonly mostOutputBytes: number;
}
/**
 * A write below the smallest size is not sequential on any disk; a write above the largest is no faster. Larger piles cost
 * cache misses in pass 2, and the output waits while the next pile is loaded.
 */
export const ON_DISK: PileLimits = {
  smallestBufferBytes: 32 * KIB,
  largestBufferBytes: 512 * KIB,
  pleasantBufferBytes: 512 * KIB,
  mostBuffersBytes: Number.POSITIVE_INFINITY,
  preferredPileBytes: 12 * MIB,
  mostReadBytes: MIB,
  mostOutputBytes: 4 * MIB,
};
/**
 * A segment is one read. The head needs 8 ms to reach it, in which it could have read 1.6 MB, so reading segments of
 * 0.5 MB takes four times as long as the bytes alone. With smaller segments another level is faster: it reads and
 * writes everything once more, in large segments.
 */
export const ON_ROTATING_DISK: PileLimits = {
  ...ON_DISK,
  smallestBufferBytes: 512 * KIB,
  largestBufferBytes: 4 * MIB,
  pleasantBufferBytes: 4 * MIB,
};
/**
 * The kernel spends less time on pages with large reads and writes, and with fewer and larger piles: only the inputs and the
 * output meet a disk. Each buffer becomes a segment: with larger ones, fewer records straddle two.
 */
export const IN_MEMORY: PileLimits = {
  smallestBufferBytes: 64 * KIB,
  largestBufferBytes: 256 * KIB,
  pleasantBufferBytes: 64 * KIB,
  mostBuffersBytes: 8 * MIB,
  preferredPileBytes: 32 * MIB,
  mostReadBytes: 2 * MIB,
  mostOutputBytes: 8 * MIB,
};
/** The smallest buffer of existing piles, when there is no memory for larger buffers. */
const SMALLEST_BUFFER_BYTES = 4 * KIB;
/**
 * The most piles that are preferred. With more, pass 1 loses what pass 2 gains: it writes to a separate page for each
 * pile.
 */
const MOST_PREFERRED_PILES = 1024;
/**
 * Each thread scatters one pile again at a time. With this many piles a worker, all threads together take at most an
 * eighth more temp data.
 */
const RESCATTERED_PILES_A_WORKER = 8;
/** Half of a thread's addresses; the other half is for a long record. */
const MOST_FOR_BUFFERS_BYTES = 2 * 1024 * MIB;
/** Piles of small jobs are smaller, so that all threads have work in pass 2 until its end. */
const PILES_A_WORKER = 32;
const SMALLEST_PREFERRED_PILE_BYTES = 12 * MIB;
/** Smaller shares of the budget are not tried for a job in memory. */
const SMALLEST_SHARE_IN_MEMORY_BYTES = 16 * MIB;

/** A member, and the rest of its last record. */
const BUFFERS_OF_MEMBER_BYTES = MEMBER_BYTES + MIB / 4;

/** The number of piles and stripes, fixed once the first pile set is written. */
export interface PileDivision {
  readonly pileCount: number;
  readonly stripeCount: number;
}

export interface PileStorageLimits extends PileLimits {
  /** True if the output buffers of a thread should hold a compressed member, which is copied otherwise. */
  readonly makesMembers: boolean;
  /** The bytes of other tables in an arena of pass 1. Absent: there are none. */
  readonly tableBytes?: number | undefined;
  readonly diskCount: number;
  /** Threads, each of which may scatter a pile again at the same time. */
  readonly workers: number;
}

export interface PileSizes {
  readonly readBytes: number;
  readonly outputBytes: number;
  readonly pileCount: number;
  readonly bufferBytes: number;
  readonly tableBytes?: number | undefined;
  /** True if each pile is expected to fit in memory when it is loaded. */
  readonly oneLevel: boolean;
}

export function dividePiles(
  storedBytes: number,
  share: number,
  perStoredByte: number,
  place: PileStorageLimits,
  layout?: PileDivision,
): PileSizes {
  const usable = Math.min(share, LARGEST_ARENA_BYTES);
  const readBytes = roundDown(clamp(usable / 16, 64 * KIB, place.mostReadBytes), 4 * KIB);
  const forMember = place.makesMembers ? Math.min(BUFFERS_OF_MEMBER_BYTES, usable / 6) : 0;
  const forOutput = Math.max(usable / 8, forMember) / OUTPUT_BUFFER_COUNT;
  const outputBytes = roundDown(clamp(forOutput, 32 * KIB, place.mostOutputBytes), 4 * KIB);
  const { tableBytes = 0 } = place;
  const forBuffers = Math.min(
    usable - tableBytes - 2 * readBytes - BOUNDARY_TABLE_BYTES - 64 * KIB,
    MOST_FOR_BUFFERS_BYTES,
  );
  const mostPiles = Math.max(2, Math.floor(forBuffers / (place.smallestBufferBytes + SLACK_BYTES + TALLY_BYTES)));
  const largestPileBytes = (usable - OUTPUT_BUFFER_COUNT * outputBytes - 64 * KIB) / perStoredByte;
  const fewestPiles = Math.ceil(storedBytes / largestPileBytes);
  const preferredPileBytes = clamp(
    storedBytes / (place.workers * PILES_A_WORKER),
    SMALLEST_PREFERRED_PILE_BYTES,
    place.preferredPileBytes,
  );
  // With more piles than necessary, each pile fits the cache, as long as the buffers stay large.
  const pleasantPiles = Math.min(
    Math.ceil(storedBytes / preferredPileBytes),
    MOST_PREFERRED_PILES,
    Math.floor(forBuffers / (place.pleasantBufferBytes + SLACK_BYTES)),
  );
  const most = Math.min(mostPiles, MOST_PILES);
  const neededPiles = fewestPiles <= most ? fewestPiles : pilesOfSeveralLevels(fewestPiles, most, place.workers);
  const pileCount =
    layout?.pileCount ??
    spreadEvenly(clamp(Math.max(neededPiles, pleasantPiles), 1, most), place.diskCount, most, fewestPiles);
  const preferredBufferBytes = Math.max(place.mostBuffersBytes / pileCount, place.smallestBufferBytes);
  const bufferBytes = roundDown(
    clamp(
      Math.min(forBuffers / pileCount - SLACK_BYTES - TALLY_BYTES, preferredBufferBytes),
      SMALLEST_BUFFER_BYTES,
      place.largestBufferBytes,
    ),
    4 * KIB,
  );
  return { readBytes, outputBytes, pileCount, bufferBytes, tableBytes, oneLevel: fewestPiles <= pileCount };
}

/**
 * The number of piles when they are scattered again, in as few levels as it takes. Each level divides by about the same
 * number, so that buffers are large on all levels. `fewestPiles` would fit when they are loaded.
 */
function pilesOfSeveralLevels(fewestPiles: number, mostPiles: number, workers: number): number {
  const largestFanOut = MOST_SUB_PILES * SUB_PILE_FILL;
  let subLevels = 1;
  while (mostPiles * largestFanOut ** subLevels < fewestPiles) subLevels += 1;
  const evenly = (fewestPiles / SUB_PILE_FILL ** subLevels) ** (1 / (subLevels + 1));
  return Math.ceil(Math.max(evenly, fewestPiles / largestFanOut ** subLevels, workers * RESCATTERED_PILES_A_WORKER));
}

/**
 * Sizes for a job whose piles stay in memory, of `poolBytes`. Tries the whole share of the budget that a thread has, then
 * smaller and smaller parts of it. Undefined: the job does not fit.
 */
export function divideInMemory(
  storedBytes: number,
  poolBytes: number,
  budgetBytes: number,
  perStoredByte: number,
  place: PileStorageLimits,
): PileSizes | undefined {
  for (let share = budgetBytes / place.workers; ; share = Math.max((share * 7) / 8, SMALLEST_SHARE_IN_MEMORY_BYTES)) {
    const sizes = dividePiles(storedBytes, share, perStoredByte, place);
    const arenaBytes = Math.max(pass1ArenaBytesOf(sizes), pass2ArenaBytesOf(sizes, storedBytes, perStoredByte));
    if (sizes.oneLevel && poolBytes + place.workers * arenaBytes <= budgetBytes) return sizes;
    if (share <= SMALLEST_SHARE_IN_MEMORY_BYTES) return undefined;
  }
}

/**
 * Gives each disk the same number of piles where possible, since all disks wait for the one with the most work. Fewer
 * than `fewestPiles` do not fit when they are loaded, and are scattered again anyway.
 */
function spreadEvenly(pileCount: number, diskCount: number, mostPiles: number, fewestPiles: number): number {
  const roundedUp = Math.ceil(pileCount / diskCount) * diskCount;
  if (roundedUp <= mostPiles) return roundedUp;
  const roundedDown = roundedUp - diskCount;
  return roundedDown > 0 && pileCount < fewestPiles ? roundedDown : pileCount;
}

/** The smallest share with which a worker can use existing piles. */
export function leastShareForLayout({ pileCount }: PileDivision): number {
  const buffersBytes = pileCount * (SMALLEST_BUFFER_BYTES + SLACK_BYTES + TALLY_BYTES);
  // The two halves of the read window take an eighth of a share.
  return ((buffersBytes + BOUNDARY_TABLE_BYTES + 64 * KIB) * 8) / 7;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

function roundDown(value: number, unit: number): number {
  return Math.floor(value / unit) * unit;
}
