/**
 * `weightBy` and `weightsFrom`: a number says how often each record comes, times the weight of its input. The kernel's
 * `weighBlock` takes the numbers: from the records as decimals with 15 digits after the point, from files as doubles. Pure.
 */
import type { ValueRule } from '../formats/selector.js';
import { MOST_COPIES, mostCopiesOf, type Weight } from './weights.js';

export interface WeightBySpec {
  readonly weightBy: NumberRule | undefined;
}

interface NumberRule {
  /** Finds the number in a record. Undefined: it lies beside the record. */
  readonly value?: ValueRule | undefined;
  /** The numbers that lie in files below a directory, and that of records without one. Absent: they are in the records. */
  readonly beside?: { readonly directory: string; readonly missing: string | undefined } | undefined;
  /** Larger numbers count as this. Undefined: they do not. */
  readonly cap: (Weight & { readonly text: string }) | undefined;
}

/** A number in records may be at most this, and its product with the weight of an input. */
export const MOST_NUMBER: Weight = { copies: MOST_COPIES, chance: 0n };

/** Returns the most copies that the numbers of records may ask for. */
export function mostCopiesByNumber({ weightBy }: WeightBySpec): number {
  return weightBy === undefined ? 1 : mostCopiesOf(weightBy.cap ?? MOST_NUMBER);
}
