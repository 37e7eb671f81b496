/**
 * How many ranges of keys a pile is read in, so that what a loader holds stays within its memory. Pure.
 *
 * A thread holds the stored records of a portion with their sort entries, and each buffer of the loader the records
 * with their ends.
 */
import { ENTRY_BYTES, LARGEST_ARENA_BYTES, STORED_HEADER_BYTES } from '../plan/arena-sizes.js';

export interface LoaderMemory {
  readonly memoryBytes: number;
  readonly threadCount: number;
  /** Portions that are held ready or consumed. */
  readonly bufferCount: number;
}

/** So full ranges are planned to be: keys are spread evenly, lengths of records are not. */
const RANGE_FILL = 0.8;
const END_BYTES = 4;
/** Takes no more reads of a pile than this, however small the memory. */
const MOST_RANGES = 1024;

export function rangeCountOfPile(records: number, recordBytes: number, memory: LoaderMemory): number {
  const inThread = recordBytes + (STORED_HEADER_BYTES + ENTRY_BYTES) * records;
  const inBuffer = recordBytes + END_BYTES * records;
  const neededBytes = memory.threadCount * inThread + memory.bufferCount * inBuffer;
  const isHeld = neededBytes <= memory.memoryBytes && inThread <= LARGEST_ARENA_BYTES * RANGE_FILL;
  if (isHeld || records <= 1) return 1;
  const heldShare = RANGE_FILL * Math.min(memory.memoryBytes / neededBytes, LARGEST_ARENA_BYTES / inThread);
  return Math.max(2, Math.min(Math.ceil(1 / heldShare), records, MOST_RANGES));
}
