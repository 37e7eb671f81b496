/**
 * Records of the finished ranges of piles: their part of the output is durable, so no attempt orders these piles again,
 * and the pile sets they came from may be deleted. Each record is a file of its own, numbered from 1, that never changes.
 */
import { join } from 'node:path';
import { checksumText, list, nullable, object, optional, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames } from '../io/paths.js';
import { damagedFile } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';
import { distinctTally, type RangeLimits } from './notes.js';

const NAME = /^done-(\d{6,})$/;

/** A part of a staged file: a later attempt verifies it before it relies on it. */
const writtenRegion = object({
  shard: wholeNumber(),
  start: wholeNumber(),
  end: wholeNumber(),
  /** The bytes of the records in it, decompressed. */
  recordBytes: wholeNumber(),
  /** The checksum of the bytes as they are stored. */
  checksum: checksumText,
});

/** A sample with a key that readers know, and the key by which it has its place in the order. */
const keyedSample = object({ sampleKey: text, key: checksumText });

/** The samples at both ends of a range, whose neighbours belong to other ranges. */
const rangeEnds = object({ first: keyedSample, last: keyedSample });

export const finishedRange = object({
  /** Piles [first, end). */
  first: wholeNumber(),
  end: wholeNumber(),
  regions: list(writtenRegion),
  /** Only if the samples of the framing have keys; null if the range has no sample. */
  ends: optional(nullable(rangeEnds)),
  /** What stays of each of its piles, if only the output can tell. */
  distinct: optional(list(distinctTally)),
});

const shape = object({ ranges: list(finishedRange) });

const format = new SealedFormat({ kind: 'ranges', version: 4, mostBytes: 2 ** 28, role: 'temp', shape });

export type KeyedSample = ValueOf<typeof keyedSample>;
export type RangeEnds = ValueOf<typeof rangeEnds>;
export type FinishedRange = ValueOf<typeof finishedRange>;

function recordName(number: number): string {
  return `done-${String(number).padStart(6, '0')}`;
}

export async function writeFinishedRanges(
  jobDirectory: string,
  number: number,
  ranges: readonly FinishedRange[],
): Promise<void> {
  await createDurably(jobDirectory, recordName(number), format.seal({ ranges }));
}

export interface FinishedRanges {
  readonly ranges: readonly FinishedRange[];
  readonly recordCount: number;
}

export function readFinishedRanges(jobDirectory: string, limits: RangeLimits): FinishedRanges {
  const recordCount = finishedRangeNames(jobDirectory).length;
  const ranges: FinishedRange[] = [];
  for (let number = 1; number <= recordCount; number++) {
    const path = join(jobDirectory, recordName(number));
    const record = format.read(path);
    if (record === undefined) throw damagedFile(path, `it is missing, expected ${recordCount} records`);
    for (const range of record.ranges) {
      requireWithin(range, limits, path);
      ranges.push(range);
    }
  }
  requireDisjoint(ranges, jobDirectory);
  return { ranges, recordCount };
}

function requireWithin(
  { first, end, regions, distinct }: FinishedRange,
  { pileCount, mostShards }: RangeLimits,
  path: string,
): void {
  if (first >= end || end > pileCount) {
    throw damagedFile(path, `expected a range of the ${pileCount} piles, got ${first} to ${end}`);
  }
  if (distinct !== undefined && distinct.length !== end - first) {
    throw damagedFile(path, `expected the totals of ${end - first} piles, got ${distinct.length}`);
  }
  for (const { shard, start, end: regionEnd } of regions) {
    if (shard >= mostShards) throw damagedFile(path, `expected one of at most ${mostShards} shards, got ${shard}`);
    if (start > regionEnd) throw damagedFile(path, `expected a range of bytes, got ${start} to ${regionEnd}`);
  }
}

/** Refuses a pile that is finished twice, and a byte of a shard that is written twice. */
function requireDisjoint(ranges: readonly FinishedRange[], jobDirectory: string): void {
  const damaged = (what: string) => damagedFile(join(jobDirectory, recordName(1)), `${what}, by it and those after it`);
  let pile = 0;
  for (const { first, end } of ranges.toSorted((a, b) => a.first - b.first)) {
    if (first < pile) throw damaged(`pile ${first} is finished twice`);
    pile = end;
  }
  let last = { shard: -1, end: 0 };
  const regions = ranges.flatMap((range) => range.regions);
  for (const { shard, start, end } of regions.sort((a, b) => a.shard - b.shard || a.start - b.start)) {
    if (shard === last.shard && start < last.end) throw damaged(`byte ${start} of shard ${shard} is written twice`);
    last = { shard, end };
  }
}

/** The names of all records, in the order of their numbers. */
export function finishedRangeNames(jobDirectory: string): string[] {
  return listNames(jobDirectory, 'temp')
    .filter((name) => NAME.test(name))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}
