/**
 * Groups the merged piles into ranges for outputs that are made of units. A task writes the units that begin in its range: it
 * leaves out the records before the first of them, and reads on behind the range to the end of the last one. So the pile in
 * which a range begins is read by two tasks. Pure.
 */
import type { PileTotals } from '../piles/pile-totals.js';
import type { PileRange } from './pile-ranges.js';
import { type OwnUnits, ownUnits, type UnitCuts, unitsFrom } from './unit-cuts.js';

/** So many balance the threads. */
const RANGES_A_THREAD = 4;
/** Then a task reads an eighth more than its piles. */
const MOST_PILES_WANTED = 8;
/** A range that begins with a shard need not wait for those before it, so it may be longer for that. */
const LONGER = 2;

/**
 * @param leastPiles what a range has at the least, if there are enough: each range reads one more.
 * @param isDone whether the units that begin in a pile are written already.
 */
export function planUnitRanges(
  totals: PileTotals,
  units: UnitCuts,
  leastPiles: number,
  isDone: (pile: number) => boolean,
): PileRange[] {
  const column = units.cuts.by === 'rank' ? totals.records : totals.recordBytes;
  const left = unitsFrom(units, 0, 0);
  let unit = left.next().value;
  const ranges: PileRange[] = [];
  let range: { first: number; firstRank: number; firstByte: number } | undefined;
  let rank = 0;
  let byte = 0;
  let place = 0;
  const endBefore = (pile: number) => {
    if (range !== undefined) {
      const { first, firstRank, firstByte } = range;
      ranges.push({ first, end: pile, firstRank, firstByte });
    }
    range = undefined;
  };
  for (let pile = 0; pile < totals.records.length; pile++) {
    const end = place + (column[pile] ?? 0);
    const begins = unit !== undefined && unit.begin < end ? unit : undefined;
    const isLong = (piles: number) => range !== undefined && pile - range.first >= piles;
    if (isDone(pile) || (begins !== undefined && isLong(begins.beginsShard ? leastPiles : LONGER * leastPiles)))
      endBefore(pile);
    if (!isDone(pile)) range ??= { first: pile, firstRank: rank, firstByte: byte };
    while (unit !== undefined && unit.begin < end) unit = left.next().value;
    rank += totals.records[pile] ?? 0;
    byte += totals.recordBytes[pile] ?? 0;
    place = end;
  }
  endBefore(totals.records.length);
  return ranges;
}

/** What a range has at the least, of so many piles with records. */
export function leastPilesOfRange(filledPiles: number, threads: number): number {
  const leastPiles = Math.floor(filledPiles / (RANGES_A_THREAD * threads));
  return Math.max(1, Math.min(leastPiles, MOST_PILES_WANTED));
}

interface UnitsToWrite {
  /** Of all records. */
  readonly bytes: number;
  readonly pileCount: number;
  readonly threads: number;
  /** Of a unit, and of a shard, at the most. */
  readonly unitBytes: number;
  readonly shardBytes: number;
}

/**
 * The most bytes of records whose units are there and not in the output: those that each thread makes, and those of a shard
 * that another task began, which wait for their turn.
 */
export function mostWaitingBytes({ bytes, pileCount, threads, unitBytes, shardBytes }: UnitsToWrite): number {
  const piles = LONGER * leastPilesOfRange(pileCount, threads) + 1;
  const rangeBytes = (bytes / pileCount) * piles + unitBytes;
  return Math.min(bytes, threads * Math.min(rangeBytes, shardBytes + unitBytes));
}

/** The end of the piles that hold the units of a range: that of the range, or behind it. */
export function endOfReading({ end }: PileRange, own: OwnUnits, totals: PileTotals): number {
  const column = own.units.cuts.by === 'rank' ? totals.records : totals.recordBytes;
  let unitsEnd = own.end;
  for (const unit of ownUnits(own)) unitsEnd = unit.end;
  let pile = end;
  for (let place = own.end; place < unitsEnd && pile < column.length; pile++) place += column[pile] ?? 0;
  return pile;
}
