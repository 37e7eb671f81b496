/**
 * Completes the options about records: their format (`records`, `zeroTerminated`, `header`, `skipBlank`), values that they
 * have (`splitBy`, `each`, `uniqueBy`, `groupBy`, `weightBy`, `weightsFrom`, `sum`, `missing`), and numbers that are records
 * (`range`).
 */

import { selectorByteLength } from '../../workers/piles/record-values.js';
import { counted, requireWhole, UsageError } from '../errors.js';
import { lineEndOf, NEWLINE } from '../formats/framing.js';
import { type FramingSpec, formatOfKind, framingOf, LINES, NUL_TERMINATED } from '../formats/framing-table.js';
import { MOST_LINES } from '../formats/framings/lines.js';
import { MOST_HEADER_BYTES } from '../formats/header.js';
import type { HeaderSpec, RecordFormat } from '../formats/record-format.js';
import { textBytes } from '../formats/record-kind.js';
import { parseSelector, type Selector, type ValueRule } from '../formats/selector.js';
import type { KeepSpec } from '../keep/keep-spec.js';
import type { MixSpec } from '../keep/mix.js';
import { isComputed } from '../keep/numbers.js';
import { completeSectionName } from '../keep/sections.js';
import { type CutSpec, requireShares, type ShardSpec } from '../keep/splits.js';
import { MOST_COPIES } from '../keep/weights.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { inputFactsOf } from '../places/inputs/input-kinds.js';
import { addressOfNumbers } from '../places/inputs/number-lines.js';
import { MOST_SPLITS_BYTES, MOST_WEIGHT_SELECTOR_BYTES } from '../plan/arena-sizes.js';
import type { AskedInput } from '../sources/expand-names.js';
import type { ShuffleSpec } from '../spec.js';
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

const NAMED_SELECTOR = /^(\w+)=(.+)$/su;

/** Completes the rules that take a value of each record. */
export function completeValues(
  options: ShuffleOptions,
  format: RecordFormat,
  { splits = [] }: ShardSpec,
  mix: MixSpec,
): Pick<KeepSpec, 'unique' | 'bundleBy' | 'weightBy' | 'sum'> & Pick<CutSpec, 'splitBy' | 'each'> {
  const { unique = false, missing } = options;
  const [, name, section = options.each] = NAMED_SELECTOR.exec(options.each ?? '') ?? [];
  const ruleOf = (option: string, selector: string | undefined) =>
    selector === undefined ? undefined : completeValueRule({ selector, missing }, option, format);
  const uniqueBy = ruleOf('`uniqueBy`', options.uniqueBy);
  const bundleBy = ruleOf('`groupBy`', options.groupBy);
  const splitBy = ruleOf('`splitBy`', options.splitBy);
  const each = ruleOf('`each`', section);
  const weightBy = completeWeightBy(options, format);
  const sum = completeSum(options, format, mix);
  if (splitBy !== undefined) requireShares('`splitBy`', splits);
  const values = { uniqueBy, groupBy: bundleBy, splitBy, each, [sum?.isUnit === true ? 'mix' : 'sum']: sum };
  requireRoom(values, splits.length, MOST_SPLITS_BYTES);
  requireRoom({ weightBy: weightBy?.value }, 0, MOST_WEIGHT_SELECTOR_BYTES);
  return {
    unique: unique || uniqueBy !== undefined ? { by: uniqueBy } : undefined,
    bundleBy,
    weightBy,
    sum,
    splitBy,
    each: each && { value: each, name: completeSectionName(name, each.selector), ranges: [] },
  };
}

const KEY_BYTES = 8;

/** Fails if the selectors, beside the bounds of splits, take more than the kernel has for them. */
function requireRoom(
  rules: Readonly<Record<string, ValueRule | undefined>>,
  splitCount: number,
  mostBytes: number,
): void {
  const given = Object.entries(rules).flatMap(([option, rule]) => (rule === undefined ? [] : [{ option, rule }]));
  const boundBytes = KEY_BYTES * Math.max(0, splitCount - 1);
  const byteLength = given.reduce((sum, { rule }) => sum + selectorByteLength(rule), boundBytes);
  if (given.length === 0 || byteLength <= mostBytes) return;
  const words = [
    ...given.map(({ option }) => `\`${option}\``),
    ...(splitCount > 0 ? [counted(splitCount, 'split')] : []),
  ];
  throw new UsageError(
    `${words.join(', ')} and \`missing\` take ${byteLength} bytes; expected at most ${mostBytes}: give shorter paths, a shorter value, or fewer splits`,
  );
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

/** A number as JSON has it, from 0 on. */
const JSON_NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d{1,2})?$/i;
/** A sum has room for numbers below it. */
const MOST_SUMMED = 10 ** 15;

/** @param what says what the value stands for, and which numbers are expected. */
function requireMissingNumber(missing: string | undefined, isFit: (value: number) => boolean, what: string): void {
  if (missing === undefined || (JSON_NUMBER.test(missing) && isFit(Number(missing)))) return;
  throw new UsageError(`\`missing\` ${JSON.stringify(missing)} is ${what}`);
}

function completeWeightBy(
  { weightBy, weightsFrom, weightCap, missing }: ShuffleOptions,
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
  requireMissingNumber(
    missing,
    (number) => cap !== undefined || number <= MOST_COPIES,
    `the weight of records without a number; expected a number from 0 to ${MOST_COPIES}`,
  );
  return { value, beside, cap };
}

/** Returns what finds the numbers to add up. Shares of a field are counted, so a job with them adds up that field. */
function completeSum(options: ShuffleOptions, format: RecordFormat, { shares }: MixSpec): KeepSpec['sum'] {
  const field = shares?.unit.startsWith('.') === true ? shares.unit : undefined;
  const selector = options.sum ?? field;
  if (selector === undefined) return undefined;
  if (selector !== (field ?? selector))
    throw new UsageError(
      `\`sum\` ${selector}: the shares of \`mix\` count ${field}, and a job adds up one field; leave out \`sum\``,
    );
  const missing = field === undefined ? options.missing : undefined;
  requireMissingNumber(
    missing,
    (number) => number < MOST_SUMMED,
    'the number of records in which `sum` finds none; expected a number from 0 to less than 10^15',
  );
  return { ...completeValueRule({ selector, missing }, '`sum`', format), isUnit: field !== undefined };
}

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
