/**
 * Chooses how many piles there are, and how large their buffers, within one worker's share of the budget. Pure.
 */
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
/** Below the smallest a write is too small to be sequential on any disk; above the largest nothing is gained. */
export const DISK_BUFFERS: BufferLimits = { smallestBytes: 32 * KIB, largestBytes: 512 * KIB };
/**
 * A segment is what is read at one time, after 8 ms in which the head could have read 1.6 MB. Reading 0.5 MB so takes
 * four times as long as the bytes alone; from there on another level, all read and written once more in large
 * segments, takes less.
 */
export const ROTATING_DISK_BUFFERS: BufferLimits = { smallestBytes: 512 * KIB, largestBytes: 4 * MIB };
export const MEMORY_BUFFERS: BufferLimits = { smallestBytes: 64 * KIB, largestBytes: 256 * KIB };
/** Of piles that are given, when there is no memory for larger ones. */
const SMALLEST_BUFFER_BYTES = 4 * KIB;
/** Larger piles cost cache misses in pass 2, and leave the output waiting while the next one is loaded. */
const PREFERRED_PILE_BYTES = 12 * MIB;
/** More piles than this cost pass 1 what smaller ones save pass 2: each is written to at a page of its own. */
const MOST_PREFERRED_PILES = 1024;
/** Where piles are split again, each thread splits one at a time: together they take an eighth more temp data so. */
const RESCATTERED_PILES_A_WORKER = 8;
/** Leaves the other half of a thread's addresses to a long record. */
const MOST_FOR_BUFFERS_BYTES = 2 * 1024 * MIB;
/** What a thread takes at least of what is left beside a job in memory. */
const CACHED_SHARE_BYTES = 64 * MIB;
/** How many piles and stripes there are; fixed once the first pile set is written. */
export interface PileDivision {
  readonly pileCount: number;
  readonly stripeCount: number;
}

/** Where pile buffers go when they are full. */
export interface PilePlace extends BufferLimits {
  readonly diskCount: number;
  /** So many threads may each split a pile again at one time. */
  readonly workers: number;
}

export interface Sizes {
  readonly readBytes: number;
  readonly outputBytes: number;
  readonly pileCount: number;
  readonly bufferBytes: number;
  /** Whether each pile is expected to fit when it is loaded. */
  readonly oneLevel: boolean;
}

/** Chooses piles and buffers for one worker's share of the budget. */
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
  // More piles than necessary keep a pile in the cache, as long as the buffers stay large.
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
 * Piles that are split again, into as few levels as it takes: about as many on each, so that all have large buffers.
 * @param fewestPiles that fit when they are loaded.
 */
function pilesOfSeveralLevels(fewestPiles: number, mostPiles: number, workers: number): number {
  const largestFanOut = MOST_SUB_PILES * SUB_PILE_FILL;
  let subLevels = 1;
  while (mostPiles * largestFanOut ** subLevels < fewestPiles) subLevels += 1;
  const evenly = (fewestPiles / SUB_PILE_FILL ** subLevels) ** (1 / (subLevels + 1));
  return Math.ceil(Math.max(evenly, fewestPiles / largestFanOut ** subLevels, workers * RESCATTERED_PILES_A_WORKER));
}

/** Sizes for a job in memory: no more of the share than it takes to load every pile whole, where that can be had. */
export function divideInMemory(storedBytes: number, share: number, perStoredByte: number, place: PilePlace): Sizes {
  for (let bytes = CACHED_SHARE_BYTES; ; bytes *= 2) {
    const sizes = divide(storedBytes, Math.min(share, bytes), perStoredByte, place);
    if (sizes.oneLevel || bytes >= Math.min(share, LARGEST_ARENA_BYTES)) return sizes;
  }
}

/**
 * As many piles on each disk, where there may be so many: all wait for the disk that has the most to do.
 * @param fewestPiles that fit when they are loaded; where there are fewer, any number is split again.
 */
function spreadEvenly(pileCount: number, diskCount: number, mostPiles: number, fewestPiles: number): number {
  const roundedUp = Math.ceil(pileCount / diskCount) * diskCount;
  if (roundedUp <= mostPiles) return roundedUp;
  const roundedDown = roundedUp - diskCount;
  return roundedDown > 0 && pileCount < fewestPiles ? roundedDown : pileCount;
}

/** The least that a worker can go on with. */
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
