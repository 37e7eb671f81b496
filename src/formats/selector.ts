/**
 * Selects a value in a record, by one of these forms. Two values are equal if they are strings of the same characters,
 * or other JSON values of the same bytes: `1` and `1.0` are two values, and neither is `"1"`. Only fields have values
 * that are not strings.
 *
 *     .metadata.site       a field of a JSON object, by the keys that lead to it, or a column of rows
 *     csv:site  csv:3      a column of comma-separated values, by its name in the header or its number from 1
 *     tsv:site  tsv:3      a column of values that tabs separate
 *     key  key:/EXPR/      the key of a sample in a tar file, or the first group of an expression that matches it
 *     /EXPR/flags          the first group of an expression that matches the record
 */
import { InputError, UsageError } from '../errors.js';
import { type FramingSpec, framingOf } from './framing-table.js';
import type { FoundHeader } from './header.js';
import type { RowValueSpec, SoughtColumn } from './rows/row-format.js';

/** The keys from the outermost object in; at least one. */
export type FieldPath = readonly string[];

export interface Expression {
  readonly source: string;
  readonly flags: string;
}

export type Selector = {
  readonly text: string;
} & (
  | { readonly kind: 'field'; readonly path: FieldPath }
  | ColumnSelector
  | { readonly kind: 'key'; readonly expression: Expression | undefined }
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'row'; readonly value: RowValueSpec }
);

interface ColumnSelector {
  readonly kind: 'column';
  /** Its name, or its number from 1. */
  readonly column: string | number;
  readonly separator: number;
}

/** How a value of a record is found. */
export interface ValueRule {
  readonly selector: Selector;
  /** The value of records without one; undefined: there must be none. */
  readonly missing?: string | undefined;
  /** The framing of the records; undefined: their header declares it. */
  readonly framing: FramingSpec | undefined;
  /** True if it finds the number that the shares of a mix count. Absent: no. */
  readonly isUnit?: boolean | undefined;
}

const MOST_KEYS = 32;
/** A bare key, or one in double quotes as JSON writes it. */
const KEY = /\.(?:([^."[\]\s]+)|("(?:[^"\\]|\\.)*"))/gy;
const EXPRESSION = /^\/(.+)\/([a-z]*)$/su;
const COLUMN = /^([ct])sv:(.+)$/su;
const SEPARATORS: Readonly<Record<string, number>> = { c: 0x2c, t: 0x09 };
const MOST_COLUMN = 2 ** 20;
const FLAGS = 'ims';

export function parseSelector(text: string, what: string): Selector {
  if (text.startsWith('.')) return { text, kind: 'field', path: parseFieldPath(text, what) };
  const [, letter, name] = COLUMN.exec(text) ?? [];
  if (letter !== undefined && name !== undefined)
    return { text, kind: 'column', column: parseColumn(name, text, what), separator: SEPARATORS[letter] ?? 0 };
  if (text === 'key') return { text, kind: 'key', expression: undefined };
  if (text.startsWith('key:'))
    return { text, kind: 'key', expression: parseExpression(text.slice('key:'.length), text, what) };
  if (text.startsWith('/')) return { text, kind: 'expression', expression: parseExpression(text, text, what) };
  throw new UsageError(
    `${what} ${JSON.stringify(text)}: expected a JSON field (.site, .metadata.site), a column (csv:site, csv:3, tsv:site), the key of a sample (key), or an expression with a group (/^(\\w+)/)`,
  );
}

export function parseFieldPath(selector: string, what: string): FieldPath {
  const keys = [...selector.matchAll(KEY)].map(([, bare, quoted = '""']) => bare ?? unquoted(quoted));
  const byteLength = [...selector.matchAll(KEY)].reduce((sum, [text]) => sum + text.length, 0);
  const path = keys.filter((key) => key !== undefined);
  if (path.length > 0 && path.length === keys.length && path.length <= MOST_KEYS && byteLength === selector.length)
    return path;
  throw new UsageError(
    `${what} ${JSON.stringify(selector)}: expected the keys of a JSON field, such as .site, .metadata.site or ."a key"`,
  );
}

function unquoted(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted);
  } catch {
    return undefined;
  }
}

function parseColumn(name: string, selector: string, what: string): string | number {
  if (/^\d+$/.test(name)) {
    const column = Number(name);
    if (column >= 1 && column <= MOST_COLUMN) return column;
    throw new UsageError(`${what} ${selector}: expected the number of a column, from 1 to ${MOST_COLUMN}`);
  }
  if (!name.startsWith('"')) return name;
  const column = unquoted(name);
  if (typeof column === 'string') return column;
  throw new UsageError(`${what} ${selector}: expected the name of a column in double quotes, as JSON writes it`);
}

function parseExpression(text: string, selector: string, what: string): Expression {
  const [, source, given = ''] = EXPRESSION.exec(text) ?? [];
  if (source === undefined)
    throw new UsageError(`${what} ${selector}: expected a regular expression between two slashes, such as /^(\\w+)/`);
  if (![...given].every((flag) => FLAGS.includes(flag)) || new Set(given).size < given.length)
    throw new UsageError(`${what} ${selector}: expected no flags but i, m and s after the expression, each once`);
  const flags = `${given}u`;
  const groupCount = countGroups(source, flags, `${what} ${selector}`);
  if (groupCount > 0) return { source, flags };
  throw new UsageError(
    `${what} ${selector}: the expression has no group; expected parentheses around the value, as in /^(\\w+)/`,
  );
}

function countGroups(source: string, flags: string, what: string): number {
  try {
    new RegExp(source, flags);
    // With an empty alternative the expression matches any text, and the match has a place for each group.
    return (new RegExp(`${source}|`, flags).exec('')?.length ?? 1) - 1;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /s, '') : String(error);
    throw new UsageError(`${what} is not a regular expression of JavaScript with the flag u: ${reason}`);
  }
}

