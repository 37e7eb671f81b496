/** Completes the options of a job that keeps one of equal records. */
import type { UniqueField } from '../../workers/settings.js';
import { UsageError } from '../errors.js';
import { encodeFieldPath, parseFieldPath } from '../formats/selector.js';
import { STANDARD_OUTPUT } from '../output/output-target.js';
import { MOST_SPLITS_BYTES } from '../plan/arena-sizes.js';
import { MOST_MISSING_BYTES, requireMissingValue } from './missing-value.js';
import type { ShuffleOptions } from './options.js';

/** Which records a job keeps. */
export interface UniqueRequest {
  /** Whether of equal records one is kept. */
  readonly unique: boolean;
  /** The field whose values tell which records are equal; undefined: all bytes do. */
  readonly uniqueField: UniqueField | undefined;
  /** The file that gets the dropped records; undefined: none does. */
  readonly duplicates: string | undefined;
}

/** The longest record that fits a line of JSON: each of its bytes may take six characters, and a text has a limit. */
const MOST_LISTED_RECORD_BYTES = 2 ** 26;

/** @throws UsageError */
export function completeUnique(options: ShuffleOptions): UniqueRequest {
  const equal = completeEquality(options);
  const { duplicates } = options;
  if (duplicates !== undefined) requireListable(options, equal.unique);
  return { ...equal, duplicates };
}

/** The same options, with the limit of records that can be listed. */
export function listable(options: ShuffleOptions): ShuffleOptions {
  return { ...options, maxRecordBytes: options.maxRecordBytes ?? MOST_LISTED_RECORD_BYTES };
}

/** @throws UsageError */
function requireListable(options: ShuffleOptions, unique: boolean): void {
  const { duplicates, repeat, resume, jobDir, keepTemp, output, maxRecordBytes = 0 } = options;
  if (typeof duplicates !== 'string' || duplicates === '' || duplicates.includes('\0'))
    throw new UsageError('`duplicates`: expected the path of a file');
  if (!unique) throw new UsageError('`duplicates` lists what `unique` or `uniqueBy` drops: give one of them');
  if (repeat === true)
    throw new UsageError('`duplicates` does not go with `repeat`: list them by a job that writes each record once');
  if (resume || jobDir !== undefined || keepTemp)
    throw new UsageError('a job with `duplicates` cannot be resumed: leave out `resume`, `jobDir` and `keepTemp`');
  if (duplicates === STANDARD_OUTPUT || output === undefined || output === STANDARD_OUTPUT)
    throw new UsageError(
      '`duplicates` appears together with the output, or not at all: name a file with each of `output` and `duplicates`',
    );
  if (maxRecordBytes > MOST_LISTED_RECORD_BYTES)
    throw new UsageError(
      `\`maxRecordBytes\` is ${maxRecordBytes}; expected at most ${MOST_LISTED_RECORD_BYTES} with \`duplicates\`, whose records are lines of JSON`,
    );
}

/** @throws UsageError */
function completeEquality(options: ShuffleOptions): Omit<UniqueRequest, 'duplicates'> {
  const { unique = false, uniqueBy } = options;
  if (typeof unique !== 'boolean') throw new UsageError('`unique`: expected true or false');
  if (uniqueBy === undefined) {
    if (unique) requireUniqueWith(options, 'unique', 'the content of records');
    return { unique, uniqueField: undefined };
  }
  if (unique)
    throw new UsageError('`unique` compares whole records and `uniqueBy` a field of them: give one of the two');
  if (typeof uniqueBy !== 'string') throw new UsageError('`uniqueBy`: expected a string');
  if (options.splitBy !== undefined)
    throw new UsageError(
      '`splitBy` does not go with `uniqueBy`: equal records could be in different splits; keep one of them first, and split that output',
    );
  requireUniqueWith(options, 'uniqueBy', 'the values of a field');
  return { unique: true, uniqueField: completeField(uniqueBy, options.missing) };
}

function completeField(field: string, missing: string | undefined): UniqueField {
  requireMissingValue(missing);
  const path = encodeFieldPath(parseFieldPath(field, '`uniqueBy`'));
  const mostBytes = MOST_SPLITS_BYTES - MOST_MISSING_BYTES - 1;
  if (path.byteLength > mostBytes)
    throw new UsageError(`\`uniqueBy\` has ${path.byteLength} bytes; expected at most ${mostBytes}`);
  return { field, path, missing };
}

/** @param source what the order follows from. @throws UsageError */
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
  if (records?.by === 'webdataset')
    throw new UsageError(
      `\`${option}\` does not go with samples of tar files: readers know samples by their keys, which must differ anyway`,
    );
}
