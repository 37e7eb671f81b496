/** The number of piles of a new store, which never changes, and the memory of a pile writer. Pure. */
import { UsageError } from '../errors.js';
import { MOST_PILES } from '../piles/pile-layout.js';
import { pass1ArenaBytesOf, SLACK_BYTES, TALLY_BYTES } from './arena-sizes.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/**
 * The size of a pile as long as there are few piles; a larger store has both more and larger piles. A reader waits a
 * fifth of a millisecond at the beginning of each pile. The more records a pile has, the more two epochs differ.
 */
const PILE_BYTES = 64 * MIB;
const FEW_PILES = 1024;
/** The fewest piles of a store that may grow by an unknown amount. */
const FEWEST_GROWING_PILES = 64;
/** Most stores are appended to. */
const EXPECTED_GROWTH = 4;

/** The number of piles of a store of unknown size. */
export const DEFAULT_STORE_PILES = 256;

/**
 * A store of up to 64 GiB has piles of 64 MiB. A store sixteen times as large has four times as many piles, each four
 * times as large: a writer needs a buffer for each pile, and a reader holds several piles.
 * @param expectedBytes of all records that the store will hold at one time.
 */
export function pilesForBytes(expectedBytes: number): number {
  const piles = expectedBytes / PILE_BYTES;
  const count = piles <= FEW_PILES ? piles : FEW_PILES * Math.sqrt(piles / FEW_PILES);
  return Math.max(1, Math.min(Math.ceil(count), MOST_PILES));
}

/** @param recordBytes of the first inputs of a store. */
export function pilesForFirstInputs(recordBytes: number): number {
  return Math.max(FEWEST_GROWING_PILES, pilesForBytes(EXPECTED_GROWTH * recordBytes));
}

/** Records pass through the window in small groups; it grows for a long record. */
const WINDOW_BYTES = MIB;
const SMALLEST_WINDOW_BYTES = 64 * KIB;
const SMALLEST_BUFFER_BYTES = 4 * KIB;
/** Smaller writes are slower. A writer without a memory option gets buffers of this size. */
const GOOD_BUFFER_BYTES = 32 * KIB;
const LARGEST_BUFFER_BYTES = 256 * KIB;
const DEFAULT_BYTES = 64 * MIB;
/** The part of the memory for buffers; the rest is for a long record. */
const BUFFERS_SHARE = 3 / 4;

export interface WriterMemory {
  readonly bufferBytes: number;
  readonly windowBytes: number;
  readonly arenaBytes: number;
}

/** @param memoryBytes undefined: enough for good buffers. */
export function planWriterMemory(pileCount: number, memoryBytes: number | undefined): WriterMemory {
  const leastBytes = pass1ArenaBytesOf({
    pileCount,
    bufferBytes: SMALLEST_BUFFER_BYTES,
    readBytes: SMALLEST_WINDOW_BYTES,
  });
  if (memoryBytes !== undefined && memoryBytes < leastBytes) {
    throw new UsageError(
      `a memory budget of ${memoryBytes} bytes is too small for ${pileCount} piles: expected at least ${leastBytes}; give more with \`memoryBytes\``,
      'ERR_MEMORY_BUDGET',
    );
  }
  const goodBytes = pass1ArenaBytesOf({ pileCount, bufferBytes: GOOD_BUFFER_BYTES, readBytes: WINDOW_BYTES });
  const arenaBytes = memoryBytes ?? Math.max(DEFAULT_BYTES, goodBytes);
  const windowBytes = arenaBytes < goodBytes ? SMALLEST_WINDOW_BYTES : WINDOW_BYTES;
  const besideBuffers = pass1ArenaBytesOf({ pileCount: 0, bufferBytes: 0, readBytes: windowBytes });
  const forBuffers = Math.max(leastBytes - besideBuffers, (arenaBytes - besideBuffers) * BUFFERS_SHARE);
  const affordable = Math.floor((forBuffers / pileCount - SLACK_BYTES - TALLY_BYTES) / SMALLEST_BUFFER_BYTES);
  return {
    bufferBytes:
      Math.max(1, Math.min(affordable, LARGEST_BUFFER_BYTES / SMALLEST_BUFFER_BYTES)) * SMALLEST_BUFFER_BYTES,
    windowBytes,
    arenaBytes,
  };
}
