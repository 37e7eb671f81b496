/**
 * Tasks before the shuffle pass, which put piles in order and write nothing. They find the records at which shards may be
 * cut, what parts of a pile hold, and what stays of a pile where of equal records one is kept.
 */
import { inPhase } from '../../src/floor/phase-clock.js';
import {
  emptyTotals,
  type MeasuredLimit,
  NOTHING_BEFORE,
  type PileTotals,
  type RecordTotals,
  requireSameTotals,
  setTotalsOfPile,
  subtractRecordTotals,
  totalsOfPile,
} from '../../src/piles/pile-totals.js';
import { openPileOrderer, type PilesTask } from '../piles/open-pile-orderer.js';
import type { LimitKind } from '../piles/pile-orderer.js';

export interface MeasureTask extends PilesTask {
  readonly pile: number;
  readonly by: LimitKind;
  /** Ranks or bytes, counted from the beginning of the pile, or keys, ascending. */
  readonly limits: readonly bigint[];
  /**
   * The totals that the pile must have. For a pile that is cut: what the output has of it. Absent: it is read no further than
   * its limits, and nobody needs checksums.
   */
  readonly expected?: RecordTotals | undefined;
}

/** Returns what lies before each limit. */
export async function measurePile(task: MeasureTask): Promise<MeasuredLimit[]> {
  const { pile, by, limits, expected, cutPile } = task;
  const { order } = await openPileOrderer(task);
  const areBundles = order.isBundled && expected === undefined;
  const most = pile === cutPile && expected !== undefined ? expected.records : Number.POSITIVE_INFINITY;
  const found: MeasuredLimit[] = [];
  // All that was passed over. The last record or bundle begins at `start`.
  const reached = { ...NOTHING_BEFORE };
  let lastKey: bigint | undefined;
  const reachedPlace = () => (by === 'key' ? 0n : BigInt(by === 'rank' ? reached.records : reached.bytes));
  /** @param key of the next record. */
  const cross = (key: bigint) => {
    const place = by === 'key' ? key : reachedPlace();
    for (let limit = limits[found.length]; limit !== undefined && limit <= place; limit = limits[found.length])
      found.push({ ...reached, start: limit === place ? reached.bytes : reached.start });
  };
  const measure = (recordCount: number) => {
    const count = Math.min(recordCount, most - reached.records);
    let isContinued = areBundles && order.keyAt(0) === lastKey;
    for (let index = 0; index < count; isContinued = false) {
      if (!isContinued) cross(order.keyAt(index));
      const limit = limits[found.length];
      if (limit === undefined && expected === undefined) return;
      const left = limit === undefined ? BigInt(count - index) : limit - reachedPlace();
      const units = order.measureUnits(index, left > 0n ? left : 1n, limit === undefined ? 'rank' : by, areBundles);
      reached.records += units.next - index;
      reached.bytes += units.byteLength;
      reached.longestRecordBytes = Math.max(reached.longestRecordBytes, units.longestBytes);
      if (!isContinued || units.lastBytes < units.byteLength) reached.start = reached.bytes - units.lastBytes;
      if (expected !== undefined) {
        const before = order.checksum;
        order.hashInPlace(index, units.next);
        reached.checksum = BigInt.asUintN(64, reached.checksum + order.checksum - before);
      }
      index = units.next;
    }
    lastKey = order.keyAt(recordCount - 1);
  };
  for (const { order: orderPile } of order.piles(pile, pile + 1)) {
    await orderPile(async (recordCount) => inPhase('gather', () => measure(recordCount)));
  }
  cross(2n ** 64n);
  if (expected !== undefined) requireSameTotals(pile, reached, expected);
  return found;
}

export interface MeasureDistinctTask extends PilesTask {
  readonly first: number;
  readonly end: number;
  readonly expected: PileTotals;
}

/** The totals of what stays of each pile. The shuffle pass verifies them. */
export async function measureDistinct(task: MeasureDistinctTask): Promise<PileTotals> {
  const { first, end, expected } = task;
  const { order, control } = await openPileOrderer(task);
  const distinct = emptyTotals(end - first);
  let countedBytes = 0;
  try {
    for (const { pile, order: orderPile } of order.piles(first, end)) {
      const inPile = totalsOfPile(expected, pile - first);
      const dropped = await orderPile(async () => {});
      setTotalsOfPile(distinct, pile - first, subtractRecordTotals(inPile, dropped));
      control.count('orderedBytes', inPile.bytes);
      countedBytes += inPile.bytes;
    }
    return distinct;
  } catch (error) {
    // The task may be done once more.
    control.count('orderedBytes', -countedBytes);
    throw error;
  }
}
