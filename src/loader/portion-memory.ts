/**
 * Decides in how many key ranges a pile is read, so that a loader stays within its memory. Pure.
 *
 * A thread holds the stored records of a portion and their sort entries. Each buffer holds the records and their ends.
 */
import { UsageError } from '../errors.js';
import { ENTRY_BYTES, LARGEST_ARENA_BYTES, STORED_HEADER_BYTES } from '../plan/arena-sizes.js';

export interface LoaderMemory {
  readonly memoryBytes: number;
  readonly threadCount: number;
  /** Portions that are ready or being read. */
  readonly bufferCount: number;
}

/** How full a range is planned to be: keys are spread evenly, lengths of records are not. */
const RANGE_FILL = 0.8;
const END_BYTES = 4;
/** Most ranges of a pile that is too large for the addresses of a thread. */
const MOST_RANGES = 1024;
/** Most reads of a pile for lack of memory: a smaller memory is refused. */
const MOST_READS = 64;

/** By pile number. */
interface PileSizes {
  readonly records: Float64Array;
  readonly recordBytes: Float64Array;
}

/** Throws if a thread cannot hold the longest record, or a pile needs too many reads. */
export function requireMemory(piles: PileSizes, longestRecordBytes: number, memory: LoaderMemory): void {
  let leastBytes = longestRecordBytes + STORED_HEADER_BYTES + ENTRY_BYTES;
  for (const [pile, records] of piles.records.entries()) {
    // A range has at least one record: such a pile never needs more reads.
    if (records <= MOST_READS) continue;
    const neededBytes = neededFor(records, piles.recordBytes[pile] ?? 0, memory);
    leastBytes = Math.max(leastBytes, Math.ceil(neededBytes / (RANGE_FILL * MOST_READS)));
  }
  if (memory.memoryBytes >= leastBytes) return;
  throw new UsageError(
    `a memory budget of ${memory.memoryBytes} bytes is too small for the piles of this store: expected at least ${leastBytes}; raise \`memoryBytes\`, or lower \`prefetchPiles\``,
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

/** Memory to read a whole pile of this size in every thread and buffer. */
function neededFor(records: number, recordBytes: number, { threadCount, bufferCount }: LoaderMemory): number {
  return threadCount * inThreadFor(records, recordBytes) + bufferCount * (recordBytes + END_BYTES * records);
}

function inThreadFor(records: number, recordBytes: number): number {
  return recordBytes + (STORED_HEADER_BYTES + ENTRY_BYTES) * records;
}
