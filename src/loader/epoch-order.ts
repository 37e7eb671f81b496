/**
 * The order of an epoch: which piles come one after the other, and by which keys the records of each are ordered. Pure.
 * Epoch 0 is the global shuffle: all piles as they lie, by their stored keys.
 */
import seedrandom from 'seedrandom';
import { deriveEpochDraws, deriveEpochKey } from '../keys.js';

/** What later epochs have anew: `full`: the order of the piles and that in each; `piles`: that of the piles alone. */
export type Reshuffle = 'full' | 'piles' | 'none';

export interface EpochOrder {
  /** The piles, in their order. */
  readonly piles: Uint32Array;
  /** With which the stored keys are mixed; undefined: they are taken as they are. */
  readonly epochKey: bigint | undefined;
}

export function orderOfEpoch(seed: string, epoch: number, reshuffle: Reshuffle, pileCount: number): EpochOrder {
  const piles = Uint32Array.from({ length: pileCount }, (_, pile) => pile);
  if (epoch === 0 || reshuffle === 'none') return { piles, epochKey: undefined };
  permute(piles, seedrandom(deriveEpochDraws(seed, epoch)));
  return { piles, epochKey: reshuffle === 'full' ? deriveEpochKey(seed, epoch) : undefined };
}

/** Fisher and Yates, from the last place down. */
function permute(values: Uint32Array, draw: () => number): void {
  for (let last = values.length - 1; last > 0; last--) {
    const other = Math.floor(draw() * (last + 1));
    const value = values[last] ?? 0;
    values[last] = values[other] ?? 0;
    values[other] = value;
  }
}
