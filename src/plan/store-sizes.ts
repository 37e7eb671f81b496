/**
 * How many piles a store gets, which it keeps for good, and how large the buffers of a program are that writes piles
 * itself. Pure.
 */

import { UsageError } from '../errors.js';
import { MOST_PILES } from '../pile-sets/pile-layout.js';
import { pass1Arena, SLACK_BYTES, TALLY_BYTES } from './arena-sizes.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/**
 * Piles are of this size while there are few of them, and more and larger beyond. Whoever consumes them waits a little at
 * the beginning of each, a fifth of a millisecond, and epochs are the less alike the more records a pile has.
 */
const PILE_BYTES = 64 * MIB;
const FEW_PILES = 1024;
/** Of a store that may grow by as much as nobody knows. */
const FEWEST_GROWING_PILES = 64;
/** Most stores are appended to. */
const EXPECTED_GROWTH = 4;

/** Of a store of which nobody says how large it will be. */
export const DEFAULT_STORE_PILES = 256;

/**
 * Up to 64 GiB piles of 64 MiB; of sixteen times as much both are four times as many and as large: who writes needs a
 * buffer for each pile, and who reads has to hold some.
 * @param expectedBytes of all records that the store will have at one time.
 */
export function pilesForBytes(expectedBytes: number): number {
  const piles = expectedBytes / PILE_BYTES;
  const count = piles <= FEW_PILES ? piles : FEW_PILES * Math.sqrt(piles / FEW_PILES);
  return Math.max(1, Math.min(Math.ceil(count), MOST_PILES));
}

/** @param recordBytes of the inputs that a store begins with. */
export function pilesForFirstInputs(recordBytes: number): number {
  return Math.max(FEWEST_GROWING_PILES, pilesForBytes(EXPECTED_GROWTH * recordBytes));
}

/** Records go through it in small groups; it grows for a long one. */
const WINDOW_BYTES = MIB;
const SMALLEST_WINDOW_BYTES = 64 * KIB;
const SMALLEST_BUFFER_BYTES = 4 * KIB;
/** Smaller writes cost more than they should; what is given without being asked. */
const GOOD_BUFFER_BYTES = 32 * KIB;
const LARGEST_BUFFER_BYTES = 256 * KIB;
const DEFAULT_BYTES = 64 * MIB;
/** The rest is for a long record. */
const BUFFERS_SHARE = 3 / 4;

export interface WriterMemory {
  readonly bufferBytes: number;
  readonly windowBytes: number;
  readonly arenaBytes: number;
}

/**
 * @param memoryBytes undefined: as much as good buffers take.
 * @throws UsageError ERR_MEMORY_BUDGET
 */
export function planWriterMemory(pileCount: number, memoryBytes: number | undefined): WriterMemory {
  const leastBytes = pass1Arena({ pileCount, bufferBytes: SMALLEST_BUFFER_BYTES, readBytes: SMALLEST_WINDOW_BYTES });
  if (memoryBytes !== undefined && memoryBytes < leastBytes) {
    throw new UsageError(
      `a memory budget of ${memoryBytes} bytes is too small for ${pileCount} piles: expected at least ${leastBytes}`,
      'ERR_MEMORY_BUDGET',
    );
  }
  const goodBytes = pass1Arena({ pileCount, bufferBytes: GOOD_BUFFER_BYTES, readBytes: WINDOW_BYTES });
  const arenaBytes = memoryBytes ?? Math.max(DEFAULT_BYTES, goodBytes);
  const windowBytes = arenaBytes < goodBytes ? SMALLEST_WINDOW_BYTES : WINDOW_BYTES;
  const besideBuffers = pass1Arena({ pileCount: 0, bufferBytes: 0, readBytes: windowBytes });
  const forBuffers = Math.max(leastBytes - besideBuffers, (arenaBytes - besideBuffers) * BUFFERS_SHARE);
  const affordable = Math.floor((forBuffers / pileCount - SLACK_BYTES - TALLY_BYTES) / SMALLEST_BUFFER_BYTES);
  return {
    bufferBytes:
      Math.max(1, Math.min(affordable, LARGEST_BUFFER_BYTES / SMALLEST_BUFFER_BYTES)) * SMALLEST_BUFFER_BYTES,
    windowBytes,
    arenaBytes,
  };
}
