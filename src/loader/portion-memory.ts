/**
 * How many ranges of keys a pile is read in, so that what a loader holds stays within its memory. Pure.
 *
 * A thread holds the stored records of a portion with their sort entries, and each buffer of the loader the records
 * with their ends.
 */
import { UsageError } from '../errors.js';
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
/** A pile is read no more often than this, since a thread cannot address it. */
const MOST_RANGES = 1024;
/** Nor than this, since there is too little memory: then that is refused. */
const MOST_READS = 64;

/** What each pile holds, by its number. */
interface PileSizes {
  readonly records: Float64Array;
  readonly recordBytes: Float64Array;
}

/**
 * @param longestRecordBytes of the store.
 * @throws UsageError ERR_MEMORY_BUDGET when no thread could hold the longest record, or piles would be read again and
 *   again.
 */
export function requireMemory(piles: PileSizes, longestRecordBytes: number, memory: LoaderMemory): void {
  let leastBytes = longestRecordBytes + STORED_HEADER_BYTES + ENTRY_BYTES;
  for (const [pile, records] of piles.records.entries()) {
    // Ranges of one record each are no more than these.
    if (records <= MOST_READS) continue;
    const neededBytes = neededFor(records, piles.recordBytes[pile] ?? 0, memory);
    leastBytes = Math.max(leastBytes, Math.ceil(neededBytes / (RANGE_FILL * MOST_READS)));
  }
  if (memory.memoryBytes >= leastBytes) return;
  throw new UsageError(
    `a memory budget of ${memory.memoryBytes} bytes is too small for the piles of this store: expected at least ${leastBytes}; give more, or load fewer piles ahead`,
    'ERR_MEMORY_BUDGET',
  );
}

export function rangeCountOfPile(records: number, recordBytes: number, memory: LoaderMemory): number {
  const inThread = inThreadFor(records, recordBytes);
  const neededBytes = neededFor(records, recordBytes, memory);
  const isHeld = neededBytes <= memory.memoryBytes && inThread <= LARGEST_ARENA_BYTES * RANGE_FILL;
  if (isHeld || records <= 1) return 1;
  const heldShare = RANGE_FILL * Math.min(memory.memoryBytes / neededBytes, LARGEST_ARENA_BYTES / inThread);
  return Math.max(2, Math.min(Math.ceil(1 / heldShare), records, MOST_RANGES));
}

/** To read a pile at once. */
function neededFor(records: number, recordBytes: number, { threadCount, bufferCount }: LoaderMemory): number {
  return threadCount * inThreadFor(records, recordBytes) + bufferCount * (recordBytes + END_BYTES * records);
}

function inThreadFor(records: number, recordBytes: number): number {
  return recordBytes + (STORED_HEADER_BYTES + ENTRY_BYTES) * records;
}
