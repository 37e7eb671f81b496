/**
 * What follows `pileshuf` as a first word: a command of its own. All other words are inputs, and an input of such a
 * name is given as `./NAME`. A command is a file in `commands/` and a line here; it is loaded when it is asked for.
 */
import type { Reporter } from './progress.js';
import type { RunCommandOptions } from './run-command.js';

/** What a command is run with. */
export interface SubcommandContext {
  readonly signal: AbortSignal;
  readonly stderr: NodeJS.WriteStream;
  /** Sizes that tests give. */
  readonly tuning: RunCommandOptions['tuning'];
  /** From now on what happens is told there, errors as well. */
  readonly reportTo: (reporter: Reporter) => void;
}

/** Ends well, or throws a PileshufError. */
export type Subcommand = (argv: readonly string[], context: SubcommandContext) => Promise<void>;

const subcommands: Readonly<Record<string, () => Promise<{ readonly run: Subcommand }>>> = {
  stream: () => import('./commands/stream.js'),
  append: () => import('./commands/append.js'),
  expire: () => import('./commands/expire.js'),
  gc: () => import('./commands/gc.js'),
  inspect: () => import('./commands/inspect.js'),
  index: () => import('./commands/index.js'),
  pile: () => import('./commands/pile.js'),
  'shuffle-store': () => import('./commands/shuffle-store.js'),
};

/** In the order of the alphabet. */
export const subcommandNames: readonly string[] = Object.keys(subcommands).sort();

/** Undefined: the word is none of them. */
export async function findSubcommand(word: string | undefined): Promise<Subcommand | undefined> {
  if (word === undefined || !Object.hasOwn(subcommands, word)) return undefined;
  return (await subcommands[word]?.())?.run;
}
