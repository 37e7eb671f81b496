import { selectorByteLength } from '../../workers/piles/record-values.js';
import type { ValueRule } from '../../workers/settings.js';
import { UsageError } from '../errors.js';
import type { RecordFormat } from '../formats/record-format.js';
import { MOST_SPLITS_BYTES } from '../plan/arena-sizes.js';
import type { ShuffleOptions } from './options.js';
import { completeValueRule } from './value-rule.js';

export interface UniqueRequest {
  readonly unique: boolean;
  /** How the value is found that tells which records are equal; undefined: all bytes do. */
  readonly uniqueBy: ValueRule | undefined;
}

export function completeUnique(options: ShuffleOptions, format: RecordFormat): UniqueRequest {
  const { unique = false, uniqueBy, missing } = options;
  if (typeof unique !== 'boolean') throw new UsageError('`unique`: expected true or false');
  if (uniqueBy === undefined) {
    if (unique) requireUniqueWith(options, 'unique', 'the content of records');
    return { unique, uniqueBy: undefined };
  }
  if (unique)
    throw new UsageError('`unique` compares whole records and `uniqueBy` a value of each: give one of the two');
  if (options.splitBy !== undefined)
    throw new UsageError(
      '`splitBy` does not go with `uniqueBy`: equal records could be in different splits; keep one of them first, and split that output',
    );
  requireUniqueWith(options, 'uniqueBy', 'the values of records');
  const rule = completeValueRule({ selector: uniqueBy, missing }, '`uniqueBy`', format);
  const byteLength = selectorByteLength(rule);
  if (byteLength > MOST_SPLITS_BYTES)
    throw new UsageError(
      `\`uniqueBy\` and \`missing\` take ${byteLength} bytes; expected at most ${MOST_SPLITS_BYTES}: give a shorter path, or a shorter value`,
    );
  return { unique: true, uniqueBy: rule };
}

/** @param source what the order follows from. */
function requireUniqueWith(
  { inputIds, keys, weights, mix, records }: ShuffleOptions,
  option: 'unique' | 'uniqueBy',
  source: string,
): void {
  if (inputIds !== undefined && inputIds !== 'ordinal')
    throw new UsageError(
      `\`inputIds\` does not go with \`${option}\`: the order then follows from ${source}, wherever they come from`,
    );
  if (keys === 'ordinal')
    throw new UsageError(`\`keys\` from ordinals do not go with \`${option}\`: then the order follows from ${source}`);
  if (weights !== undefined || mix !== undefined)
    throw new UsageError(
      `\`${weights === undefined ? 'mix' : 'weights'}\` does not go with \`${option}\`: of the copies that it makes, one would be kept`,
    );
  if (records?.by === 'webdataset' && option === 'unique')
    throw new UsageError(
      '`unique` does not go with samples of tar files, whose bytes tell when a file was packed: give `uniqueBy` a value of them, such as "key"',
    );
}
