/**
 * Which portions of which piles a rank reads, one after the other, and which of their records it takes. Pure.
 */
import type { EpochOrder } from './epoch-order.js';
import type { RankShare } from './rank-share.js';

/** A pile, or one range of its keys; of its records in their order `count` are taken, every `step`th from `first` on. */
export interface PortionVisit {
  readonly pile: number;
  readonly range: number;
  readonly rangeCount: number;
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

export interface EpochPiles {
  /** The piles in the order of the epoch. */
  readonly piles: EpochOrder['piles'];
  /** How many records each pile has, by its number. */
  readonly records: Float64Array;
  /** In how many ranges of keys a pile is read, since it does not fit into memory at once. */
  readonly rangeCountOf: (pile: number) => number;
}

/** The visits of a rank, from record `from` of its share on. Piles of which it takes nothing are left out. */
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

/** The position at which each pile begins, and behind the last one how many records there are. */
function startsOf(piles: Uint32Array, records: Float64Array): Float64Array {
  const starts = new Float64Array(piles.length + 1);
  for (const [place, pile] of piles.entries()) starts[place + 1] = (starts[place] ?? 0) + (records[pile] ?? 0);
  return starts;
}

/** The last pile that begins at or before the position: those of the same start before it are empty. */
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
