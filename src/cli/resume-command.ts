/**
 * The command that resumes an unfinished job: what was typed, with `--resume`, as one line for a POSIX shell. Words are
 * bare where that is safe, else in single quotes. Characters that must not reach a terminal or a log as they are
 * (`oneLine`) are written in `$'...'`, which POSIX has since 2024 and bash, ksh and zsh had long before.
 */

import { oneLine } from './messages.js';

/**
 * @param argv the words after `pileshuf`, as typed.
 * @param asksToResume whether they hold `--resume` as an option: the word alone may be the value of another option.
 */
export function resumeCommandOf(argv: readonly string[], asksToResume: boolean): string {
  return `pileshuf ${quoteShellWords(asksToResume ? argv : withResume(argv))}`;
}

/** Only inputs follow `--`. Its position is not known here, because a seed may be `--`: the front is always safe. */
function withResume(argv: readonly string[]): readonly string[] {
  return argv.includes('--') ? ['--resume', ...argv] : [...argv, '--resume'];
}

/** None of these characters means anything to a shell; a leading `=` would to zsh. */
const bareWord = /^[\w@%+:,./-][\w@%+:,./=-]*$/;

/** One line, which a shell takes apart into the same words. */
export function quoteShellWords(words: readonly string[]): string {
  return words.map(quoteShellWord).join(' ');
}

function quoteShellWord(word: string): string {
  if (bareWord.test(word)) return word;
  if (oneLine(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${word.replace(/[\p{Cc}\p{Zl}\p{Zp}'\\]/gu, escapeOctal)}'`;
}

/** Bytes of UTF-8 in three octal digits each: no shell reads a digit after them as a part of them. */
function escapeOctal(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
