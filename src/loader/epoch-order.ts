/**
 * Says which records a rank gets in an epoch, and in which order. Pure.
 *
 * Epoch 0 is the global shuffle: all piles in the order of their numbers, records by their stored keys. All of this is a
 * contract: a saved position means the same record in every version.
 */
import seedrandom from 'seedrandom/seedrandom.js';
import { deriveEpochKey, derivePileOrderSeed } from '../floor/keys.js';
import type { LoaderSettings } from './loader-options.js';

interface EpochOrder {
  readonly piles: Uint32Array;
  /** Mixed with the stored keys; undefined in epoch 0: the stored keys alone order the records. */
  readonly epochKey: bigint | undefined;
}

export function orderOfEpoch(seed: string, epoch: number, pileCount: number): EpochOrder {
  const piles = Uint32Array.from({ length: pileCount }, (_, pile) => pile);
  if (epoch === 0) return { piles, epochKey: undefined };
  permute(piles, seedrandom(derivePileOrderSeed(seed, epoch)));
  return { piles, epochKey: deriveEpochKey(seed, epoch) };
}

/** Fisher-Yates, from the last position down. */
function permute(values: Uint32Array, draw: () => number): void {
  for (let last = values.length - 1; last > 0; last--) {
    const other = Math.floor(draw() * (last + 1));
    const value = values[last] ?? 0;
    values[last] = values[other] ?? 0;
    values[other] = value;
  }
}

/** Record k of the share is record `first + k * step` of the epoch; after the last record the order starts again. */
interface RankShare {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/**
 * Rank r of W gets the records r, r + W, r + 2 W, ... Shares are disjoint and together complete, and their counts differ
 * by at most one. `equalize` makes the counts equal: with `drop` the longer shares lose their last record, with `pad` the
 * shorter ones repeat one of the first records of the epoch.
 */
export function shareOfRank(records: number, { rank, worldSize, equalize }: LoaderSettings): RankShare {
  const share = { first: rank, step: worldSize };
  if (equalize === 'drop') return { ...share, count: Math.floor(records / worldSize) };
  if (equalize === 'pad') return { ...share, count: Math.ceil(records / worldSize) };
  return { ...share, count: Math.max(0, Math.ceil((records - rank) / worldSize)) };
}

/** One read of a pile, or of one range of its keys: takes `count` records of the pile, every `step`th from `first`. */
export interface PortionVisit {
  readonly pile: number;
  readonly range: number;
  readonly rangeCount: number;
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

export interface EpochPiles {
  readonly piles: EpochOrder['piles'];
  readonly records: Float64Array;
  /** The number of key ranges in which a pile is read: more than one if the pile does not fit into memory. */
  readonly rangeCountOf: (pile: number) => number;
}

/** @param from the first record to visit, counted in the share. */
export function* visitsOf(epoch: EpochPiles, share: RankShare, from: number): Generator<PortionVisit, void> {
  const { piles, records, rangeCountOf } = epoch;
  const starts = startsOf(piles, records);
  const total = starts[piles.length] ?? 0;
  const { step } = share;
  for (let taken = from; taken < share.count; ) {
    const position = (share.first + taken * step) % total;
    const place = lastAtOrBefore(starts, position);
    const pile = piles[place] ?? 0;
    const first = position - (starts[place] ?? 0);
    const count = Math.min(share.count - taken, Math.ceil(((records[pile] ?? 0) - first) / step));
    const rangeCount = rangeCountOf(pile);
    for (let range = 0; range < rangeCount; range++) yield { pile, range, rangeCount, first, step, count };
    taken += count;
  }
}

/** The position of the first record of each pile; then the number of records. */
function startsOf(piles: Uint32Array, records: Float64Array): Float64Array {
  const starts = new Float64Array(piles.length + 1);
  for (const [place, pile] of piles.entries()) starts[place + 1] = (starts[place] ?? 0) + (records[pile] ?? 0);
  return starts;
}

/** The last pile that starts at or before the position: earlier piles with the same start are empty. */
function lastAtOrBefore(starts: Float64Array, position: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
