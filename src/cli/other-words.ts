/**
 * Words that people know from other programs, or mistype: what pileshuf has in their place. `triedOptions` is the one
 * table of options that do not exist here.
 */

import { existsSync } from 'node:fs';
import { InputError } from '../errors.js';
import { type CommandName, commandSummaries, typedName } from './command-table.js';
import { type OptionEntry, optionsOf, optionTable } from './option-table.js';

/** The name of the option that does the same, or what to do. */
type Instead = { readonly option: string } | { readonly advice: string };

interface TriedOption {
  /** As people type them. */
  readonly flags: readonly string[];
  readonly instead: Instead;
  readonly commands: readonly CommandName[];
}

const EVERY = Object.keys(commandSummaries) as CommandName[];
const INPUT_READERS = ['shuffle', 'append', 'cluster plan', 'cluster slurm', 'pile'] as const;
const STORE_WRITERS = ['append', 'pile'] as const;
const PLANNERS = ['cluster plan', 'cluster slurm'] as const;

// biome-ignore format: a table, a line or two an entry
const triedOptions: readonly TriedOption[] = [
  { flags: ['-n', '--head-count'], commands: ['stream'],
    instead: { advice: 'for the first N lines of the output, add | head -n N' } },
  { flags: ['-i', '--input-range'], commands: STORE_WRITERS,
    instead: { advice: 'a store keeps records; pileshuf -i LO-HI writes numbers' } },
  { flags: ['-r', '--repeat'], commands: STORE_WRITERS,
    instead: { advice: 'a directory stands for all files below it; each record comes once, and pileshuf stream --epochs N repeats those of a store' } },
  { flags: ['-r', '--repeat'], commands: PLANNERS,
    instead: { advice: 'draws with replacement are made in the memory of one machine' } },
  { flags: ['-u', '--uniq', '--distinct', '--dedup'], commands: ['shuffle', ...PLANNERS], instead: { option: 'unique' } },
  { flags: ['-i', '--input-range'], commands: PLANNERS,
    instead: { advice: 'numbers are made and not read; pileshuf -i writes them on one machine about as fast as its disk' } },
  { flags: ['--together'], commands: PLANNERS,
    instead: { advice: 'plan a job for each file with the same --seed and --key ordinal, and files of equal numbers of records stay aligned' } },
  { flags: ['-e', '--echo'], commands: PLANNERS,
    instead: { advice: 'tasks cannot share operands as records: name files' } },
  { flags: ['--report'], commands: PLANNERS,
    instead: { advice: 'it tells of one process, and each task has its own; --profile FILE tells where the time of all tasks went' } },
  { flags: ['-T', '--temp-dir'], commands: PLANNERS,
    instead: { advice: 'temp data lies in the job directory; a task takes --scratch for what belongs on its machine' } },
  { flags: ['--workers'], commands: PLANNERS, instead: { option: 'cpus-per-task' } },
  { flags: ['--mem'], commands: ['cluster plan'], instead: { option: 'memory' } },
  { flags: ['-S', '--memory'], commands: ['cluster slurm'], instead: { option: 'mem' } },
  { flags: ['--resume', '--keep-temp'], commands: ['cluster plan'],
    instead: { advice: 'a planned job always resumes: run the tasks again that are not done' } },
  { flags: ['-u', '--unique'], commands: [...STORE_WRITERS, 'shuffle-store', 'stream'],
    instead: { advice: 'a store keeps every record that it gets; pileshuf --unique keeps one of equal records of its inputs' } },
  { flags: ['--recursive'], commands: INPUT_READERS, instead: { advice: 'a directory stands for all files below it; leave it out' } },
  { flags: ['-R', '--random-sort'], commands: INPUT_READERS, instead: { advice: 'the order is always random; leave it out' } },
  { flags: ['-s', '--random-seed'], commands: EVERY, instead: { option: 'seed' } },
  { flags: ['-V', '--version'], commands: EVERY, instead: { advice: 'pileshuf --version prints the version' } },
  { flags: ['-j', '--jobs', '--parallel', '--threads'], commands: EVERY, instead: { option: 'workers' } },
  { flags: ['-m', '--buffer-size'], commands: EVERY, instead: { option: 'memory' } },
  { flags: ['--temporary-directory', '--tmpdir'], commands: EVERY, instead: { option: 'temp-dir' } },
  { flags: ['-f', '--overwrite'], commands: EVERY, instead: { option: 'force' } },
  { flags: ['-0', '--null'], commands: EVERY, instead: { option: 'zero-terminated' } },
  { flags: ['-d'], commands: EVERY, instead: { option: 'delimiter' } },
];

