/** Completes the options about the values of records: which keep them in one split, and which make them equal. */
import { selectorByteLength } from '../../workers/piles/record-values.js';
import type { SplitValues } from '../../workers/settings.js';
import { UsageError } from '../errors.js';
import { delimiterOf } from '../formats/framing-table.js';
import type { RecordFormat } from '../formats/record-format.js';
import { parseSelector, type Selector, type ValueRule } from '../formats/selector.js';
import { deriveSplitKey } from '../keys.js';
import { MOST_SPLITS_BYTES } from '../plan/arena-sizes.js';
import { splitBounds } from '../plan/splits.js';
import type { OutputSpec, ShuffleSpec, SplitValueRule, UniqueSpec } from '../spec.js';
import type { ShuffleOptions } from './options.js';

export function completeSplitValues(
  { splitBy, uniqueBy, missing }: Pick<ShuffleOptions, 'splitBy' | 'uniqueBy' | 'missing'>,
  format: RecordFormat,
  { keep: { headCount }, cut: { splits } }: OutputSpec,
): SplitValueRule | undefined {
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

export function keySplitValues({ key, cut: { splitBy } }: ShuffleSpec): SplitValues | undefined {
  return splitBy === undefined ? undefined : { ...splitBy, key: deriveSplitKey(key.seed) };
}

const MOST_MISSING_BYTES = 4096;

/** @param option the option of the selector, in backquotes. */
function completeValueRule(
  { selector, missing }: { readonly selector: unknown; readonly missing: unknown },
  option: string,
  { framing, header }: RecordFormat,
): ValueRule {
  if (typeof selector !== 'string') throw new UsageError(`${option}: expected a string`);
  requireMissingValue(missing);
  const parsed = parseSelector(selector, option);
  requireFormat(parsed, option, { framing, header });
  return { selector: parsed, missing, framing };
}

function requireFormat(
  selector: Selector,
  option: string,
  { framing, header }: Pick<RecordFormat, 'framing' | 'header'>,
): void {
  const { text } = selector;
  if (selector.kind === 'key' && framing?.kind !== 'webdataset')
    throw new UsageError(
      `${option} ${text}: only samples of tar files have keys; give \`records: { by: 'webdataset' }\``,
    );
  if (selector.kind !== 'column') return;
  const isTabs = text.startsWith('tsv:');
  const isLine = framing !== undefined && delimiterOf(framing) === '0a';
  if (framing?.kind !== 'csv' && !(isTabs && isLine))
    throw new UsageError(
      `${option} ${text}: only ${isTabs ? 'lines and rows of CSV' : 'rows of CSV'} have such columns; give \`records: { by: 'csv' }\``,
    );
  if (typeof selector.column === 'string' && header?.kind !== 'lines' && header?.kind !== 'prefix')
    throw new UsageError(
      `${option} ${text}: a column has its name from the header; give \`header.lines\`, or the number of the column, as in csv:3`,
    );
}

function requireMissingValue(missing: unknown): asserts missing is string | undefined {
  if (missing === undefined) return;
  if (typeof missing !== 'string' || Buffer.byteLength(missing) > MOST_MISSING_BYTES)
    throw new UsageError(`\`missing\`: expected a string of at most ${MOST_MISSING_BYTES} bytes`);
}

export function completeUnique(options: ShuffleOptions, format: RecordFormat): UniqueSpec | undefined {
  const { unique = false, uniqueBy, missing } = options;
  if (typeof unique !== 'boolean') throw new UsageError('`unique`: expected true or false');
  if (uniqueBy === undefined) {
    if (!unique) return undefined;
    requireUniqueWith(options, 'unique', 'the content of records');
    return { by: undefined };
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
  return { by: rule };
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
