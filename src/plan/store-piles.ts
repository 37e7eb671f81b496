/**
 * How many piles a store gets: it keeps them for as long as it is there, whatever comes into it. Pure.
 */
import { MOST_PILES } from '../pile-sets/pile-layout.js';

const MIB = 2 ** 20;
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
