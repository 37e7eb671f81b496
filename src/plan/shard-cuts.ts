/**
 * Cuts the global order into shards. Pure. Shard i begins at the record of rank `cutAt(i)`, or at the first record that
 * starts at byte `cutAt(i)` of the whole output or later. Nearly all cuts are arithmetic, so a task needs no list of them,
 * however many shards there are. Where records are too long for that, `fitCuts` makes a list. A task that writes goes from cut
 * to cut (`../sinks/part-cursor.ts`).
 */
import { counted, InputError, UsageError } from '../errors.js';
import type { Amount } from '../piles/pile-totals.js';

/** Plain data; crosses threads. */
export type ShardCuts = PlainCuts | PartCuts;

/** Cuts of a whole order, or of one part of it. */
export type PlainCuts = RankCuts | EvenCuts | FittedCuts;

interface RankCuts {
  readonly by: 'rank';
  readonly shardCount: number;
  readonly totalRecords: number;
  readonly recordsPerShard?: number;
}

/** Arithmetic cuts of shards of nearly equal size. */
interface EvenCuts {
  readonly by: 'byte';
  readonly shardCount: number;
  readonly totalBytes: number;
}

/** Cuts at the beginnings of records. */
interface FittedCuts {
  readonly by: 'byte';
  readonly shardCount: number;
  /** The bytes at which the shards from `firstShard` on begin. */
  readonly starts: Float64Array;
  /** 0, unless the cuts are those of one task. */
  readonly firstShard: number;
}

/** A part of the order that has shards of its own, such as a split. It begins at a record that is known. */
export interface OrderPart {
  /** The name of a split or a section. Absent: the part is the whole order. */
  readonly name?: string | undefined;
  readonly firstRank: number;
  readonly firstByte: number;
  readonly bytes: number;
  /** The cuts, counted from the beginning of the part. */
  readonly cuts: PlainCuts;
}

/** The cuts of several parts, one after the other. There may be many: they are searched by halves. */
export interface PartCuts {
  readonly by: 'rank' | 'byte';
  readonly shardCount: number;
  /** The parts in their order; of the cuts of one task, those that it needs. */
  readonly parts: readonly (OrderPart & { readonly firstShard: number })[];
}

/** The facts that decide about cuts that depend on where the records lie. */
export type CutsToFit = BytesToFit | BundlesToCut;

interface BytesToFit {
  readonly totalBytes: number;
  /** The most bytes of records that a shard may have, and what it has besides. */
  readonly roomBytes: number;
  readonly bytesAround: number;
  /** Cuts that are good too, if they make as few shards; undefined if some of these could be empty. */
  readonly even: EvenCuts | undefined;
  /** A limit of this many bytes makes fewer shards than `MOST_SHARDS`, whatever the order of the records. */
  readonly enoughShardBytes: number;
}

/** The facts that decide about cuts between bundles: each lies at the first bundle that begins at its rank or later. */
interface BundlesToCut {
  readonly shardCount: number;
  readonly totalRecords: number;
  readonly totalBytes: number;
}

/** How the output is cut into shards. `by` selects one of three rules. */
export type ShardRule =
  /** This many shards, 1 to 1,000,000. Their record counts differ by at most one. */
  | { readonly by: 'count'; readonly shardCount: number }
  /** This many records in each shard, at least 1. The last shard may hold fewer. */
  | { readonly by: 'records'; readonly recordsPerShard: number }
  /** Shards of nearly equal size. No shard exceeds this many bytes before compression, and no record is cut. */
  | { readonly by: 'bytes'; readonly maxShardBytes: number };

export const ONE_OUTPUT: ShardRule = { by: 'count', shardCount: 1 };

/** A request for more files is a mistake, and most file systems cannot cope with more. */
export const MOST_SHARDS = 1_000_000;

/** A record is long if it has more than this part of the bytes that a shard may have. */
const LONG_SHARE = 16;

export function isLong(recordBytes: number, roomBytes: number): boolean {
  return recordBytes * LONG_SHARE > roomBytes;
}

/**
 * Returns cuts, or what is needed to find them: if there are long records, for `fitCuts`. So there may be among bundles, whose
 * sizes nobody knows.
 */