/** Finds a column of rows. */
export type SeekColumn = (sought: SoughtColumn) => RowValueSpec;

/** Returns the rule with a column of rows in place of a field. */
export function withRowColumn<R extends Rule>(rule: R, seek: SeekColumn, as: SoughtColumn['as'] = 'value'): R {
  const { text, ...selector } = rule.selector;
  const keys = selector.kind === 'field' ? selector.path : undefined;
  return { ...rule, selector: { text, kind: 'row', value: seek({ text, keys, as }) } };
}

/** Returns what a record without a value lacks and what is expected, for messages. */
export function describeLack(selector: Selector): string {
  const { text } = selector;
  switch (selector.kind) {
    case 'field':
      return `no field ${text}; expected a JSON object that has it`;
    case 'row':
      return `no value in the column ${text}; expected one in each row`;
    case 'column':
      return `no column ${text}; expected a row that has it`;
    case 'key':
      return selector.expression === undefined
        ? 'no key; expected a sample with a file'
        : `a key without a match of ${text}; expected a key that the expression matches, with a value in its first group`;
    case 'expression':
      return `no match of ${text}; expected one with a value in its first group`;
  }
}

export function encodeFieldPath(path: FieldPath): Uint8Array {
  const keys = path.map((key) => Buffer.from(key));
  return Buffer.concat([u32(keys.length), ...keys.flatMap((key) => [u32(key.byteLength), key])]);
}

function u32(...values: number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer);
}

const QUOTED = /^"((?:[^"]|"")*)"$/s;
const MOST_SHOWN = 20;

interface Rule {
  readonly selector: Selector;
  readonly framing: FramingSpec | undefined;
}

/** Returns the rule with the number of its column in place of a name, which the last line of the header has. */
export function withColumnNumber<R extends Rule>(rule: R, header: FoundHeader | undefined): R {
  const { selector, framing } = rule;
  if (selector.kind !== 'column' || typeof selector.column === 'number' || header === undefined) return rule;
  const takesQuotes = framing !== undefined && framingOf(framing).hasQuotedFields === true;
  const names = columnNames(Buffer.from(header.header.bytes).toString(), selector, takesQuotes);
  const index = names.indexOf(selector.column);
  if (index < 0 || names.lastIndexOf(selector.column) > index)
    throw columnError(selector, names, index >= 0, header.path);
  return { ...rule, selector: { ...selector, column: index + 1 } };
}

function columnError({ text }: Selector, names: readonly string[], isThere: boolean, path: string): InputError {
  const shown = names.slice(0, MOST_SHOWN).map((name) => JSON.stringify(name));
  const more = names.length > MOST_SHOWN ? ', …' : '';
  return new InputError(
    'ERR_FIELD_MISSING',
    `${path}: ${text} names ${isThere ? 'several columns' : 'no column'} of its header, which has ${shown.join(', ')}${more}; expected the name of one, or its number`,
  );
}

function columnNames(header: string, { separator: byte }: ColumnSelector, takesQuotes: boolean): string[] {
  const separator = String.fromCharCode(byte);
  const text = header.replace(/^\ufeff/, '');
  const nameOf = (value: string) => (takesQuotes ? withoutQuotes(value) : value);
  let names: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"' && takesQuotes) isQuoted = !isQuoted;
    if (isQuoted || (text[i] !== separator && text[i] !== '\n')) continue;
    const isLast = text[i] === '\n';
    const value = text.slice(start, i);
    names.push(nameOf(isLast ? value.replace(/\r$/, '') : value));
    start = i + 1;
    if (isLast && start < text.length) names = [];
  }
  return names;
}

function withoutQuotes(value: string): string {
  return QUOTED.exec(value)?.[1]?.replaceAll('""', '"') ?? value;
}
