/** Decides which records the output gets, and how often: all rules together. */
import { UsageError } from '../errors.js';
import { type Amount, NO_TOTALS, subtractAmount } from '../piles/pile-totals.js';
import { type AmountsByScenario, bytesOfSome, type Scenario } from '../plan/sampled-records.js';
import { type BundleSpec, isBundled } from './bundles.js';
import { isDistinct, type UniqueSpec } from './distinct.js';
import { type HeadSpec, headAmount, isHead, mostRecords } from './head.js';
import type { CopySpec } from './mix.js';
import { type NumbersSpec, sourceAmount } from './numbers.js';
import type { RepeatSpec } from './repeat.js';
import { type CutSpec, doCopiesFollow, isSplitByValue } from './splits.js';
import type { SumSpec } from './sum.js';

export interface KeepSpec extends HeadSpec, RepeatSpec, UniqueSpec, BundleSpec, NumbersSpec, CopySpec, SumSpec {}

/** Each record comes once. */
export const KEEP_ALL: KeepSpec = {
  headCount: undefined,
  repeat: false,
  unique: undefined,
  bundleBy: undefined,
  weightBy: undefined,
  sum: undefined,
  mix: { weights: [], shares: undefined, option: '`weights`', words: [] },
};

/** Returns whether the output has no end: then progress tells neither the part that is done nor the time that is left. */
export function isEndless(keep: HeadSpec & RepeatSpec): boolean {
  return keep.repeat && !isHead(keep);
}

/** Fails if a job with an output that is not a stream has no end. */
export function requireEnd(keep: HeadSpec & RepeatSpec): void {
  if (isEndless(keep))
    throw new UsageError('an output without end must be a stream: give `headCount` beside `repeat`, or no `output`');
}

/**
 * How many records the output has, if so many may come into it.
 * @param recordBytes the size of a record: then `all` is in bytes, and so is the result.
 */
export function recordsOfOutput(keep: HeadSpec & Partial<RepeatSpec>, all: number, recordBytes = 1): number {
  const most = isHead(keep) ? mostRecords(keep) * recordBytes : Number.POSITIVE_INFINITY;
  return keep.repeat === true ? most : Math.min(all, most);
}

/** Returns what `recordsOfOutput` does, for what samples and chance tell of all records. */
export function expectKept(keep: KeepSpec, all: AmountsByScenario, each: Scenario): Amount {
  const most = mostRecords(keep);
  if (keep.repeat) return { records: most, bytes: bytesOfSome(most, all, each) };
  const { records, bytes } = headAmount(all, most, each);
  // Nobody knows how many are equal.
  return isDistinct(keep) && each === 'least' ? { records: Math.min(1, records), bytes: 0 } : { records, bytes };
}

/**
 * Returns whether pass 1 may leave out what is not in the head. Equal records count as one, and nobody knows of them in
 * pass 1.
 */
export function mayLimitPass1(keep: HeadSpec & RepeatSpec & UniqueSpec & NumbersSpec): boolean {
  return isHead(keep) && !drawsPlaces(keep) && !isDistinct(keep);
}

/** Returns whether each place of the output finds its record by itself: by a draw, or by computing a number. */
export function drawsPlaces({ repeat, range }: RepeatSpec & NumbersSpec): boolean {
  return repeat || range !== undefined;
}

/** Returns whether the output has all that is read, as far as weights do not say otherwise. */
export function keepsAll(keep: HeadSpec & UniqueSpec): boolean {
  return !isHead(keep) && !isDistinct(keep);
}

/** Returns what a report says of the rules. */
export function reportedRules({ headCount, unique, repeat }: KeepSpec) {
  return { headCount, unique: unique !== undefined, repeat };
}

/** Why piles need not have nearly the same numbers of records. Undefined: they must. */
export function whyNotUniform(keep: KeepSpec, cut: CutSpec): string | undefined {
  if (isDistinct(keep)) return 'with unique records, equal records have equal keys';
  if (isBundled(keep)) return 'records of one value have equal keys';
  if (cut.each !== undefined) return 'records of a value have keys of their own';
  if (isSplitByValue(cut)) return 'values choose the splits, so keys are not uniform';
  if (doCopiesFollow(keep, cut)) return 'copies are in the split of the first one, so keys are not independent';
  if (isHead(keep)) return 'pass 1 leaves out what cannot be among the first records';
  return undefined;
}

interface KeptRecords {
  /** The records on the piles. */
  readonly all: Amount;
  /** The records that pass 1 left out. Absent: none. */
  readonly leftOut?: Amount;
  /** The records that stay of equal ones. */
  readonly distinct: Amount;
  /** The records and copies that these make, if they are weighed. Absent: as many. */
  readonly made?: Amount | undefined;
  readonly written: Amount;
}

/** The records that the output lacks, and why. */
export function missingRecords(
  keep: HeadSpec & NumbersSpec & Partial<RepeatSpec & UniqueSpec>,
  { all, leftOut = NO_TOTALS, distinct, made = distinct, written }: KeptRecords,
): { readonly leftOut: Amount | undefined; readonly duplicates: Amount | undefined } {
  const read = sourceAmount(keep, { records: all.records + leftOut.records, bytes: all.bytes + leftOut.bytes });
  const dropsEqual = keep.unique !== undefined;
  return {
    leftOut: isHead(keep) && keep.repeat !== true ? subtractAmount(dropsEqual ? made : read, written) : undefined,
    duplicates: dropsEqual ? subtractAmount(read, distinct) : undefined,
  };
}
