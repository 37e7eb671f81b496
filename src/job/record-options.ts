/**
 * Completes the options about records: their format (`records`, `zeroTerminated`, `header`, `skipBlank`), values that they
 * have (`splitBy`, `each`, `uniqueBy`, `groupBy`, `weightBy`, `weightsFrom`, `sum`, `missing`), and numbers that are records
 * (`range`).
 */

import { selectorByteLength } from '../../workers/piles/record-values.js';
import { requireWhole, UsageError } from '../errors.js';
import { lineEndOf, NEWLINE } from '../formats/framing.js';
import { type FramingSpec, formatOfKind, framingOf, LINES, NUL_TERMINATED } from '../formats/framing-table.js';
import { MOST_LINES } from '../formats/framings/lines.js';
import { MOST_HEADER_BYTES } from '../formats/header.js';
import type { HeaderSpec, RecordFormat } from '../formats/record-format.js';
import { textBytes } from '../formats/record-kind.js';
import { parseSelector, type Selector, type ValueRule } from '../formats/selector.js';
import type { Equality } from '../keep/distinct.js';
import type { KeepSpec } from '../keep/keep-spec.js';
import { isComputed } from '../keep/numbers.js';
import { nameOfSelector, type SectionRule } from '../keep/sections.js';
import { type CutSpec, splitKeys } from '../keep/splits.js';
import { MOST_COPIES } from '../keep/weights.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { inputFactsOf } from '../places/inputs/input-kinds.js';
import { addressOfNumbers } from '../places/inputs/number-lines.js';
import { MOST_SPLITS_BYTES, MOST_WEIGHT_SELECTOR_BYTES } from '../plan/arena-sizes.js';
import type { AskedInput } from '../sources/expand-names.js';
import type { OutputSpec, ShuffleSpec } from '../spec.js';
import { requireKnownOptions } from '../values/known-options.js';
import type { NumberRange } from '../values/number-range.js';
import { readWeight } from './mix-options.js';

export function recordFormatOf({
  records,
  zeroTerminated = false,
  header,
  skipBlank = false,
}: Pick<ShuffleOptions, 'records' | 'zeroTerminated' | 'header' | 'skipBlank'>): RecordFormat {
  if (records === undefined) {
    const framing = zeroTerminated ? NUL_TERMINATED : LINES;
    return { framing, header: headerSpecOf(header, framing), linesAssumed: !zeroTerminated, skipsBlank: skipBlank };
  }
  if (zeroTerminated) throw new UsageError('`zeroTerminated` and `records` contradict each other; give one of them');
  const { framing, header: ownHeader } = formatOfKind(records);
  if (ownHeader !== undefined && header !== undefined)
    throw new UsageError(
      `records of ${records.by} have a header of their own; leave out \`header.${Object.keys(header)[0]}\``,
    );
  if (skipBlank && (framing === undefined || lineEndOf(framingOf(framing)) === undefined))
    throw new UsageError(`records of ${records.by} are not text, so none is blank; leave out \`skipBlank\``);
  return {
    framing,
    header: ownHeader ?? (framing && headerSpecOf(header, framing)),
    linesAssumed: false,
    skipsBlank: skipBlank,
  };
}

function headerSpecOf(header: ShuffleOptions['header'], framing: FramingSpec): HeaderSpec | undefined {
  if (header === undefined) return undefined;
  if ('bytes' in header) {
    requireWhole('`header.bytes`', header.bytes, 1, MOST_HEADER_BYTES);
    return { kind: 'bytes', value: header.bytes };
  }
  if ('prefix' in header) {
    const prefix = textBytes('`header.prefix`', header.prefix);
    return {
      kind: 'prefix',
      value: { prefix: prefix.toString('hex'), lineEnd: lineEndIn(framing, '`header.prefix`') },
    };
  }
  requireWhole('`header.lines`', header.lines, 1, MOST_LINES);
  const lineEnd = lineEndIn(framing, '`header.lines`');
  return {
    kind: 'lines',
    value: { count: header.lines, lineEnd, isQuoted: framingOf(framing).hasQuotedFields === true },
  };
}

/** Returns the line end in hex: header lines end as text records do. */
function lineEndIn(framing: FramingSpec, option: string): string {
  const lineEnd = lineEndOf(framingOf(framing));
  if (lineEnd !== undefined) return Buffer.from(lineEnd).toString('hex');
  throw new UsageError(
    `${option} takes lines, and these records are not text; give \`header.bytes\`, or leave ${option} out`,
  );
}

