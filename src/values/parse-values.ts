/**
 * Values as people type them. Each function takes the text and the flag, for its message, and throws UsageError
 * (ERR_OPTION).
 */
import { UsageError } from '../errors.js';
import { parseAmount, parseSize } from './size.js';

export function parseCount(text: string, flag: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1) return requireSafe(count, text, flag);
  throw new UsageError(`${flag} ${text}: expected a whole number of at least 1`);
}

export function parseWhole(text: string, flag: string): number {
  if (/^\d+$/.test(text)) return requireSafe(Number(text), text, flag);
  throw new UsageError(`${flag} ${text}: expected a whole number of at least 0`);
}

export const UNITS_OF_RECORDS = 'alone or with K, M, B or T, as in 10K (10,000)';

export function parseRecords(text: string, flag: string): number {
  const count = parseAmount(text);
  if (count !== undefined && count >= 1n) return requireSafe(Number(count), text, flag);
  throw new UsageError(`${flag} ${text}: expected a whole number of at least 1, ${UNITS_OF_RECORDS}`);
}

/** Parses `NAME=VALUE,NAME=VALUE`. Refuses a name that comes twice: an object would keep the last. */
export function parsePairs(text: string, flag: string, expected: string): [name: string, value: string][] {
  const pairs = text.split(',').map((pair): [string, string] => {
    const [, name, value] = /^([^=]+)=([^=]+)$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) throw new UsageError(`${flag} ${text}: expected ${expected}`);
    return [name, value];
  });
  const names = pairs.map(([name]) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new UsageError(`${flag} ${text}: it names ${twice} twice; expected each split once`);
  return pairs;
}

/** Refuses a number that would be rounded. */
export function requireSafe(value: number, text: string, flag: string): number {
  if (Number.isSafeInteger(value)) return value;
  throw new UsageError(`${flag} ${text}: expected at most ${Number.MAX_SAFE_INTEGER}`);
}

export function oneWordOf<const Known extends readonly string[]>(
  ...words: Known
): { readonly words: Known; readonly parse: (text: string, flag: string) => Known[number] } {
  const parse = (text: string, flag: string) => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return found;
    throw new UsageError(`${flag} ${text}: expected one of ${words.join(', ')}`);
  };
  return { words, parse };
}

/** An unset shell variable leaves an empty string. */
export const nonEmptyText = (expected: string) => (text: string, flag: string) => {
  if (text !== '') return text;
  throw new UsageError(`${flag}: expected ${expected}, got an empty string`);
};

export const parsePath = nonEmptyText('a path');
export const parseState = nonEmptyText('a state');
/** Parses what Slurm takes for a name, a time or a list; Slurm checks it. */
export const parseWord = nonEmptyText('a value');

export function parsePaths(text: string, flag: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, parsePath(text, flag)];
}

/** Parses `PATH=VALUE`. The last `=` divides, because a path may hold one. */
export function parsePathAndValue(text: string, flag: string, expected: string): [path: string, value: string] {
  const cut = text.lastIndexOf('=');
  if (cut < 1) throw new UsageError(`${flag} ${text}: expected ${expected}`);
  return [text.slice(0, cut), text.slice(cut + 1)];
}

export function parseBytes(text: string, flag: string): number {
  return parseSize(text, { flag });
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Parses a whole number and a unit. Returns milliseconds. 0 needs no unit. */
export function parseDuration(text: string, flag: string): number {
  const [, digits, unit = ''] = /^(\d{1,9})([smhdw]?)$/.exec(text) ?? [];
  const seconds = digits === '0' ? 1 : SECONDS[unit];
  if (digits !== undefined && seconds !== undefined) return Number(digits) * seconds * 1000;
  throw new UsageError(`${flag} ${text}: expected a whole number and a unit, such as 90s, 12h, 30d or 4w`);
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0', '\\': '\\' };

/** Text with the escapes that shells do not understand, as bytes in UTF-8. `\xHH` is one byte. */
export function parseDelimiter(text: string, flag: string): Uint8Array {
  if (text === '') throw new UsageError(`${flag}: expected at least one byte, got an empty string`);
  // Node has put this in place of bytes that are not UTF-8, and no record would end in it.
  if (text.includes('\ufffd'))
    throw new UsageError(`${flag}: expected UTF-8; give other bytes as \\xHH, and U+FFFD as \\xEF\\xBF\\xBD`);
  const pieces = [...text.matchAll(/\\x([0-9a-fA-F]{2})|(\\[\s\S]?)|[^\\]+/g)].map(([plain, hex, escaped]) => {
    if (hex !== undefined) return Buffer.from(hex, 'hex');
    const byte = escaped === undefined ? plain : SIMPLE_ESCAPES[escaped[1] ?? ''];
    if (byte !== undefined) return Buffer.from(byte);
    const expected = 'expected \\n, \\r, \\t, \\0, \\\\ or \\xHH with two hex digits';
    throw new UsageError(`${flag} ${text}: ${escaped} is not an escape; ${expected}`);
  });
  return Buffer.concat(pieces);
}

/** Matches text in single quotes, in double quotes, bare, between words, or a quote without its pair. */
const PIECE = /'([^']*)'|"([^"]*)"|([^\s'"]+)|(\s+)|['"]/g;

export function parseWords(text: string, flag: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [piece, single, double, bare, blanks] of text.matchAll(PIECE)) {
    const part = single ?? double ?? bare;
    if (part !== undefined) word = (word ?? '') + part;
    else if (blanks === undefined) throw new UsageError(`${flag} ${text}: the quote ${piece} is not closed`);
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}
