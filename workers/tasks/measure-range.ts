/**
 * Tasks before the shuffle pass, which put piles in order and write nothing. They find the records at which shards may be
 * cut, what parts of a pile hold, and what stays of a pile where of equal records one is kept.
 */
import { inPhase } from '../../src/floor/phase-clock.js';
import {
  addRecordTotals,
  emptyTotals,
  NO_TOTALS,
  type PileTotals,
  type RecordTotals,
  requireSameTotals,
  setTotalsOfPile,
  subtractRecordTotals,
  totalsOfPile,
} from '../../src/piles/pile-totals.js';
import type { Crossing } from '../../src/plan/shard-cuts.js';
import { openPileOrderer, type PilesTask } from '../piles/open-pile-orderer.js';
import type { PileOrderer } from '../piles/pile-orderer.js';

export interface MeasureCrossingsTask extends PilesTask {
  readonly pile: number;
  readonly by: 'rank' | 'byte';
  /** Ranks or bytes, counted from the beginning of the pile, ascending. The pile has more than that. */
  readonly limits: readonly number[];
}

/** The record, or bundle, across each limit, in bytes from the beginning of the pile. No record lies across a rank. */
export async function measureCrossings(task: MeasureCrossingsTask): Promise<Crossing[]> {
  const { pile, by, limits } = task;
  const { order } = await openPileOrderer(task);
  const crossings: Crossing[] = [];
  const reached = { rank: 0, byte: 0 };
  /** The byte at which the last record or bundle begins, and its key. */
  let start = 0;
  let key: bigint | undefined;
  const nextLimit = () => limits[crossings.length] ?? Number.POSITIVE_INFINITY;
  const cross = () => {
    const { byte: end, [by]: place } = reached;
    while (nextLimit() <= place) crossings.push({ start: nextLimit() === place ? end : start, end });
  };
  const measure = (recordCount: number) => {
    let isContinued = order.isBundled && order.keyAt(0) === key;
    for (let index = 0; index < recordCount; isContinued = false) {
      if (!isContinued) cross();
      if (nextLimit() === Number.POSITIVE_INFINITY) return;
      const { next, byteLength, lastBytes } = order.measureUnits(index, Math.max(1, nextLimit() - reached[by]), by);
      reached.rank += next - index;
      reached.byte += byteLength;
      if (!isContinued || lastBytes < byteLength) start = reached.byte - lastBytes;
      index = next;
    }
    key = order.keyAt(recordCount - 1);
  };
  for (const { order: orderPile } of order.piles(pile, pile + 1)) {
    await orderPile(async (recordCount) => inPhase('gather', () => measure(recordCount)));
  }
  cross();
  return crossings;
}

/** The ascending ends of all parts of a pile but the last one: before the record of a rank in the pile, or of a key. */
export type PartEnds =
  | { readonly by: 'rank'; readonly ends: readonly number[] }
  | { readonly by: 'key'; readonly ends: readonly bigint[] };

export interface MeasurePartsTask extends PilesTask {
  readonly pile: number;
  /** The totals that the pile must have. For a pile that is cut: what the output has of it. */
  readonly expected: RecordTotals;
  readonly ends: PartEnds;
}

export interface PartMeasure extends RecordTotals {
  readonly longestRecordBytes: number;
}

const NO_RECORDS: PartMeasure = { ...NO_TOTALS, longestRecordBytes: 0 };

export async function measureParts(task: MeasurePartsTask): Promise<PartMeasure[]> {
  const { pile, expected, ends, cutPile } = task;
  const { order } = await openPileOrderer(task);
  const parts = Array.from({ length: ends.ends.length + 1 }, () => ({ ...NO_RECORDS }));
  let rank = 0;
  let part = 0;
  const measure = (recordCount: number) => {
    const count = pile === cutPile ? Math.min(recordCount, expected.records - rank) : recordCount;
    for (let index = 0; index < count; ) {
      const end = endOfPart(ends, part, order, rank, index, count);
      addRecords(parts[part] ?? { ...NO_RECORDS }, order, index, end);
      if (end < count) part += 1;
      index = end;
    }
    rank += count;
  };
  for (const { order: orderPile } of order.piles(pile, pile + 1)) {
    await orderPile(async (recordCount) => inPhase('gather', () => measure(recordCount)));
  }
  requireSameTotals(pile, parts.reduce<RecordTotals>(addRecordTotals, NO_TOTALS), expected);
  return parts;
}

/** Returns the index before which the part ends, at most `count`. @param rank of the record at index 0 in the pile. */
function endOfPart(
  { by, ends }: PartEnds,
  part: number,
  order: PileOrderer,
  rank: number,
  index: number,
  count: number,
): number {
  const end = ends[part];
  if (end === undefined) return count;
  if (by === 'rank') return Math.max(index, Math.min(count, Number(end) - rank));
  let low = index;
  let high = count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (order.keyAt(middle) < end) low = middle + 1;
    else high = middle;
  }
  return low;
}

function addRecords(
  part: { -readonly [Name in keyof PartMeasure]: PartMeasure[Name] },
  order: PileOrderer,
  index: number,
  end: number,
): void {
  const before = order.checksum;
  order.hashInPlace(index, end);
  part.checksum = BigInt.asUintN(64, part.checksum + order.checksum - before);
  part.records += end - index;
  for (let i = index; i < end; i++) {
    const byteLength = order.byteLengthOf(i);
    part.bytes += byteLength;
    part.longestRecordBytes = Math.max(part.longestRecordBytes, byteLength);
  }
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
