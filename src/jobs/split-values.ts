/** Completes the options that keep records with equal values in one split. */
import { selectorByteLength } from '../../workers/piles/record-values.js';
import type { SplitValues } from '../../workers/settings.js';
import { UsageError } from '../errors.js';
import type { RecordFormat } from '../formats/record-format.js';
import { deriveSplitKey } from '../keys.js';
import { MOST_SPLITS_BYTES } from '../plan/arena-sizes.js';
import { splitBounds } from '../plan/splits.js';
import type { ShuffleOptions } from './options.js';
import type { SplitRequest } from './shard-options.js';
import { completeValueRule } from './value-rule.js';

/** Before the seed of the job is known. */
export type UnkeyedSplitValues = Omit<SplitValues, 'key'>;

export function completeSplitValues(
  { splitBy, uniqueBy, missing }: Pick<ShuffleOptions, 'splitBy' | 'uniqueBy' | 'missing'>,
  format: RecordFormat,
  {
    splits,
    headCount,
  }: { readonly splits: readonly SplitRequest[] | undefined; readonly headCount: number | undefined },
): UnkeyedSplitValues | undefined {
  if (splitBy === undefined) {
    if (missing !== undefined && uniqueBy === undefined)
      throw new UsageError('`missing` is about the values of `splitBy` or `uniqueBy`: give one of them');
    return undefined;
  }
  const rule = completeValueRule({ selector: splitBy, missing }, '`splitBy`', format);
  if (splits === undefined) throw new UsageError('`splitBy` chooses between splits: give `splits`');
  const rules = splits.map(({ rule: each }) => each);
  if (rules.some((each) => 'records' in each))
    throw new UsageError(
      '`splitBy` keeps records together, so no split can have an exact number: give `splits` shares',
    );
  if (headCount !== undefined)
    throw new UsageError('`splitBy` does not go with `headCount`: the first records belong to the first split');
  const found = splitBounds(rules, 0, false);
  const bounds = BigUint64Array.from(found.by === 'key' ? found.bounds : []);
  const byteLength = bounds.byteLength + selectorByteLength(rule);
  if (byteLength > MOST_SPLITS_BYTES)
    throw new UsageError(
      `\`splitBy\` and ${splits.length} splits take ${byteLength} bytes; expected at most ${MOST_SPLITS_BYTES}: give a shorter path, or fewer splits`,
    );
  return { ...rule, bounds };
}

/** @param seed that of the job: a resumed one has that of the earlier attempt. */
export function keySplitValues(splitBy: UnkeyedSplitValues | undefined, seed: string): SplitValues | undefined {
  return splitBy === undefined ? undefined : { ...splitBy, key: deriveSplitKey(seed) };
}
