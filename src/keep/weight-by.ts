/**
 * `weightBy`: a number in each record says how often it comes, times the weight of its input. The kernel's `weighBlock` reads
 * the numbers, as decimals with 15 digits after the point. Pure.
 */
import type { ValueRule } from '../formats/selector.js';
import { MOST_COPIES, mostCopiesOf, type Weight } from './weights.js';

export interface WeightBySpec {
  readonly weightBy: NumberRule | undefined;
}

interface NumberRule {
  readonly value: ValueRule;
  /** Larger numbers count as this. Undefined: they do not. */
  readonly cap: (Weight & { readonly text: string }) | undefined;
}

/** A number in records may be at most this, and its product with the weight of an input. */
export const MOST_NUMBER: Weight = { copies: MOST_COPIES, chance: 0n };

/** Returns the most copies that the numbers of records may ask for. */
export function mostCopiesByNumber({ weightBy }: WeightBySpec): number {
  return weightBy === undefined ? 1 : mostCopiesOf(weightBy.cap ?? MOST_NUMBER);
}
