import { InputError } from '../errors.js';
import type { FramingSpec } from './framing-table.js';
import type { FoundHeader } from './header.js';
import type { ColumnSelector, Selector } from './selector.js';

const QUOTED = /^"((?:[^"]|"")*)"$/s;
const MOST_SHOWN = 20;

interface Rule {
  readonly selector: Selector;
  readonly framing: FramingSpec | undefined;
}

/** The same rule with the number of its column in place of a name, which the last line of the header has. */
export function withColumnNumber<R extends Rule>(rule: R, header: FoundHeader | undefined): R {
  const { selector, framing } = rule;
  if (selector.kind !== 'column' || typeof selector.column === 'number' || header === undefined) return rule;
  const names = columnNames(Buffer.from(header.header.bytes).toString(), selector, framing?.kind === 'csv');
  const index = names.indexOf(selector.column);
  if (index < 0 || names.lastIndexOf(selector.column) > index) throw notOne(selector, names, index >= 0, header.path);
  return { ...rule, selector: { ...selector, column: index + 1 } };
}

function notOne({ text }: Selector, names: readonly string[], isThere: boolean, path: string): InputError {
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
