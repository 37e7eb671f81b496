/**
 * Words as they are typed into a POSIX shell, to be read and pasted: bare where that is safe, else in
 * single quotes. What must not reach a terminal or a log as it is (`one-line.ts`) is written in `$'...'`,
 * which POSIX has since 2024 and bash, ksh and zsh had long before.
 */

import { oneLine } from './one-line.js';

/** No sign of these means anything to a shell; `=` would to zsh, at the beginning. */
const bareWord = /^[\w@%+:,./-][\w@%+:,./=-]*$/;

/** The words, one line, such that a shell takes them apart again into the same. */
export function quoteShellWords(words: readonly string[]): string {
  return words.map(quoteShellWord).join(' ');
}

function quoteShellWord(word: string): string {
  if (bareWord.test(word)) {
    return word;
  }
  if (oneLine(word) === word) {
    return `'${word.replaceAll("'", "'\\''")}'`;
  }
  return `$'${word.replace(/[\p{Cc}\p{Zl}\p{Zp}'\\]/gu, escapeOctal)}'`;
}

/** Bytes of UTF-8 in three octal digits each: no shell takes a digit that follows for one of them. */
function escapeOctal(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