export function planShardCuts(rule: ShardRule, totals: OutputTotals, areBundled = false): PlainCuts | CutsToFit {
  const cuts = chooseCuts(rule, totals, areBundled);
  if ('roomBytes' in cuts) return cuts;
  if (areBundled && rule.by === 'count')
    return { shardCount: rule.shardCount, totalRecords: totals.records, totalBytes: totals.bytes };
  const enough =
    rule.by === 'records'
      ? `\`shards.recordsPerShard\` of at least ${Math.ceil(totals.records / MOST_SHARDS)}`
      : enoughText(enoughShardBytes(totals, 1));
  requireFewShards(cuts.shardCount, enough);
  return cuts;
}

/** @param expected what makes few enough, such as an option and its least value. */
export function requireFewShards(shardCount: number, expected: string): void {
  if (shardCount <= MOST_SHARDS) return;
  throw new UsageError(
    `the output would have ${counted(shardCount, 'shard')}, more than ${MOST_SHARDS}; expected ${expected}`,
  );
}

function enoughText(shardBytes: number): string {
  return `\`shards.maxShardBytes\` of at least ${shardBytes}B`;
}

/** @param shardsForEach how many shards there may be for each piece of the size that is left beside the longest record. */
function enoughShardBytes({ bytes, longestRecordBytes, bytesAround }: OutputTotals, shardsForEach: number): number {
  return longestRecordBytes + bytesAround + shardsForEach * Math.ceil(bytes / MOST_SHARDS);
}

export interface OutputTotals {
  readonly records: number;
  readonly bytes: number;
  readonly longestRecordBytes: number;
  /** Bytes that each shard has besides its records. */
  readonly bytesAround: number;
}

function chooseCuts(rule: ShardRule, totals: OutputTotals, areBundled: boolean): PlainCuts | BytesToFit {
  switch (rule.by) {
    case 'count':
      return { by: 'rank', shardCount: rule.shardCount, totalRecords: totals.records };
    case 'records':
      return {
        by: 'rank',
        shardCount: Math.max(1, Math.ceil(totals.records / rule.recordsPerShard)),
        totalRecords: totals.records,
        recordsPerShard: rule.recordsPerShard,
      };
    case 'bytes':
      return chooseByteCuts(rule.maxShardBytes, totals, areBundled);
  }
}

function chooseByteCuts(maxShardBytes: number, totals: OutputTotals, areBundled: boolean): EvenCuts | BytesToFit {
  const { bytes, longestRecordBytes, bytesAround } = totals;
  const roomBytes = maxShardBytes - bytesAround;
  const fewestBytes = Math.max(1, longestRecordBytes);
  if (roomBytes < fewestBytes) {
    const around = bytesAround === 0 ? '' : `, a shard has ${counted(bytesAround, 'byte')} besides its records,`;
    // One record a shard may make too many shards.
    const enough = bytes > (MOST_SHARDS / 2) * fewestBytes ? enoughShardBytes(totals, 2) : fewestBytes + bytesAround;
    throw new InputError(
      'ERR_RECORD_TOO_LONG',
      `the longest record has ${counted(longestRecordBytes, 'byte')}${around} and no shard may have more than ${maxShardBytes}; expected \`shards.maxShardBytes\` of at least ${enough}B`,
    );
  }
  // A cut at i * total / N moves forward to the next record start, by at most longest - 1 bytes;
  // N is the smallest number for which total / N plus that move still fits.
  const evenCount = Math.max(1, Math.ceil(bytes / (roomBytes - fewestBytes + 1)));
  const even: EvenCuts = { by: 'byte', shardCount: evenCount, totalBytes: bytes };
  if (!areBundled && !isLong(longestRecordBytes, roomBytes)) return even;
  if (bytes <= roomBytes) return { ...even, shardCount: 1 };
  // A record begins in every stretch of the output that is as long as the longest record.
  const noneIsEmpty = longestRecordBytes <= Math.floor(bytes / evenCount);
  return {
    totalBytes: bytes,
    roomBytes,
    bytesAround,
    even: noneIsEmpty && !areBundled ? even : undefined,
    enoughShardBytes: enoughShardBytes(totals, 2),
  };
}

/** floor(index * total / count), exact for every product. */
export function proportion(index: number, total: number, count: number): number {
  return Number((BigInt(index) * BigInt(total)) / BigInt(count));
}

