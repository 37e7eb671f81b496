/**
 * `headCount`: the output is the head of the order, its first records. Pass 1 leaves out what cannot be among them: a limit
 * that all threads share falls as keys are seen. Pure.
 *
 * If inputs can be read again, the limit begins low: at keys of which there are several times as many as needed, as far as
 * samples of the inputs tell. With n records asked for, that puts about 2.5 n to 3 n records on piles, and without it
 * n (1 + ln(N / n)) of N.
 */

import type { Amount } from '../piles/pile-totals.js';
import { type AmountsByScenario, bytesOfSome, type Scenario } from '../plan/sampled-records.js';

/** The samples may be wrong by this factor before inputs are read again. */
const SAFETY_FACTOR = 4;
/** Counts of random keys vary by so many standard deviations, and never by more. */
const DEVIATIONS = 8;
/** The largest part of the records for which pass 1 leaves something out. */
const LARGEST_PART = 1 / 2;

export interface HeadSpec {
  /** The number of records that the output gets. Undefined: all records. */
  readonly headCount: number | undefined;
}

export function isHead({ headCount }: HeadSpec): boolean {
  return headCount !== undefined;
}

/** Returns the most records of the output. Infinity: nobody asked for a number of records. */
export function mostRecords({ headCount = Number.POSITIVE_INFINITY }: HeadSpec): number {
  return headCount;
}

/** Returns the rules without a head: all records come. */
export function withoutHead<Keep extends HeadSpec>(keep: Keep): Keep {
  return { ...keep, headCount: undefined };
}

interface HeadNeed {
  readonly records: number;
  /** True if `records` comes from the inputs, at least from samples of them. */
  readonly isKnown: boolean;
  readonly mayReadAgain: boolean;
}

export interface HeadPlan {
  /** The records of the head. */
  readonly records: number;
  /** Keys with fewer zero bits at the top are left out from the beginning. */
  readonly zeroBits: number;
  readonly keptRecords: number;
}

/** @returns undefined: pass 1 leaves nothing out. */
export function planHead({ headCount }: HeadSpec, { records, isKnown, mayReadAgain }: HeadNeed): HeadPlan | undefined {
  if (headCount === undefined || (isKnown && headCount > records * LARGEST_PART)) return undefined;
  const enough = SAFETY_FACTOR * (headCount + DEVIATIONS * Math.sqrt(headCount) + DEVIATIONS ** 2);
  const zeroBits = isKnown && mayReadAgain ? Math.max(0, Math.floor(Math.log2(records / enough))) : 0;
  const candidates = records / 2 ** zeroBits;
  const growth = headCount === 0 ? 0 : headCount * (1 + Math.log(Math.max(1, candidates / headCount)));
  return { records: headCount, zeroBits, keptRecords: Math.min(candidates, growth) };
}

/** Records reach piles before the limit that keeps them out has fallen. */
const HEAD_MARGIN = 1.5;

/** Estimates what is put on piles. @param head undefined: all records are. */
export function expectOnPiles(head: HeadPlan | undefined, all: AmountsByScenario, each: Scenario): Amount {
  if (head === undefined) return all[each];
  const { records, keptRecords } = head;
  const most = { least: records, expected: keptRecords, most: keptRecords * HEAD_MARGIN + records };
  return headAmount(all, most[each], each);
}

/** Returns the amount of at most so many of all records. */
export function headAmount(all: AmountsByScenario, most: number, each: Scenario): Amount {
  if (most >= all.most.records) return all[each];
  const records = Math.min(all[each].records, most);
  return { records, bytes: Math.min(all.most.bytes, bytesOfSome(records, all, each)) };
}

export function largestKeyWith(zeroBits: number): bigint {
  return 2n ** BigInt(64 - zeroBits) - 1n;
}