/** What to give instead of an option that the command does not have. @param word as typed, such as `-n10`. */
export function adviseOption(word: string, command: CommandName): string | undefined {
  const flag = word.startsWith('--') ? word.replace(/=.*$/s, '') : word.slice(0, 2);
  const tried = triedOptions.find(({ flags, commands }) => flags.includes(flag) && commands.includes(command));
  if (tried !== undefined) return adviceOf(tried.instead, command);
  const entries: readonly OptionEntry[] = optionTable;
  const owners = entries.filter(({ name, short }) => `--${name}` === flag || `-${short}` === flag);
  const names = [...new Set(owners.flatMap(({ commands }) => commands))].map(typedName);
  return names.length === 0 ? undefined : `it is an option of ${names.join(', ')}`;
}

function adviceOf(instead: Instead, command: CommandName): string | undefined {
  if ('advice' in instead) return instead.advice;
  const entry = optionsOf(command).find(({ name }) => name === instead.option);
  return entry && `give ${withPlaceholder(entry)}`;
}

/**
 * For inputs as typed: an input that does not exist may be a command or an option.
 * @throws InputError ERR_INPUT_MISSING with a suggestion
 */
export function refuseMistypedWords(inputs: readonly string[], command: CommandName): void {
  for (const word of inputs) {
    const suggestion = suggestFor(word, command);
    if (suggestion === undefined || existsSync(word)) continue;
    throw new InputError('ERR_INPUT_MISSING', `the input ${word} does not exist; ${suggestion}`);
  }
}

/** In short words one letter makes another word, but no word has these in another order. */
const LETTERS_OF_HELP = 'ehlp';
/** Options that nobody gives alone, with names that a file that does not exist may well have. */
const LIKELY_NAMES: ReadonlySet<string> = new Set(['missing']);

function suggestFor(word: string, command: CommandName): string | undefined {
  // The parser takes a negative number for an operand.
  if (word === '-0') return adviseOption(word, command);
  if (word === 'shuffle') return 'the main command has no name: leave the word out';
  if (word === 'shuf') return 'did you mean pileshuf shuf? The name of a command is the first word';
  if (word === 'version') return 'did you mean pileshuf --version?';
  if ([...word].sort().join('') === LETTERS_OF_HELP) return 'did you mean pileshuf help?';
  const name = nearestCommand(word);
  if (name !== undefined) return `did you mean ${typedName(name)}? The name of a command is the first word`;
  // A dash may have become a longer one in a text; some people leave it out.
  const bare = word.replace(/^[-\u2010-\u2015\u2212]+/, '').replace(/=.*$/s, '');
  const options = optionsOf(command).filter(({ name: each }) => word !== bare || !LIKELY_NAMES.has(each));
  const option = options.find((each) => isNearly(bare, each.name));
  return option && `did you mean ${withPlaceholder(option)}?`;
}

export function nearestCommand(word: string): CommandName | undefined {
  return EVERY.filter((each) => each !== 'shuffle').find((each) => isNearly(word, each));
}

/** The options of the command that begin like this. */
export function optionsThatBegin(start: string, command: CommandName): string[] {
  return optionsOf(command)
    .map(({ name }) => `--${name}`)
    .filter((flag) => flag.startsWith(start));
}

function withPlaceholder({ name, value }: OptionEntry): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** The same word, or one with a letter more, less or other, or with two neighbours exchanged. */
function isNearly(word: string, name: string): boolean {
  if (word === name) return true;
  // In short words one letter makes another word.
  if (name.length < 5) return false;
  let start = 0;
  while (start < word.length && word[start] === name[start]) start += 1;
  const [rest, other] = [word.slice(start), name.slice(start)];
  const isExchanged = rest[0] === other[1] && rest[1] === other[0] && rest.slice(2) === other.slice(2);
  return (
    rest.slice(1) === other ||
    rest === other.slice(1) ||
    rest.slice(1) === other.slice(1) ||
    (isExchanged && rest !== '')
  );
}
