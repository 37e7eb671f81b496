/** Completes the options about the values of records: which keep them in one split, and which make them equal. */
import { selectorByteLength } from '../../workers/piles/record-values.js';
import { UsageError } from '../errors.js';
import { NEWLINE } from '../formats/framing.js';
import { framingOf } from '../formats/framing-table.js';
import type { RecordFormat } from '../formats/record-format.js';
import { parseSelector, type Selector, type ValueRule } from '../formats/selector.js';
import type { Equality } from '../keep/distinct.js';
import { splitKeys } from '../keep/splits.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { MOST_SPLITS_BYTES } from '../plan/arena-sizes.js';
import type { OutputSpec } from '../spec.js';

export function completeSplitValues(
  { splitBy, missing }: Pick<ShuffleOptions, 'splitBy' | 'missing'>,
  format: RecordFormat,
  { cut: { splits } }: OutputSpec,
): ValueRule | undefined {
  if (splitBy === undefined || splits === undefined) return undefined;
  const rule = completeValueRule({ selector: splitBy, missing }, '`splitBy`', format);
  if (splits.some(({ rule: each }) => 'records' in each))
    throw new UsageError(
      '`splitBy` keeps records together, so no split can have an exact number: give `splits` shares',
    );
  const byteLength = splitKeys(splits).byteLength + selectorByteLength(rule);
  if (byteLength > MOST_SPLITS_BYTES)
    throw new UsageError(
      `\`splitBy\` and ${splits.length} splits take ${byteLength} bytes; expected at most ${MOST_SPLITS_BYTES}: give a shorter path, or fewer splits`,
    );
  return rule;
}

/** @param option the option of the selector, in backquotes. */
function completeValueRule(
  { selector, missing }: { readonly selector: string; readonly missing: string | undefined },
  option: string,
  { framing, header }: RecordFormat,
): ValueRule {
  const parsed = parseSelector(selector, option);
  requireFormat(parsed, option, { framing, header });
  return { selector: parsed, missing, framing };
}

function requireFormat(
  selector: Selector,
  option: string,
  { framing: spec, header }: Pick<RecordFormat, 'framing' | 'header'>,
): void {
  const { text } = selector;
  const framing = spec && framingOf(spec);
  if (selector.kind === 'key' && framing?.sampleKeys === undefined)
    throw new UsageError(
      `${option} ${text}: only samples of tar files have keys; give \`records: { by: 'webdataset' }\``,
    );
  if (selector.kind !== 'column') return;
  const isTabs = text.startsWith('tsv:');
  const isLine = framing?.delimiter !== undefined && Buffer.compare(framing.delimiter, NEWLINE) === 0;
  if (framing?.hasQuotedFields !== true && !(isTabs && isLine))
    throw new UsageError(
      `${option} ${text}: only ${isTabs ? 'lines and rows of CSV' : 'rows of CSV'} have such columns; give \`records: { by: 'csv' }\``,
    );
  if (typeof selector.column === 'string' && header?.kind !== 'lines' && header?.kind !== 'prefix')
    throw new UsageError(
      `${option} ${text}: a column has its name from the header; give \`header.lines\`, or the number of the column, as in csv:3`,
    );
}

export function completeUnique(options: ShuffleOptions, format: RecordFormat): Equality | undefined {
  const { unique = false, uniqueBy, missing } = options;
  if (uniqueBy === undefined) return unique ? { by: undefined } : undefined;
  const rule = completeValueRule({ selector: uniqueBy, missing }, '`uniqueBy`', format);
  const byteLength = selectorByteLength(rule);
  if (byteLength > MOST_SPLITS_BYTES)
    throw new UsageError(
      `\`uniqueBy\` and \`missing\` take ${byteLength} bytes; expected at most ${MOST_SPLITS_BYTES}: give a shorter path, or a shorter value`,
    );
  return { by: rule };
}
