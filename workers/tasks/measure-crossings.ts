/** A task before the shuffle pass: finds the records of a pile at which shards may be cut. It writes nothing. */

import { inPhase } from '../../src/phase-clock.js';
import type { Crossing } from '../../src/plan/shard-cuts.js';
import { openOrder, type PilesTask } from './open-order.js';

export interface MeasureTask extends PilesTask {
  readonly pile: number;
  readonly by: 'rank' | 'byte';
  /** Ranks or bytes, counted from the beginning of the pile, ascending. The pile has more than that. */
  readonly limits: readonly number[];
}

const NO_LIMIT = (1n << 63n) - 1n;

/** The record across each limit, in bytes from the beginning of the pile. None lies across a rank. */
export async function measureCrossings(task: MeasureTask): Promise<Crossing[]> {
  const { by, limits } = task;
  const { order } = await openOrder(task, async () => {});
  const crossings: Crossing[] = [];
  let rank = 0;
  let byte = 0;
  const measure = (recordCount: number) => {
    let index = 0;
    for (const limit of limits.slice(crossings.length)) {
      const endIndex = by === 'rank' ? Math.min(recordCount, index + limit - rank) : recordCount;
      const startLimit = by === 'byte' ? BigInt(Math.max(0, limit - byte)) : NO_LIMIT;
      const next = order.measureUpTo(index, endIndex, startLimit);
      rank += next - index;
      byte += order.measuredBytes;
      index = next;
      // The rest is in the next part of the pile.
      if ((by === 'rank' ? rank : byte) < limit) return;
      const crossingBytes = by === 'byte' && byte > limit ? order.byteLengthOf(index - 1) : 0;
      crossings.push({ start: byte - crossingBytes, end: byte });
    }
  };
  for (const { order: orderPile } of order.piles(task.pile, task.pile + 1)) {
    await orderPile(async (recordCount) => {
      inPhase('gather', () => measure(recordCount));
    });
  }
  return crossings;
}
