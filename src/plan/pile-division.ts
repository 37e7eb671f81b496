/** Chooses the number of piles and the size of their buffers within one worker's share of the budget. Pure. */
import { MOST_PILES } from '../pile-sets/pile-layout.js';
import {
  BOUNDARY_TABLE_BYTES,
  LARGEST_ARENA_BYTES,
  MOST_SUB_PILES,
  OUTPUT_BUFFER_COUNT,
  SLACK_BYTES,
  SUB_PILE_FILL,
  TALLY_BYTES,
} from './arena-sizes.js';

const KIB = 1024;
const MIB = 1024 * KIB;

interface BufferLimits {
  readonly smallestBytes: number;
  readonly largestBytes: number;
}
/** A write below the smallest size is not sequential on any disk; a write above the largest is no faster. */
export const DISK_BUFFERS: BufferLimits = { smallestBytes: 32 * KIB, largestBytes: 512 * KIB };
/**
 * A segment is one read. The head needs 8 ms to reach it, in which it could have read 1.6 MB, so reading segments of
 * 0.5 MB takes four times as long as the bytes alone. With smaller segments another level is faster: it reads and
 * writes everything once more, in large segments.
 */
export const ROTATING_DISK_BUFFERS: BufferLimits = { smallestBytes: 512 * KIB, largestBytes: 4 * MIB };
export const MEMORY_BUFFERS: BufferLimits = { smallestBytes: 64 * KIB, largestBytes: 256 * KIB };
/** The smallest buffer of existing piles, when there is no memory for larger buffers. */
const SMALLEST_BUFFER_BYTES = 4 * KIB;
/** Larger piles cost cache misses in pass 2, and the output waits while the next pile is loaded. */
const PREFERRED_PILE_BYTES = 12 * MIB;
/** With more piles, pass 1 loses what pass 2 gains: it writes to a separate page for each pile. */
const MOST_PREFERRED_PILES = 1024;
/**
 * Each thread scatters one pile again at a time. With this many piles a worker, all threads together take at most an
 * eighth more temp data.
 */
const RESCATTERED_PILES_A_WORKER = 8;
/** Half of a thread's addresses; the other half is for a long record. */
const MOST_FOR_BUFFERS_BYTES = 2 * 1024 * MIB;
/** The first share that a thread of a job in memory tries. */
const CACHED_SHARE_BYTES = 16 * MIB;

/** The number of piles and stripes, fixed once the first pile set is written. */
export interface PileDivision {
  readonly pileCount: number;
  readonly stripeCount: number;
}

/** The place that full pile buffers go to. */
export interface PilePlace extends BufferLimits {
  readonly diskCount: number;
  /** Threads, each of which may scatter a pile again at the same time. */
  readonly workers: number;
}

export interface Sizes {
  readonly readBytes: number;
  readonly outputBytes: number;
  readonly pileCount: number;
  readonly bufferBytes: number;
  /** Whether each pile is expected to fit in memory when it is loaded. */
  readonly oneLevel: boolean;
}

export function divide(
  storedBytes: number,
  share: number,
  perStoredByte: number,
  place: PilePlace,
  layout?: PileDivision,
): Sizes {
  const usable = Math.min(share, LARGEST_ARENA_BYTES);
  const readBytes = roundDown(clamp(usable / 16, 64 * KIB, MIB), 4 * KIB);
  const outputBytes = roundDown(clamp(usable / 8 / OUTPUT_BUFFER_COUNT, 32 * KIB, 4 * MIB), 4 * KIB);
  const forBuffers = Math.min(usable - 2 * readBytes - BOUNDARY_TABLE_BYTES - 64 * KIB, MOST_FOR_BUFFERS_BYTES);
  const mostPiles = Math.max(2, Math.floor(forBuffers / (place.smallestBytes + SLACK_BYTES + TALLY_BYTES)));
  const largestPileBytes = (usable - OUTPUT_BUFFER_COUNT * outputBytes - 64 * KIB) / perStoredByte;
  const fewestPiles = Math.ceil(storedBytes / largestPileBytes);
  // More piles than necessary keep each pile in the cache, as long as the buffers stay large.
  const pleasantPiles = Math.min(
    Math.ceil(storedBytes / PREFERRED_PILE_BYTES),
    MOST_PREFERRED_PILES,
    Math.floor(forBuffers / (place.largestBytes + SLACK_BYTES)),
  );
  const most = Math.min(mostPiles, MOST_PILES);
  const neededPiles = fewestPiles <= most ? fewestPiles : pilesOfSeveralLevels(fewestPiles, most, place.workers);
  const pileCount =
    layout?.pileCount ??
    spreadEvenly(clamp(Math.max(neededPiles, pleasantPiles), 1, most), place.diskCount, most, fewestPiles);
  const bufferBytes = roundDown(
    clamp(forBuffers / pileCount - SLACK_BYTES - TALLY_BYTES, SMALLEST_BUFFER_BYTES, place.largestBytes),
    4 * KIB,
  );
  return { readBytes, outputBytes, pileCount, bufferBytes, oneLevel: fewestPiles <= pileCount };
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

/** Sizes for a job in memory: the smallest part of the share with which every pile can be loaded whole. */
export function divideInMemory(storedBytes: number, share: number, perStoredByte: number, place: PilePlace): Sizes {
  for (let bytes = CACHED_SHARE_BYTES; ; bytes *= 2) {
    const sizes = divide(storedBytes, Math.min(share, bytes), perStoredByte, place);
    if (sizes.oneLevel || bytes >= Math.min(share, LARGEST_ARENA_BYTES)) return sizes;
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
export function shareForLayout({ pileCount }: PileDivision): number {
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
