/** Completes the options that say how the value of a record is found, and finds the number of a column that they name. */
import type { ValueRule } from '../../workers/settings.js';
import { UsageError } from '../errors.js';
import { numberOfColumn } from '../formats/column-names.js';
import type { FoundHeader } from '../formats/header.js';
import type { RecordFormat } from '../formats/record-format.js';
import { parseSelector, type Selector } from '../formats/selector.js';

const MOST_MISSING_BYTES = 4096;

/**
 * Callers without types may pass anything.
 * @param option the option of the selector, in backquotes. @throws UsageError
 */
export function completeValueRule(
  { selector, missing }: { readonly selector: unknown; readonly missing: unknown },
  option: string,
  { framing, header }: RecordFormat,
): ValueRule {
  if (typeof selector !== 'string') throw new UsageError(`${option}: expected a string`);
  if (missing !== undefined && (typeof missing !== 'string' || Buffer.byteLength(missing) > MOST_MISSING_BYTES))
    throw new UsageError(`\`missing\`: expected a string of at most ${MOST_MISSING_BYTES} bytes`);
  const parsed = parseSelector(selector, option);
  requireFormat(parsed, option, { framing, header });
  return { selector: parsed, missing, framing };
}

/** @throws UsageError */
function requireFormat(
  selector: Selector,
  option: string,
  { framing, header }: Pick<RecordFormat, 'framing' | 'header'>,
): void {
  const { text } = selector;
  if (selector.kind === 'key' && framing?.kind !== 'webdataset')
    throw new UsageError(`${option} ${text}: only samples of tar files have keys; give \`records\` by webdataset`);
  if (selector.kind !== 'column') return;
  const isTabs = text.startsWith('tsv:');
  const isLine = framing?.kind === 'delimited' && framing.value === '0a';
  if (framing?.kind !== 'csv' && !(isTabs && isLine))
    throw new UsageError(
      `${option} ${text}: expected rows of ${isTabs ? 'lines or of csv' : 'csv'}; give \`records\` by csv`,
    );
  if (typeof selector.column === 'string' && header?.kind !== 'lines')
    throw new UsageError(
      `${option} ${text}: a column has its name from the header; give \`header.lines\`, or the number of the column, as in csv:3`,
    );
}

/**
 * With the number of a column that the rule names.
 * @param header undefined: all inputs are streams, and each has a header of its own.
 * @throws InputError ERR_FIELD_MISSING if the header has no such column.
 */
export function withColumnNumber<Rule extends ValueRule>(rule: Rule, header: FoundHeader | undefined): Rule {
  const { selector, framing } = rule;
  if (selector.kind !== 'column' || header === undefined) return rule;
  const column = numberOfColumn(selector, header.header.bytes, framing?.kind === 'csv', header.path);
  return { ...rule, selector: { ...selector, column } };
}
