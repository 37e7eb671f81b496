/**
 * How many piles a store gets: it keeps them for as long as it is there, whatever comes into it. Pure.
 */
import { MOST_PILES } from '../pile-store/store-layout.js';

const MIB = 2 ** 20;
/** Piles are of this size while there are few of them, and more and larger beyond. */
const PILE_BYTES = 16 * MIB;
const FEW_PILES = 1024;

/** Of a store of which nobody says how large it will be. */
export const DEFAULT_STORE_PILES = 256;

/**
 * Up to 16 GiB piles of 16 MiB; of sixteen times as much both are four times as many and as large: who writes needs a
 * buffer for each pile, and who reads has to hold some.
 * @param expectedBytes of all records that the store will have at one time.
 */
export function pilesForBytes(expectedBytes: number): number {
  const piles = expectedBytes / PILE_BYTES;
  const count = piles <= FEW_PILES ? piles : FEW_PILES * Math.sqrt(piles / FEW_PILES);
  return Math.max(1, Math.min(Math.ceil(count), MOST_PILES));
}
