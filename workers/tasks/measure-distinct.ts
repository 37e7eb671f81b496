/**
 * A task before the shuffle pass of a job that keeps one of equal records: puts piles in order as that pass does, and finds
 * what stays of each. It writes nothing.
 */
import { differenceOf, emptyTotals, type PileTotals, setTally, tallyOf } from '../../src/pile-sets/pile-totals.js';
import { openOrder, type PilesTask } from './open-order.js';

export interface MeasureDistinctTask extends PilesTask {
  /** Piles [first, end). */
  readonly first: number;
  readonly end: number;
  /** What its piles hold. */
  readonly expected: PileTotals;
}

/** @returns the totals of what stays, for each pile. The shuffle pass verifies them. */
export async function measureDistinct(task: MeasureDistinctTask): Promise<PileTotals> {
  const { first, end, expected } = task;
  const distinct = emptyTotals(end - first);
  const { order } = await openOrder(task, async () => {});
  for (const { pile, order: orderPile } of order.piles(first, end)) {
    const dropped = await orderPile(async () => {});
    setTally(distinct, pile - first, differenceOf(tallyOf(expected, pile - first), dropped));
  }
  return distinct;
}
