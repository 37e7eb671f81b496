/**
 * Groups the merged piles into ranges for outputs that are made of units. A task writes the units that begin in its range: it
 * leaves out the records before the first of them, and reads on after the range to the end of the last one. So the pile in
 * which a range begins is read by two tasks. Pure.
 */
import type { PileTotals } from '../piles/pile-totals.js';
import type { PileRange } from './pile-ranges.js';
import { type OwnUnits, ownUnits, type UnitCuts, unitsFrom } from './unit-cuts.js';

/** The ranges, for each thread, that the piles left would make: so all threads end at about the same time. */
const RANGES_PER_THREAD = 8;
/** Each range reads one pile more, and what a longer one makes waits for its turn. */
const MOST_PILES_WANTED = 4;

/** @param isDone whether the units that begin in a pile are written already. */
export function planUnitRanges(
  totals: PileTotals,
  units: UnitCuts,
  threadCount: number,
  isDone: (pile: number) => boolean,
): PileRange[] {
  const column = units.cuts.by === 'rank' ? totals.records : totals.recordBytes;
  const ahead = unitsFrom(units, 0, 0);
  let unit = ahead.next().value;
  const ranges: PileRange[] = [];
  let range: { first: number; firstRank: number; firstByte: number } | undefined;
  let rank = 0;
  let byte = 0;
  let place = 0;
  let left = totals.records.reduce((count, records, pile) => count + Number(records > 0 && !isDone(pile)), 0);
  let wanted = 0;
  const endBefore = (pile: number) => {
    if (range !== undefined) {
      const { first, firstRank, firstByte } = range;
      ranges.push({ first, end: pile, firstRank, firstByte });
    }
    range = undefined;
  };
  for (let pile = 0; pile < totals.records.length; pile++) {
    const end = place + (column[pile] ?? 0);
    const mayEnd = unit !== undefined && unit.begin < end && range !== undefined && pile - range.first >= wanted;
    if (isDone(pile) || mayEnd) endBefore(pile);
    if (!isDone(pile)) {
      if (range === undefined) wanted = pilesForNextRange(left, threadCount);
      range ??= { first: pile, firstRank: rank, firstByte: byte };
      left -= Number((totals.records[pile] ?? 0) > 0);
    }
    while (unit !== undefined && unit.begin < end) unit = ahead.next().value;
    rank += totals.records[pile] ?? 0;
    byte += totals.recordBytes[pile] ?? 0;
    place = end;
  }
  endBefore(totals.records.length);
  return ranges;
}

function pilesForNextRange(left: number, threadCount: number): number {
  return Math.max(1, Math.min(Math.floor(left / (RANGES_PER_THREAD * threadCount)), MOST_PILES_WANTED));
}

interface UnitsToWrite {
  /** The bytes of all records. */
  readonly bytes: number;
  readonly pileCount: number;
  readonly threadCount: number;
  /** The most bytes of a unit, and of a shard. */
  readonly unitBytes: number;
  readonly shardBytes: number;
}

/**
 * The most bytes of records whose units are there and not in the output: those that each thread makes, and those of a shard
 * that another task began, which wait for their turn.
 */
export function maxPendingBytes({ bytes, pileCount, threadCount, unitBytes, shardBytes }: UnitsToWrite): number {
  const piles = pilesForNextRange(pileCount, threadCount) + 1;
  const rangeBytes = (bytes / pileCount) * piles + unitBytes;
  return Math.min(bytes, threadCount * Math.min(rangeBytes, shardBytes + unitBytes));
}

/** The end of the piles that hold the units of a range: that of the range, or after it. */
export function endOfReading({ end }: PileRange, own: OwnUnits, totals: PileTotals): number {
  const column = own.units.cuts.by === 'rank' ? totals.records : totals.recordBytes;
  let unitsEnd = own.end;
  for (const unit of ownUnits(own)) unitsEnd = unit.end;
  let pile = end;
  for (let place = own.end; place < unitsEnd && pile < column.length; pile++) place += column[pile] ?? 0;
  return pile;
}