export function completeSplitValues(
  { splitBy, uniqueBy, groupBy, missing }: Pick<ShuffleOptions, 'splitBy' | 'uniqueBy' | 'groupBy' | 'missing'>,
  format: RecordFormat,
  { cut: { splits } }: OutputSpec,
): ValueRule | undefined {
  if (splitBy === undefined || splits === undefined) return undefined;
  const rule = completeValueRule({ selector: splitBy, missing }, '`splitBy`', format);
  if (splits.some(({ rule: each }) => 'records' in each))
    throw new UsageError(
      '`splitBy` keeps records together, so no split can have an exact number: give `splits` shares',
    );
  const other = uniqueBy === undefined ? groupBy && '`groupBy`' : '`uniqueBy`';
  const selectors = other === undefined ? 1 : 2;
  const byteLength = splitKeys(splits).byteLength + selectors * selectorByteLength(rule);
  if (byteLength > MOST_SPLITS_BYTES)
    throw new UsageError(
      `\`splitBy\`${other === undefined ? '' : `, ${other}`} and ${splits.length} splits take ${byteLength} bytes; expected at most ${MOST_SPLITS_BYTES}: give a shorter path, or fewer splits`,
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

const NAMED_SELECTOR = /^(\w+)=(.+)$/su;

export function completeEach(
  { each, missing }: Pick<ShuffleOptions, 'each' | 'missing'>,
  format: RecordFormat,
): SectionRule | undefined {
  if (each === undefined) return undefined;
  const [, name, selector = each] = NAMED_SELECTOR.exec(each) ?? [];
  const value = completeValueRule({ selector, missing }, '`each`', format);
  const byteLength = selectorByteLength(value);
  if (byteLength > MOST_SPLITS_BYTES)
    throw new UsageError(
      `\`each\` and \`missing\` take ${byteLength} bytes; expected at most ${MOST_SPLITS_BYTES}: give a shorter path, or a shorter value`,
    );
  return { value, name: name ?? nameOfSelector(value.selector), ranges: [] };
}

export function completeUnique(options: ShuffleOptions, format: RecordFormat): Equality | undefined {
  const { unique = false, uniqueBy, missing } = options;
  if (uniqueBy === undefined) return unique ? { by: undefined } : undefined;
  return { by: completeCommonValue({ selector: uniqueBy, missing }, '`uniqueBy`', format) };
}

export function completeBundles(
  { groupBy, missing }: Pick<ShuffleOptions, 'groupBy' | 'missing'>,
  format: RecordFormat,
): KeepSpec['bundleBy'] {
  return groupBy === undefined ? undefined : completeCommonValue({ selector: groupBy, missing }, '`groupBy`', format);
}

/** Completes the rule of a value that records have in common. */
function completeCommonValue(
  given: { readonly selector: string; readonly missing: string | undefined },
  option: string,
  format: RecordFormat,
): ValueRule {
  const rule = completeValueRule(given, option, format);
  const byteLength = selectorByteLength(rule);
  if (byteLength > MOST_SPLITS_BYTES)
    throw new UsageError(
      `${option} and \`missing\` take ${byteLength} bytes; expected at most ${MOST_SPLITS_BYTES}: give a shorter path, or a shorter value`,
    );
  return rule;
}

/** A number as JSON has it, from 0 on. */
const JSON_NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d{1,2})?$/i;

export function completeWeightBy(
  {
    weightBy,
    weightsFrom,
    weightCap,
    missing,
  }: Pick<ShuffleOptions, 'weightBy' | 'weightsFrom' | 'weightCap' | 'missing'>,
  format: RecordFormat,
): KeepSpec['weightBy'] {
  if (weightBy === undefined && weightsFrom === undefined) return undefined;
  const value =
    weightBy === undefined ? undefined : completeValueRule({ selector: weightBy, missing }, '`weightBy`', format);
  const beside = weightsFrom === undefined ? undefined : { directory: weightsFrom, missing };
  if (beside !== undefined && !inputFactsOf(beside.directory).isOnDisk)
    throw new UsageError(`\`weightsFrom\` ${beside.directory} is an address; expected a directory on a disk`);
  const text = String(weightCap);
  const cap = weightCap === undefined ? undefined : { ...readWeight(`\`weightCap\` ${text}`, weightCap), text };
  if (missing !== undefined && (!JSON_NUMBER.test(missing) || (cap === undefined && Number(missing) > MOST_COPIES)))
    throw new UsageError(
      `\`missing\` ${JSON.stringify(missing)} is the weight of records without a number; expected a number from 0 to ${MOST_COPIES}`,
    );
  const byteLength = value === undefined ? 0 : selectorByteLength(value);
  if (byteLength > MOST_WEIGHT_SELECTOR_BYTES)
    throw new UsageError(
      `\`weightBy\` and \`missing\` take ${byteLength} bytes; expected at most ${MOST_WEIGHT_SELECTOR_BYTES}: give a shorter path, or a shorter value`,
    );
  return { value, beside, cap };
}

/** Returns what finds the numbers to add up. Shares of a field are counted, so a job with them adds up that field. */
export function completeSum(
  { sum, missing: given }: Pick<ShuffleOptions, 'sum' | 'missing'>,
  format: RecordFormat,
  { mix, unique, bundleBy }: Pick<KeepSpec, 'mix' | 'unique' | 'bundleBy'>,
  { splits = [], splitBy, each }: CutSpec,
): KeepSpec['sum'] {
  const field = mix.shares?.field?.name;
  const selector = sum ?? field;
  if (selector === undefined) return undefined;
  if (selector !== (field ?? selector))
    throw new UsageError(
      `\`sum\` ${selector}: the shares of \`mix\` count ${field}, and a job adds up one field; leave out \`sum\``,
    );
  const missing = field === undefined ? given : undefined;
  if (missing !== undefined && !(JSON_NUMBER.test(missing) && Number(missing) < MOST_SUMMED))
    throw new UsageError(
      `\`missing\` ${JSON.stringify(missing)} is the number of records in which \`sum\` finds none; expected a number from 0 to less than 10^15`,
    );
  const rule = completeValueRule({ selector, missing }, '`sum`', format);
  const rules = [rule, unique?.by, bundleBy, splitBy, each?.value].filter((other) => other !== undefined);
  const byteLength = rules.reduce((all, other) => all + selectorByteLength(other), KEY_BYTES * splits.length);
  if (byteLength > MOST_SPLITS_BYTES)
    throw new UsageError(
      `\`sum\`, the other selectors and the splits take ${byteLength} bytes; expected at most ${MOST_SPLITS_BYTES}: give shorter paths, or fewer splits`,
    );
  return rule;
}

const KEY_BYTES = 8;
/** A sum has room for numbers below it. */
const MOST_SUMMED = 10 ** 15;

const MOST_NUMBERS = 2n ** 64n;

/** Callers without types may pass anything. */
export function rangeOf({ range }: { readonly range: unknown }): NumberRange {
  const given = typeof range === 'object' && range !== null ? range : {};
  const low = 'low' in given ? wholeOf(given.low) : undefined;
  // The range from LO to LO - 1 is empty, also from 0 to -1.
  const high = 'high' in given && low !== undefined ? wholeOf(given.high, low - 1n) : undefined;
  if (low === undefined || high === undefined || low >= MOST_NUMBERS || high >= MOST_NUMBERS)
    throw new UsageError(
      `\`range\`: expected an object with \`low\` and \`high\`, whole numbers from 0 to ${MOST_NUMBERS - 1n}, the lower first`,
    );
  requireKnownOptions('`range`', range, { low: true, high: true });
  return { low, high };
}

/** A `number` above 2^53 may be another one than was meant. */
function wholeOf(value: unknown, least = 0n): bigint | undefined {
  const whole = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  return typeof whole === 'bigint' && whole >= least ? whole : undefined;
}

/** How a job reads the range: as a file of lines, or of texts that end in NUL where records do. */
export function numbersInput(range: NumberRange, { framing }: Pick<RecordFormat, 'framing'>): AskedInput {
  return { path: addressOfNumbers(range, delimiterOf(framing)?.at(0) === NUL) };
}

/** Returns the range whose places are computed: the only input of a job that forms no other records, keys or cuts. */
export function computedRange(
  { inputs: named, inputIds = 'ordinal', resume, jobDir, keepTemp }: ShuffleOptions,
  { read: { framing, header, decompressProgram = [] }, key, keep, cut }: ShuffleSpec,
): NumberRange | undefined {
  const [first = ''] = named;
  const range = named.length === 1 && typeof first === 'object' && 'range' in first ? rangeOf(first) : undefined;
  const { repeat, unique, bundleBy, weightBy, mix, sum } = keep;
  const isRead =
    delimiterOf(framing) === undefined || header !== undefined || decompressProgram.length > 0 || sum !== undefined;
  const isKeyed = key.from !== 'position' || inputIds !== 'ordinal' || unique !== undefined || bundleBy !== undefined;
  const isWeighed = mix.weights.length > 0 || mix.shares !== undefined || weightBy !== undefined;
  const isCut = cut.splits !== undefined || cut.each !== undefined || cut.shards?.by === 'bytes';
  if (range === undefined || !isComputed(range, repeat) || isRead || isKeyed || isWeighed || isCut) return undefined;
  if (resume === true || jobDir !== undefined || keepTemp === true)
    throw new UsageError(
      'the order of so many numbers is computed in one process, without temp data: leave out `resume`, `jobDir` and `keepTemp`',
    );
  return range;
}

const NUL = 0;

/** Returns the delimiter of numbers. Undefined: a number and its end are not record. */
function delimiterOf(framing: FramingSpec | undefined): Uint8Array | undefined {
  const delimiter = framing && framingOf(framing).delimiter;
  return delimiter?.byteLength === 1 && [NUL, NEWLINE[0]].includes(delimiter[0]) ? delimiter : undefined;
}
