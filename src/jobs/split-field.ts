/** Completes the options that keep records with equal values of a field in one split. */
import type { SplitField } from '../../workers/settings.js';
import { UsageError } from '../errors.js';
import { encodeFieldPath, parseFieldPath } from '../formats/selector.js';
import { deriveSplitKey } from '../keys.js';
import { MOST_SPLIT_FIELD_BYTES } from '../plan/arena-sizes.js';
import { splitBounds } from '../plan/splits.js';
import { requireMissingValue } from './missing-value.js';
import type { ShuffleOptions } from './options.js';
import type { SplitRequest } from './shard-options.js';

/** Before the seed of the job is known. */
export type UnkeyedSplitField = Omit<SplitField, 'key'>;

/** @returns undefined without `splitBy`. @throws UsageError */
export function completeSplitField(
  { splitBy, uniqueBy, missing }: Pick<ShuffleOptions, 'splitBy' | 'uniqueBy' | 'missing'>,
  {
    splits,
    headCount,
  }: { readonly splits: readonly SplitRequest[] | undefined; readonly headCount: number | undefined },
): UnkeyedSplitField | undefined {
  if (splitBy === undefined) {
    if (missing !== undefined && uniqueBy === undefined)
      throw new UsageError('`missing` is about the field of `splitBy` or `uniqueBy`: give one of them');
    return undefined;
  }
  if (typeof splitBy !== 'string') throw new UsageError('`splitBy`: expected a string');
  requireMissingValue(missing);
  const path = encodeFieldPath(parseFieldPath(splitBy, '`splitBy`'));
  if (splits === undefined) throw new UsageError('`splitBy` chooses between splits: give `splits`');
  const rules = splits.map(({ rule }) => rule);
  if (rules.some((rule) => 'records' in rule))
    throw new UsageError(
      '`splitBy` keeps records together, so no split can have an exact number: give `splits` shares',
    );
  if (headCount !== undefined)
    throw new UsageError('`splitBy` does not go with `headCount`: the first records belong to the first split');
  const found = splitBounds(rules, 0, false);
  const bounds = BigUint64Array.from(found.by === 'key' ? found.bounds : []);
  if (bounds.byteLength + path.byteLength > MOST_SPLIT_FIELD_BYTES)
    throw new UsageError(
      `\`splitBy\` has ${path.byteLength} bytes; expected at most ${MOST_SPLIT_FIELD_BYTES - bounds.byteLength}`,
    );
  return { field: splitBy, path, bounds, missing };
}

/** @param seed that of the job: a resumed one has that of the earlier attempt. */
export function keySplitField(splitField: UnkeyedSplitField | undefined, seed: string): SplitField | undefined {
  return splitField === undefined ? undefined : { ...splitField, key: deriveSplitKey(seed) };
}