/** The limit at which shard `shard` begins: a rank or a byte, according to `cuts.by`. */
export function cutAt(cuts: ShardCuts, shard: number): number {
  if (shard >= cuts.shardCount) return Number.POSITIVE_INFINITY;
  if ('parts' in cuts) {
    const part = cuts.parts[indexOfPart(cuts, shard)];
    return placeOf(part, cuts.by) + (part === undefined ? 0 : cutAt(part.cuts, shard - part.firstShard));
  }
  if ('starts' in cuts) return cuts.starts[shard - cuts.firstShard] ?? Number.POSITIVE_INFINITY;
  if (cuts.by === 'byte') return proportion(shard, cuts.totalBytes, cuts.shardCount);
  if (cuts.recordsPerShard !== undefined) return shard * cuts.recordsPerShard;
  return proportion(shard, cuts.totalRecords, cuts.shardCount);
}

/** Returns the byte at which a shard begins. Undefined: only the records tell it. */
export function knownByteOf(cuts: ShardCuts, shard: number): number | undefined {
  if (shard === 0) return 0;
  if (!('parts' in cuts)) return 'starts' in cuts ? cutAt(cuts, shard) : undefined;
  const part = cuts.parts[indexOfPart(cuts, shard)];
  const byte = part && knownByteOf(part.cuts, shard - part.firstShard);
  return byte === undefined ? undefined : placeOf(part, 'byte') + byte;
}

function indexOfPart({ parts }: PartCuts, shard: number): number {
  return lastIndex(parts.length, (i) => (parts[i]?.firstShard ?? 0) <= shard);
}

/** Returns the rank or byte of the whole order at which a part begins. */
function placeOf(part: OrderPart | undefined, by: ShardCuts['by']): number {
  return (by === 'rank' ? part?.firstRank : part?.firstByte) ?? Number.POSITIVE_INFINITY;
}

/** The last shard whose cut lies at or before `rank` or `byte`. */
export function shardAt(cuts: ShardCuts, rankOrByte: number): number {
  return lastIndex(cuts.shardCount, (shard) => cutAt(cuts, shard) <= rankOrByte);
}

/** Returns the last index that fits, where all before it fit. Index 0 is taken to fit. */
function lastIndex(count: number, fits: (index: number) => boolean): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Joins the cuts of parts that follow each other and are all cut by rank, or all by byte. */
export function joinCuts(parts: readonly OrderPart[]): PartCuts {
  let shardCount = 0;
  const joined = parts.map((part) => {
    const firstShard = shardCount;
    shardCount += part.cuts.shardCount;
    return { ...part, firstShard };
  });
  requireFewShards(shardCount, 'fewer or larger shards for each split');
  return { by: parts[0]?.cuts.by ?? 'rank', shardCount, parts: joined };
}

/** Cuts at these bytes, the first of which is 0. */
export function fittedCuts(starts: ArrayLike<number>): FittedCuts {
  return { by: 'byte', shardCount: starts.length, starts: Float64Array.from(starts), firstShard: 0 };
}

/**
 * Returns the cuts that a task needs that begins in shard `firstShard` and ends at `end`, a rank or a byte of the whole order as
 * `cuts.by` says.
 */
export function cutsWithin(cuts: ShardCuts, firstShard: number, end: number): ShardCuts {
  if (!('parts' in cuts)) return plainCutsWithin(cuts, firstShard, end);
  const { by, parts } = cuts;
  const lastPart = lastIndex(parts.length, (i) => placeOf(parts[i], by) <= end);
  const needed = parts.slice(indexOfPart(cuts, firstShard), lastPart + 1).map((part) => {
    const first = Math.max(0, firstShard - part.firstShard);
    return { ...part, cuts: plainCutsWithin(part.cuts, first, end - placeOf(part, by)) };
  });
  return { ...cuts, parts: needed };
}

function plainCutsWithin(cuts: PlainCuts, firstShard: number, end: number): PlainCuts {
  if (!('starts' in cuts)) return cuts;
  return { ...cuts, starts: cuts.starts.slice(firstShard, shardAt(cuts, end) + 1), firstShard };
}

/** The record or bundle [start, end) that lies across a place in the output. If one begins there, both are its first byte. */
export interface Crossing {
  readonly start: number;
  readonly end: number;
}

