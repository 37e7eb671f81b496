/**
 * Groups the merged piles into the tasks of pass 2: ranges of neighbouring piles, each at a known position of the global
 * order. Pure.
 */

import type { PileTotals } from '../piles/pile-totals.js';

/** Piles [first, end), whose output begins at this rank and byte of the whole output. */
export interface PileRange {
  readonly first: number;
  readonly end: number;
  readonly firstRank: number;
  readonly firstByte: number;
  /** The bytes of the first records that the output has already, of piles that are read again. Absent: they are not. */
  readonly skippedBytes?: number;
}

/**
 * Divides the piles into ranges. A range ends when it holds `rangeBytes` or more, and at the last pile of each stripe.
 * @param isDone whether the output of a pile is written already, so that no range needs the pile.
 */
export function planPileRanges(
  totals: PileTotals,
  rangeBytes: number,
  isStripeEnd: (pile: number) => boolean,
  isDone: (pile: number) => boolean,
): PileRange[] {
  const ranges: PileRange[] = [];
  let first = 0;
  let firstRank = 0;
  let firstByte = 0;
  let rank = 0;
  let byte = 0;
  const pileCount = totals.records.length;
  const begin = (pile: number) => {
    first = pile;
    firstRank = rank;
    firstByte = byte;
  };
  for (let pile = 0; pile < pileCount; pile++) {
    const done = isDone(pile);
    if (done && first < pile) ranges.push({ first, end: pile, firstRank, firstByte });
    rank += totals.records[pile] ?? 0;
    byte += totals.recordBytes[pile] ?? 0;
    if (done) begin(pile + 1);
    else if (byte - firstByte >= rangeBytes || isStripeEnd(pile) || pile + 1 === pileCount) {
      ranges.push({ first, end: pile + 1, firstRank, firstByte });
      begin(pile + 1);
    }
  }
  return ranges;
}
