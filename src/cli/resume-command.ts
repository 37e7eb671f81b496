/**
 * The command that goes on with a job that was left unfinished: the one that was typed, and `--resume`.
 */

import { quoteShellWords } from './shell-words.js';

/**
 * One line for a POSIX shell.
 *
 * @param argv the words after the command's name, as typed.
 * @param asksToResume whether they say `--resume`: the word alone may be the value of an option.
 */
export function resumeCommandOf(argv: readonly string[], asksToResume: boolean): string {
  return `pileshuf ${quoteShellWords(asksToResume ? argv : withResume(argv))}`;
}

/** Nothing but inputs follows `--`. Where that is cannot be seen (a seed may be `--`): in front is safe. */
function withResume(argv: readonly string[]): readonly string[] {
  return argv.includes('--') ? ['--resume', ...argv] : [...argv, '--resume'];
}