/** Finds the records, or bundles, across these bytes or ranks, which ascend. */
type MeasureCrossings = (by: ShardCuts['by'], places: readonly number[]) => Promise<readonly Crossing[]>;

/**
 * The part of a shard that stays free for the records across its ends. The first makes the fewest shards, and is nearly
 * always enough; the second always leaves room for records that are not long.
 */
const SPARE_SHARES = [512, 16] as const;

/**
 * Cuts the output where records begin: no shard is empty or too large, and only next to a long record may one be much smaller
 * than the others. Returns the even cuts if they make as few shards. Between bundles, shards may be empty, where these are large.
 */
export async function fitCuts(limits: CutsToFit, measure: MeasureCrossings): Promise<EvenCuts | FittedCuts> {
  const { totalBytes } = limits;
  const measureEvenly = (by: ShardCuts['by'], total: number, count: number) =>
    measure(
      by,
      Array.from({ length: count - 1 }, (_, i) => proportion(i + 1, total, count)),
    );
  if (!('roomBytes' in limits)) {
    const crossings = await measureEvenly('rank', limits.totalRecords, limits.shardCount);
    return fittedCuts([0, ...crossings.map(({ end }) => end)]);
  }
  const { roomBytes, even } = limits;
  const enough = enoughText(limits.enoughShardBytes);
  let fitted: FittedCuts = fittedCuts([0]);
  for (const share of SPARE_SHARES) {
    const count = Math.ceil(totalBytes / (roomBytes - Math.floor(roomBytes / share)));
    requireFewShards(Math.min(count, even?.shardCount ?? count), enough);
    if (even !== undefined && even.shardCount <= count) return even;
    const crossings = await measureEvenly('byte', totalBytes, count);
    requireFit(crossings, limits);
    fitted = fittedCuts(chooseStarts(crossings, totalBytes, roomBytes));
    if (!leavesShortRecordAlone(fitted.starts, crossings, roomBytes)) break;
  }
  const cuts = even !== undefined && even.shardCount <= fitted.shardCount ? even : fitted;
  requireFewShards(cuts.shardCount, enough);
  return cuts;
}

/** Returns how many shards of an output or part have no record. Undefined: none. */
export function countEmptyShards(cuts: PlainCuts, { records, bytes }: Amount): number | undefined {
  // Arithmetic cuts leave shards empty only where records are too few.
  if (!('starts' in cuts)) return Math.max(0, cuts.shardCount - records) || undefined;
  const ends = [...cuts.starts.subarray(1), bytes];
  return ends.filter((end, shard) => end === cuts.starts[shard]).length || undefined;
}

/** Refuses bundles that no shard may have. One that is so large lies across some byte that is measured. */
function requireFit(crossings: readonly Crossing[], { roomBytes, bytesAround }: BytesToFit): void {
  const largest = crossings.reduce((most, { start, end }) => Math.max(most, end - start), 0);
  if (largest > roomBytes)
    throw new InputError(
      'ERR_BUNDLE_TOO_LARGE',
      `a bundle of records has ${counted(largest, 'byte')} and no shard may have more than ${roomBytes}; expected \`shards.maxShardBytes\` of at least ${largest + bytesAround}B`,
    );
}

/**
 * Begins each shard at the last end of a crossing that leaves the shard before it within its room. There always is one: a
 * record fits a shard, and so does what lies between two crossings. No choice among these ends makes fewer shards.
 */
function chooseStarts(crossings: readonly Crossing[], totalBytes: number, roomBytes: number): number[] {
  const starts = [0];
  let begin = 0;
  let reached = 0;
  const reach = (byte: number) => {
    // Several bytes may lie in one record.
    if (byte <= reached) return;
    if (byte - begin > roomBytes) {
      starts.push(reached);
      begin = reached;
    }
    reached = byte;
  };
  for (const { start, end } of crossings) {
    reach(start);
    reach(end);
  }
  reach(totalBytes);
  return starts;
}

/** Returns whether a shard is one record that is not long: its neighbours have too little room for it. */
function leavesShortRecordAlone(starts: Iterable<number>, crossings: readonly Crossing[], roomBytes: number): boolean {
  const isStart = new Set(starts);
  return crossings.some(
    ({ start, end }) => start < end && !isLong(end - start, roomBytes) && isStart.has(start) && isStart.has(end),
  );
}
