/**
 * Cuts shards into units: consecutive records that a file stores together, as the row groups of a table. Pure. Where units
 * begin follows from the order of the records alone, so they are the same whatever the piles, the threads and the memory.
 *
 * The units of a shard are of nearly equal size: by rank if ranks cut the shards, else by byte. A unit begins at the record of
 * its rank, or at the first record that starts at its byte or later; so a unit may be empty if records are longer.
 */
import type { Amount, PileTotals } from '../piles/pile-totals.js';
import type { PileRange } from './pile-ranges.js';
import { cutAt, cutsWithin, proportion, type ShardCuts, shardAt } from './shard-cuts.js';

/** Plain data; crosses threads. */
export interface UnitCuts {
  readonly cuts: ShardCuts;
  /** The end of the order: a rank or a byte, as `cuts.by` says. So are all places in this file. */
  readonly end: number;
  /** The most that a unit has; by byte, a record more. */
  readonly mostOfUnit: number;
  /**
   * All units of a shard but the last have `mostOfUnit`, and all records so much; of 1 where ranks cut the shards. Absent: the
   * units of a shard are of nearly equal size.
   */
  readonly step?: number | undefined;
}

/** Places [begin, end) of one shard. */
export interface Unit {
  readonly shard: number;
  readonly begin: number;
  readonly end: number;
  /** True if it is the first one of its shard. */
  readonly beginsShard: boolean;
}

/** How much a unit has at the most, each at least 1. Whichever makes smaller units counts. */
export interface UnitRule {
  /** The bytes on average: units of shards that are cut by rank have equal numbers of records. */
  readonly bytes: number;
  /** The records of a unit. Absent: any number. On average where bytes cut the shards. */
  readonly records?: number | undefined;
}

/** @param total of all records of the output. */
export function planUnitCuts(cuts: ShardCuts, total: Amount, { bytes, records }: UnitRule): UnitCuts {
  const [own, other] = cuts.by === 'rank' ? [total.records, total.bytes] : [total.bytes, total.records];
  const [mostOwn, mostOther] = cuts.by === 'rank' ? [records, bytes] : [bytes, records];
  const converted = mostOther === undefined ? Number.POSITIVE_INFINITY : proportion(mostOther, own, Math.max(1, other));
  return { cuts, end: own, mostOfUnit: Math.max(1, Math.min(mostOwn ?? Number.POSITIVE_INFINITY, converted)) };
}

/** Units of so many records, all of one length, as whole chunks of an array need them. */
export function planExactCuts(cuts: ShardCuts, total: Amount, unitRecords: number, recordBytes: number): UnitCuts {
  const isByRank = cuts.by === 'rank';
  const step = isByRank ? 1 : recordBytes;
  return { cuts, end: isByRank ? total.records : total.bytes, mostOfUnit: unitRecords * step, step };
}

/**
 * The units that begin at `place` or later, in order.
 * @param firstShard the last shard that begins at `place` or before.
 */
export function* unitsFrom(
  { cuts, end: endOfAll, mostOfUnit, step }: UnitCuts,
  place: number,
  firstShard: number = shardAt(cuts, place),
): Generator<Unit, undefined> {
  for (let shard = firstShard; shard < cuts.shardCount; shard++) {
    const recordAt = (cut: number) => (step === undefined ? cut : Math.ceil(cut / step) * step);
    const begin = recordAt(cutAt(cuts, shard));
    if (begin >= endOfAll) return;
    const size = Math.min(recordAt(cutAt(cuts, shard + 1)), endOfAll) - begin;
    const count = Math.ceil(size / mostOfUnit);
    const beginOf = (unit: number) =>
      begin + (step === undefined ? proportion(unit, size, count) : Math.min(unit * mostOfUnit, size));
    let unit = place <= begin || count === 0 ? 0 : Math.min(count, Math.floor(((place - begin) / size) * count));
    while (unit > 0 && beginOf(unit - 1) >= place) unit -= 1;
    while (unit < count && beginOf(unit) < place) unit += 1;
    for (; unit < count; unit++) yield { shard, begin: beginOf(unit), end: beginOf(unit + 1), beginsShard: unit === 0 };
  }
}

/** The facts that a task needs to find the units that begin at places [first, end). */
export interface OwnUnits {
  readonly units: UnitCuts;
  readonly first: number;
  readonly end: number;
  /** The last shard that begins at `first` or before. */
  readonly firstShard: number;
}

/** The units that begin in a range of piles. They may end in piles after it. */
export function unitsOfRange(
  units: UnitCuts,
  { first, end, firstRank, firstByte }: PileRange,
  totals: PileTotals,
): OwnUnits {
  const { cuts } = units;
  const [column, begin] = cuts.by === 'rank' ? [totals.records, firstRank] : [totals.recordBytes, firstByte];
  const endOfRange = column.subarray(first, end).reduce((sum, more) => sum + more, begin);
  const firstShard = shardAt(cuts, begin);
  // The last unit may reach to the end of its shard.
  const within = cutsWithin(cuts, firstShard, cutAt(cuts, shardAt(cuts, endOfRange) + 1));
  return { units: { ...units, cuts: within }, first: begin, end: endOfRange, firstShard };
}

export function* ownUnits({ units, first, end, firstShard }: OwnUnits): Generator<Unit, undefined> {
  for (const unit of unitsFrom(units, first, firstShard)) {
    if (unit.begin >= end) return;
    yield unit;
  }
}
