/** Completes the options that say how the value of a record is found. */
import type { ValueRule } from '../../workers/settings.js';
import { UsageError } from '../errors.js';
import { delimiterOf } from '../formats/framing-table.js';
import type { RecordFormat } from '../formats/record-format.js';
import { parseSelector, type Selector } from '../formats/selector.js';

const MOST_MISSING_BYTES = 4096;

/** @param option the option of the selector, in backquotes. */
export function completeValueRule(
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
