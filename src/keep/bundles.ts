/**
 * `groupBy`: the records of one value are a bundle, and stay together in their order in the inputs. Keys follow from the values,
 * as where one of equal records is kept. So a bundle lies in one pile, and the kernel tells neighbours of one key apart by
 * their values. What counts records one by one would tear bundles, and is refused.
 */
import { UsageError } from '../errors.js';
import { deriveBundleKey } from '../floor/keys.js';
import type { ValueRule } from '../formats/selector.js';
import { type CopySpec, mayCopy } from './mix.js';
import { type CutSpec, requireShares } from './splits.js';

export interface BundleSpec {
  /** The value that the records of a bundle have in common. Undefined: each record is for itself. */
  readonly bundleBy: ValueRule | undefined;
}

export function isBundled({ bundleBy }: BundleSpec): boolean {
  return bundleBy !== undefined;
}

/** The generator key of all inputs, if the order follows from the values of bundles. */
export function bundleKeyOf(keep: BundleSpec, seed: string): bigint | undefined {
  return isBundled(keep) ? deriveBundleKey(seed) : undefined;
}

/** Refuses splits that would tear bundles, and copies, which would repeat them record by record. */
export function requireWholeBundles(keep: BundleSpec & CopySpec, { splits = [], splitBy }: CutSpec): void {
  const { bundleBy } = keep;
  if (bundleBy === undefined) return;
  requireShares('`groupBy`', splits);
  if (splitBy !== undefined && splitBy.selector.text !== bundleBy.selector.text)
    throw new UsageError(
      '`splitBy` cannot be combined with `groupBy` of another value: a bundle could be in several splits; give both the same selector',
    );
  if (mayCopy(keep))
    throw new UsageError(
      'copies of records cannot be combined with `groupBy`: a bundle has each record once; give factors, or a `weightCap`, of at most 1',
    );
}
