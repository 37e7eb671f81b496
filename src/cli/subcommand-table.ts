/**
 * The words that may follow `pileshuf` and name a command of its own. All other first words are inputs, and an input of
 * such a name is given as `./NAME`. A command is a file in `commands/` and a line here; it is loaded when it is asked for.
 */
import type { Subcommand } from './subcommand.js';

const subcommands: Readonly<Record<string, () => Promise<{ readonly run: Subcommand }>>> = {
  append: () => import('./commands/append.js'),
  expire: () => import('./commands/expire.js'),
  gc: () => import('./commands/gc.js'),
  index: () => import('./commands/index.js'),
  inspect: () => import('./commands/inspect.js'),
  pile: () => import('./commands/pile.js'),
  'shuffle-store': () => import('./commands/shuffle-store.js'),
  stream: () => import('./commands/stream.js'),
};

/** In the order of the alphabet. */
export const subcommandNames: readonly string[] = Object.keys(subcommands);

/** Undefined: the word is none of them. */
export async function findSubcommand(word: string | undefined): Promise<Subcommand | undefined> {
  if (word === undefined || !Object.hasOwn(subcommands, word)) return undefined;
  return (await subcommands[word]?.())?.run;
}
