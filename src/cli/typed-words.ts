/** The words of a call before they are parsed: which options they are, for messages and for the command that resumes. */

import type { OptionFlag } from '../options/option.js';
import { CLUSTER, COMMANDS, type CommandName, optionsOf } from './command-table.js';
import { allOptions, nameFlags } from './option-names.js';

/** An option with its words, several flags of one letter in one word, or a word that is not an option. */
export interface TypedPart {
  readonly words: readonly string[];
  readonly long?: OptionFlag | undefined;
  /** The flags of one letter, in their order. Only the last one may have a value. */
  readonly short: readonly OptionFlag[];
}

/** Returns the parts of a command line; all that follows `--` is one part. */
export function typedParts(argv: readonly string[]): TypedPart[] {
  // A flag may have a value in another command only. Those that this command lacks are known, too: it refuses them.
  const own = optionsOf(commandIn(argv));
  const find: FindOption = (isIt) => own.find(isIt) ?? allOptions().find(isIt);
  const parts: TypedPart[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (word === '--') return [...parts, { words: argv.slice(i), short: [] }];
    const { hasValueAfter, ...found } = optionsIn(word, find);
    const words = argv.slice(i, i + (hasValueAfter ? 2 : 1));
    parts.push({ ...found, words });
    i += words.length - 1;
  }
  return parts;
}

function commandIn([first = '', second]: readonly string[]): CommandName {
  const name = first === CLUSTER ? `${first} ${second}` : first;
  const isName = (each: string): each is CommandName => Object.hasOwn(COMMANDS, each);
  return isName(name) ? name : 'shuffle';
}

type FindOption = (isIt: (entry: OptionFlag) => boolean) => OptionFlag | undefined;

function optionsIn(word: string, find: FindOption) {
  const [, name, equals] = /^--([^=]+)(=)?/.exec(word) ?? [];
  if (name !== undefined) {
    const long = find((entry) => entry.name === name);
    return { long, short: [], hasValueAfter: long?.value !== undefined && equals === undefined };
  }
  const short: OptionFlag[] = [];
  for (const letter of word.startsWith('-') ? word.slice(1) : '') {
    const entry = find((each) => each.short === letter);
    if (entry === undefined) break;
    short.push(entry);
    if (entry.value !== undefined) break;
  }
  // The value is the rest of the word, or the next one.
  const isWhole = short.length === word.length - 1;
  return { short, hasValueAfter: isWhole && short.at(-1)?.value !== undefined };
}

export type NameFlags = (message: string) => string;

/**
 * Messages in the words of the call: library options become flags, and a flag of one letter stays one if it was typed
 * in that form alone. Commands agree on what a letter stands for.
 */
export function flagsAsTyped(argv: readonly string[]): NameFlags {
  return (message) => {
    const parts = typedParts(argv);
    const long = new Set(parts.map((part) => part.long?.name));
    const typed = new Set(parts.flatMap(({ short }) => short).filter(({ name }) => !long.has(name)));
    return [...typed].reduce(
      // A message that has both forms stays as it is.
      (named, { name, short }) => named.replaceAll(new RegExp(`(?<!-${short}, )--${name}(?![\\w-])`, 'g'), `-${short}`),
      nameFlags(message),
    );
  };
}

/** Looks for `--progress json` before the words are parsed: a program that reads JSON must learn why they were refused. */
export function asksForJson(argv: readonly string[]): boolean {
  const last = typedParts(argv).findLast(({ long }) => long?.name === 'progress');
  return last?.words.join('=') === '--progress=json';
}
