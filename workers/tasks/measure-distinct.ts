/** A task before the shuffle pass of a job that keeps one of equal records: finds what stays of each pile. */
import { differenceOf, emptyTotals, type PileTotals, setTally, tallyOf } from '../../src/pile-sets/pile-totals.js';
import { openOrder, type PilesTask } from './open-order.js';

export interface MeasureDistinctTask extends PilesTask {
  readonly first: number;
  readonly end: number;
  readonly expected: PileTotals;
}

/** The totals of what stays of each pile. The shuffle pass verifies them. */
export async function measureDistinct(task: MeasureDistinctTask): Promise<PileTotals> {
  const { first, end, expected } = task;
  const { order, control } = await openOrder(task, async () => {});
  const distinct = emptyTotals(end - first);
  let countedBytes = 0;
  try {
    for (const { pile, order: orderPile } of order.piles(first, end)) {
      const inPile = tallyOf(expected, pile - first);
      const dropped = await orderPile(async () => {});
      setTally(distinct, pile - first, differenceOf(inPile, dropped));
      control.count('orderedBytes', inPile.recordBytes);
      countedBytes += inPile.recordBytes;
    }
    return distinct;
  } catch (error) {
    // The task may be done once more.
    control.count('orderedBytes', -countedBytes);
    throw error;
  }
}
