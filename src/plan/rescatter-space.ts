/**
 * The temp space of piles that are too large to be loaded: a thread scatters such a pile again, reads the sub-piles back, and
 * removes them before it takes the next pile. Pure.
 */
import type { PileTotals } from '../pile-sets/pile-totals.js';
import { ENTRY_BYTES, LARGEST_ARENA_BYTES, OUTPUT_BUFFER_COUNT, STORED_HEADER_BYTES } from './arena-sizes.js';
import type { Pass2Memory } from './pass2-memory.js';

export interface RescatterBytes {
  /** Some thread writes at least this much, however much of the spare memory it gets. */
  readonly least: number;
  /** If all threads scatter their largest piles at the same time. */
  readonly most: number;
}

/** @param outputBytes of one output buffer. */
export function planRescatter(
  totals: Pick<PileTotals, 'records' | 'recordBytes'>,
  { workers, arenaBytes, spareBytes }: Pass2Memory,
  outputBytes: number,
): RescatterBytes {
  const roomOf = (byteLength: number) => Math.min(byteLength, LARGEST_ARENA_BYTES) - OUTPUT_BUFFER_COUNT * outputBytes;
  const [room, mostRoom] = [roomOf(arenaBytes), roomOf(arenaBytes + spareBytes)];
  const tooLarge: number[] = [];
  let least = 0;
  for (const [pile, records] of totals.records.entries()) {
    const storedBytes = (totals.recordBytes[pile] ?? 0) + STORED_HEADER_BYTES * records;
    const neededBytes = storedBytes + ENTRY_BYTES * records;
    // A pile of one record is never scattered.
    if (neededBytes <= room || records < 2) continue;
    tooLarge.push(storedBytes);
    if (neededBytes > mostRoom) least = Math.max(least, storedBytes);
  }
  const together = tooLarge.sort((a, b) => b - a).slice(0, workers);
  return { least, most: together.reduce((sum, bytes) => sum + bytes, 0) };
}
