/**
 * Words of the user in messages, as GNU's programs print them in the locale C: in quotes, with escapes for bytes that do
 * not print. Characters outside of ASCII are printed as they are, as in a UTF-8 locale.
 */
import { bytesOfWord } from './raw-words.js';

/** Not to be printed: control characters, and bytes that are not UTF-8. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
};

/** A word between quotes, as in a C program. */
export function quote(word: string): string {
  const pieces = [...word].map((letter) =>
    letter === "'" || letter === '\\' ? `\\${letter}` : UNPRINTABLE.test(letter) ? escaped(letter) : letter,
  );
  return `'${pieces.join('')}'`;
}

/** Everything but these needs quotes in a message that ends its names with a colon, or in a shell. */
const BARE = /^(?![#~]|[{}]$)[^\s!"$&'()*:;<=>?[\\^`|]+$/;
/** With these beside it, a single quote can stand between double quotes. */
const FOR_DOUBLE_QUOTES = /^[A-Za-z0-9 '%+,\-./:@\]_]*$/;

/** The name of a file, in quotes only where it needs them, so that a shell would read it. */
export function quoteName(name: string): string {
  const isPrintable = !UNPRINTABLE.test(name);
  if (isPrintable && BARE.test(name)) return name;
  if (name.includes("'") && FOR_DOUBLE_QUOTES.test(name)) return `"${name}"`;
  let quoted = "'";
  let isInEscapes = false;
  for (const letter of name) {
    const isEscape = UNPRINTABLE.test(letter);
    if (isEscape !== isInEscapes) quoted += isEscape ? "'$'" : "''";
    isInEscapes = isEscape;
    quoted += isEscape ? escaped(letter) : letter === "'" ? "'\\''" : letter;
  }
  return `${quoted}'`;
}

function escaped(letter: string): string {
  const octal = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`;
  return SIMPLE_ESCAPES[letter] ?? [...bytesOfWord(letter)].map(octal).join('');
}
