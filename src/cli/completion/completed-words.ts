/**
 * The words that a shell completes: commands, options, their values and names of files. They come from the tables of commands
 * and options. The scripts hold all of them: a shell that completes a word starts no process.
 */
import { type CommandName, commandSummaries, shufSummary } from '../command-table.js';
import { type OptionEntry, optionsOf } from '../option-table.js';
import { shufOptions } from '../shuf/shuf-call.js';

export interface CompletedCommand {
  /** Undefined: the main command, for any other first word. */
  readonly name: string | undefined;
  /** One sentence. */
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  /** The operands, where they are words; undefined: names of files. */
  readonly operands: readonly string[] | undefined;
}

export interface CompletedOption {
  /** As typed: `--output`, `-o`. */
  readonly flags: readonly string[];
  readonly help: string;
  readonly isRepeatable: boolean;
  /** Undefined: the flag has no value. */
  readonly value: CompletedValue | undefined;
}

export interface CompletedValue {
  readonly placeholder: string;
  /** Names of files, names of directories, one of some words, or what no shell knows. */
  readonly is: 'file' | 'directory' | 'other' | readonly string[];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** The main command comes last. */
export function completedCommands(): readonly CompletedCommand[] {
  const named = (Object.keys(commandSummaries) as CommandName[]).filter((name) => name !== 'shuffle');
  const names = [...new Set([...named, 'help', 'shuf'].map((name) => firstWordOf(name)))].sort();
  const ofTable = (name: CommandName): CompletedCommand => ({
    name: name === 'shuffle' ? undefined : name,
    summary: commandSummaries[name],
    options: [...optionsOf(name).map(completedOption), HELP, ...(name === 'shuffle' ? [VERSION] : [])],
    operands: name === 'completion' ? SHELLS : undefined,
  });
  const families = names.flatMap((name) => familyOf(name, named));
  const help = { name: 'help', summary: 'Prints the help of a command.', options: [], operands: names };
  return [
    ...[...named.map(ofTable), ...families, help, completedShuf()].sort((a, b) => order(a.name, b.name)),
    ofTable('shuffle'),
  ];
}

/** `cluster` of `cluster plan`. */
export function firstWordOf(name: string): string {
  return name.replace(/ .*$/, '');
}

/** All that may be the first word. */
export function firstWords(commands: readonly CompletedCommand[]): string[] {
  return commands.flatMap(({ name }) => (name === undefined || name !== firstWordOf(name) ? [] : [name]));
}

/** The first words of commands that have another word. */
export function familiesOf(commands: readonly CompletedCommand[]): string[] {
  return [...new Set(commands.flatMap(({ name = '' }) => (name.includes(' ') ? [firstWordOf(name)] : [])))];
}

/** What stands for all commands that begin with this word, and have another. */
function familyOf(word: string, named: readonly CommandName[]): CompletedCommand[] {
  const others = named.filter((name) => name.startsWith(`${word} `)).map((name) => name.slice(word.length + 1));
  if (others.length === 0) return [];
  const summary = `Commands: ${others.join(', ')}.`;
  return [{ name: word, summary, options: [], operands: others }];
}

/** Its options are those of the main command that shuf has. */
function completedShuf(): CompletedCommand {
  const ofShuf = new Set<string>(shufOptions.map(({ name }) => name));
  const options = optionsOf('shuffle').filter(({ name }) => ofShuf.has(name));
  const [, long] = HELP.flags;
  const all = [...options.map(completedOption), { ...HELP, flags: [String(long)] }, VERSION];
  return { name: 'shuf', summary: shufSummary, options: all, operands: undefined };
}

function order(a = '', b = ''): number {
  return a < b ? -1 : 1;
}

const HELP: CompletedOption = {
  flags: ['-h', '--help'],
  help: 'print this help',
  isRepeatable: false,
  value: undefined,
};
const VERSION: CompletedOption = { ...HELP, flags: ['--version'], help: 'print the version' };

function completedOption({ name, short, help, isRepeatable, value, words, usualWords }: OptionEntry): CompletedOption {
  const flags = [...(short === undefined ? [] : [`-${short}`]), `--${name}`];
  return {
    flags,
    help,
    isRepeatable: isRepeatable === true,
    value: value === undefined ? undefined : completedValue(value, words ?? usualWords),
  };
}

function completedValue(placeholder: string, words: readonly string[] | undefined): CompletedValue {
  const isFile = /^(FILE|PATH)\b/.test(placeholder);
  return { placeholder, is: words ?? (placeholder === 'DIR' ? 'directory' : isFile ? 'file' : 'other') };
}
