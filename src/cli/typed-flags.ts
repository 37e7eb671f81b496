/** Messages in the words of the call: library options become flags, and a flag of one letter stays one if it was typed so. */
import { nameFlags, type OptionEntry, optionTable } from './option-table.js';

export type NameFlags = (message: string) => string;

export function flagsAsTyped(argv: readonly string[]): NameFlags {
  const typed = shortFlagsIn(argv);
  return (message) =>
    typed.reduce(
      // A message that has both forms keeps them.
      (named, { name, short }) => named.replaceAll(new RegExp(`(?<!-${short}, )--${name}(?![\\w-])`, 'g'), `-${short}`),
      nameFlags(message),
    );
}

/** Those that were typed in their short form alone. Commands agree on what a letter stands for. */
function shortFlagsIn(argv: readonly string[]): readonly OptionEntry[] {
  const entries: readonly OptionEntry[] = optionTable;
  const short = new Map<string, OptionEntry>();
  const long = new Set<string>();
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (word === '--') break;
    const [, name] = /^--([^=]+)/.exec(word) ?? [];
    if (name !== undefined) {
      long.add(name);
      if (!word.includes('=') && entries.some((entry) => entry.name === name && entry.value !== undefined)) i += 1;
    } else if (word.startsWith('-')) {
      for (let at = 1; at < word.length; at++) {
        const entry = entries.find((each) => each.short === word[at]);
        if (entry === undefined) break;
        short.set(entry.name, entry);
        if (entry.value === undefined) continue;
        // The rest of the word, or the next one, is its value.
        if (at === word.length - 1) i += 1;
        break;
      }
    }
  }
  return [...short.values()].filter(({ name }) => !long.has(name));
}
