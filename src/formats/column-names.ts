/** The names of columns in the last line of a header. */
import { InputError } from '../errors.js';
import type { ColumnSelector, Selector } from './selector.js';

/** A name between quotes, in which two stand for one. */
const QUOTED = /^"((?:[^"]|"")*)"$/s;
const MOST_SHOWN = 20;

/**
 * The number of a column, from 1.
 * @param header of an input, with its line ends.
 * @param takesQuotes whether quotes may enclose names.
 * @throws InputError ERR_FIELD_MISSING if no column or more than one has the name.
 */
export function numberOfColumn(
  { column, separator, text }: ColumnSelector & Pick<Selector, 'text'>,
  header: Uint8Array,
  takesQuotes: boolean,
  path: string,
): number {
  if (typeof column === 'number') return column;
  const names = columnNames(Buffer.from(header).toString(), String.fromCharCode(separator), takesQuotes);
  const index = names.indexOf(column);
  if (index >= 0 && names.lastIndexOf(column) === index) return index + 1;
  const shown = names.slice(0, MOST_SHOWN).map((name) => JSON.stringify(name));
  throw new InputError(
    'ERR_FIELD_MISSING',
    `${path}: ${text} names ${index < 0 ? 'no column' : 'several columns'} of its header; expected one of ${shown.join(', ')}${names.length > MOST_SHOWN ? ', …' : ''}, or the number of the column`,
  );
}

function columnNames(header: string, separator: string, takesQuotes: boolean): string[] {
  const text = header.replace(/^\ufeff/, '');
  const nameOf = (value: string) => (takesQuotes ? unquoted(value) : value);
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

function unquoted(value: string): string {
  return QUOTED.exec(value)?.[1]?.replaceAll('""', '"') ?? value;
}
