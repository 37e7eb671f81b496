/**
 * `unique` and `uniqueBy`: one of equal records is kept. Keys follow from what equal records have in common, so they meet
 * in one pile, and the kernel drops all of them but one.
 */

import { deriveContentKey } from '../floor/keys.js';
import type { RecordFormat } from '../formats/record-format.js';
import type { ValueRule } from '../formats/selector.js';
import { type HeadSpec, isHead } from './head.js';
import type { RepeatSpec } from './repeat.js';
import type { ShardSpec } from './splits.js';

export interface UniqueSpec {
  /** The rule that tells which records are equal. Undefined: equal records stay. */
  readonly unique: Equality | undefined;
}

export interface Equality {
  /** The value that tells which records are equal; undefined: all bytes do. */
  readonly by: ValueRule | undefined;
}

/** Returns whether of equal records one stays. */
export function isDistinct({ unique }: UniqueSpec): boolean {
  return unique !== undefined;
}

/** Returns whether samples of one key may both come into the output. */
export function mayKeepEqualKeys(keep: UniqueSpec): boolean {
  return keep.unique?.by?.selector.kind !== 'key';
}

/** The generator key of all inputs, if the order follows from the content of records. */
export function contentKeyOf(keep: UniqueSpec, seed: string): bigint | undefined {
  return isDistinct(keep) ? deriveContentKey(seed) : undefined;
}

interface MeasuredSpec {
  readonly read: Pick<RecordFormat, 'header'> & { readonly rows?: unknown };
  readonly keep: HeadSpec & RepeatSpec & UniqueSpec;
  readonly cut: Pick<ShardSpec, 'shards'>;
}

/**
 * Returns whether what stays of equal records is found before the output is written, because its plan needs the
 * numbers.
 */
export function isMeasuredBefore({ read: { header, rows }, keep, cut: { shards } }: MeasuredSpec): boolean {
  const needsNumbers =
    isHead(keep) || keep.repeat || shards !== undefined || header?.kind === 'npy' || rows !== undefined;
  return isDistinct(keep) && needsNumbers;
}
