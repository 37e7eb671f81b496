/**
 * The command that resumes an unfinished job, as one line for a POSIX shell: what was typed, with `--resume`. In place
 * of a value that the failure blames stands the least that the message asks for, or a placeholder. Words are bare where
 * that is safe, else in single quotes. Characters that must not reach a terminal or a log (`oneLine`) are written in
 * `$'...'`, which POSIX has since 2024 and bash, ksh and zsh had long before.
 */

import type { PileshufError } from '../errors.js';
import type { OptionFlag } from '../options/option.js';
import { inputFactsOf } from '../places/inputs/input-kinds.js';
import { optionsOf } from './command-table.js';
import { optionsNamedIn } from './option-names.js';
import { typedParts } from './typed-words.js';
import { oneLine, replaceHidden } from './visible-text.js';

export interface ResumeAdvice {
  readonly command: string;
  /** The flags whose values must change: placeholders in the command. */
  readonly change: readonly string[];
  /** True if a disk is full: the job needs the same disks, so there must be space first. */
  readonly needsSpace: boolean;
}

export type ResumeAdviser = (failure: Pick<PileshufError, 'code' | 'message'>) => ResumeAdvice;

/** @param asksToResume whether `--resume` is there as an option: the word may be the value of another one. */
export function resumeAdviser(argv: readonly string[], asksToResume: boolean): ResumeAdviser {
  return ({ code, message }) => {
    const blamed = optionsNamedIn(message, 'shuffle').filter(({ mayChange }) => mayChange === true);
    const given = blamed.filter((entry) => without(argv, [entry]).length < argv.length);
    // Several are named where a change of one is enough.
    const changed = given.length > 0 ? given : blamed.slice(0, 1);
    const added = [
      ...(asksToResume ? [] : ['--resume']),
      ...changed.flatMap(({ name, sets, value = '' }) => [`--${name}`, leastIn(message, sets) ?? value]),
    ];
    return {
      command: `pileshuf ${quoteShellWords(withOptions(without(argv, changed), added))}`,
      change: changed.map(({ name }) => `--${name}`),
      needsSpace: code === 'ERR_NO_SPACE',
    };
  };
}

function leastIn(message: string, option: string): string | undefined {
  const [, least] = new RegExp(['`', option, '` of at least (\\d+[A-Z]*)'].join('')).exec(message) ?? [];
  return least;
}

/**
 * @param seed of `--seed`. Undefined: the job's seed goes in front, in place of a `--random-source`, which may change.
 */
export function repeatCommand(argv: readonly string[], seed: string | undefined, seedOfJob: string): string {
  if (seed !== undefined) return `pileshuf ${quoteShellWords(argv)}`;
  const source = optionsOf('shuffle').filter(({ name }) => name === 'random-source');
  return `pileshuf ${quoteShellWords(['--seed', seedOfJob, ...without(argv, source)])}`;
}

/** Adds options in front: only inputs follow `--`, and its position is not known here, because a seed may be `--`. */
function withOptions(argv: readonly string[], added: readonly string[]): readonly string[] {
  return argv.includes('--') ? [...added, ...argv] : [...argv, ...added];
}

/** Flags of one letter that stand before one of the options in the same word stay: `-z` of `-zS5G`. */
function without(argv: readonly string[], options: readonly OptionFlag[]): readonly string[] {
  return typedParts(argv).flatMap(({ words, long, short }) => {
    const entry = long ?? short.at(-1);
    if (entry === undefined || !options.includes(entry)) return words;
    return short.length > 1 ? [(words[0] ?? '').slice(0, short.length)] : [];
  });
}

/** None of these characters means anything to a shell; a leading `=` would to zsh. */
const bareWord = /^[\w@%+:,./-][\w@%+:,./=-]*$/;

/** One line, which a shell takes apart into the same words. What is secret in addresses is left out. */
export function quoteShellWords(words: readonly string[]): string {
  return words.map((word) => quoteShellWord(inputFactsOf(word).shown(word))).join(' ');
}

function quoteShellWord(word: string): string {
  if (bareWord.test(word)) return word;
  if (oneLine(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${replaceHidden(word.replace(/['\\]/g, escapeOctal), escapeOctal)}'`;
}

/** Bytes of UTF-8 in three octal digits each: no shell reads a digit after them as a part of them. */
function escapeOctal(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
