/**
 * The commands: what each does, and which options it takes, those of the library's calls and its own. `shuffle` is the
 * main command, without a name of its own. All others follow `pileshuf` as its first word, or its first two: an input of
 * such a name is written as `./NAME`.
 */
import { CLUSTER_PLAN_OPTIONS, CLUSTER_TASK_OPTIONS, SLURM_LATER_OPTIONS } from '../options/cluster-options.js';
import {
  flagsIn,
  type OptionFlag,
  type OptionsOf,
  omit,
  pick,
  type Schema,
  type TypedOptions,
} from '../options/option.js';
import {
  CHECK_OPTIONS,
  INDEX_OPTIONS,
  SHUFFLE_OPTIONS,
  SHUFFLE_STORE_OPTIONS,
  VERIFY_OPTIONS,
} from '../options/shuffle-options.js';
import {
  APPEND_OPTIONS,
  COLLECT_OPTIONS,
  EXPIRE_OPTIONS,
  INSPECT_OPTIONS,
  LOADER_OPTIONS,
  OPEN_STORE_OPTIONS,
  WRITE_OPTIONS,
} from '../options/store-options.js';
import { COMMAND_OPTIONS, INPUT_ID, SHUF_OUTPUT, STREAM_OUTPUT, SUBMISSION } from './own-options.js';

const DISPLAY = pick(COMMAND_OPTIONS, 'progress', 'quiet');
const DISPLAY_AND_JSON = { ...pick(COMMAND_OPTIONS, 'json'), ...DISPLAY };
/** Functions: a call needs the options of one command alone. */
const shuffleCallOptions = () => ({
  ...pick(COMMAND_OPTIONS, 'echo', 'range', 'together'),
  ...SHUFFLE_OPTIONS,
  ...pick(COMMAND_OPTIONS, 'randomSource', 'inputLists'),
  ...pick(CLUSTER_PLAN_OPTIONS, 'profile'),
  ...DISPLAY,
});
const clusterPlanOptions = () => ({
  ...CLUSTER_PLAN_OPTIONS,
  ...pick(COMMAND_OPTIONS, 'randomSource', 'inputLists'),
  ...DISPLAY_AND_JSON,
});

/** Flags that a command takes only to refuse them in words of their own. */
const REFUSED_HEADER_FLAGS = ['npy', 'webdataset', 'header', 'header-prefix', 'skip-bytes'];

export const COMMANDS = {
  shuffle: {
    summary: 'Puts the records of many files into one uniformly random order.',
    takes: () => ({ ...shuffleCallOptions(), ...pick(COMMAND_OPTIONS, 'dryRun') }),
  },
  append: {
    summary: 'Adds inputs to a pile store, all of them or none.',
    takes: () => ({ ...APPEND_OPTIONS, ...pick(COMMAND_OPTIONS, 'inputLists'), ...DISPLAY }),
    refuses: REFUSED_HEADER_FLAGS,
  },
  completion: { summary: 'Prints the script for completion in bash, zsh or fish.', takes: () => ({}) },
  'check-shuffled': {
    summary: 'Tests whether the records of files are in random order.',
    takes: () => ({ ...CHECK_OPTIONS, ...DISPLAY_AND_JSON }),
  },
  'cluster plan': { summary: 'Plans a shuffle as tasks for several machines.', takes: clusterPlanOptions },
  'cluster slurm': {
    summary: 'Runs a shuffle as tasks on Slurm.',
    takes: () => ({ ...omit(clusterPlanOptions(), 'memoryBytes'), ...SLURM_LATER_OPTIONS, ...SUBMISSION }),
  },
  'cluster status': {
    summary: 'Shows which tasks of a planned job are done, running or failed.',
    takes: () => ({ ...pick(CLUSTER_TASK_OPTIONS, 'jobDir'), ...DISPLAY_AND_JSON }),
  },
  'cluster task': {
    summary: 'Does one task of a planned shuffle on this machine.',
    takes: () => ({ ...CLUSTER_TASK_OPTIONS, ...DISPLAY_AND_JSON }),
  },
  expire: { summary: 'Removes old generations from a pile store.', takes: () => ({ ...EXPIRE_OPTIONS, ...DISPLAY }) },
  gc: {
    summary: 'Deletes unneeded files of a store, or unfinished uploads.',
    takes: () => ({ ...COLLECT_OPTIONS, ...pick(SHUFFLE_OPTIONS, 'endpoint'), ...DISPLAY }),
  },
  index: {
    summary: 'Writes an index, to read the records of a file in any order.',
    takes: () => ({ ...INDEX_OPTIONS, ...DISPLAY }),
  },
  inspect: {
    summary: 'Shows the contents of a pile store and checks its files.',
    takes: () => ({ ...INSPECT_OPTIONS, ...DISPLAY_AND_JSON }),
  },
  pile: {
    summary: 'Adds inputs to a pile store, each under a given id.',
    takes: () => ({ ...omit(APPEND_OPTIONS, 'hidden', 'include', 'exclude'), ...INPUT_ID, ...DISPLAY }),
    refuses: REFUSED_HEADER_FLAGS,
  },
  plan: {
    summary: 'Says what a shuffle will need, and writes no output.',
    takes: () => ({ ...shuffleCallOptions(), ...DISPLAY_AND_JSON }),
  },
  shuf: {
    summary: 'Does what shuf of GNU coreutils does, with the same options.',
    takes: () => ({
      ...pick(SHUFFLE_OPTIONS, 'headCount', 'repeat', 'zeroTerminated'),
      ...SHUF_OUTPUT,
      ...pick(COMMAND_OPTIONS, 'randomSource', 'echo', 'range'),
    }),
  },
  'shuffle-store': {
    summary: 'Writes the records of a pile store in uniformly random order.',
    takes: () => ({ ...SHUFFLE_STORE_OPTIONS, ...DISPLAY }),
  },
  stream: {
    summary: 'Writes a pile store in random order, epoch after epoch.',
    takes: () => ({
      ...STREAM_OUTPUT,
      ...WRITE_OPTIONS,
      ...pick(COMMAND_OPTIONS, 'epochs', 'epoch'),
      ...LOADER_OPTIONS,
      ...pick(COMMAND_OPTIONS, 'start', 'printStart'),
      ...OPEN_STORE_OPTIONS,
      ...pick(SHUFFLE_OPTIONS, 'memoryBytes'),
      ...DISPLAY,
    }),
  },
  verify: {
    summary: 'Checks that outputs have exactly the records of inputs.',
    takes: () => ({ ...pick(COMMAND_OPTIONS, 'against'), ...VERIFY_OPTIONS, ...DISPLAY_AND_JSON }),
  },
} as const satisfies Readonly<Record<string, CommandEntry>>;

interface CommandEntry {
  readonly summary: string;
  readonly takes: () => Schema;
  readonly refuses?: readonly string[];
}

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export const CLUSTER = 'cluster';

export function typedName(name: CommandName): string {
  return name === 'shuffle' ? 'pileshuf' : `pileshuf ${name}`;
}

type Takes<Name extends CommandName> = TypedOptions<ReturnType<(typeof COMMANDS)[Name]['takes']>>;

/** The settings of what a command shows. The library has none of these options. */
export type DisplayValues = OptionsOf<typeof DISPLAY_AND_JSON>;

/** The other values that a command gets: each option that was typed. */
export type OptionValues<Name extends CommandName> = Omit<Takes<Name>, keyof DisplayValues>;

const flagsOfCommands = new Map<CommandName, readonly OptionFlag[]>();

/** Options in the order of the help, without those that are always refused. */
export function shownOptionsOf(name: CommandName): readonly OptionFlag[] {
  const { refuses = [] }: CommandEntry = COMMANDS[name];
  return optionsOf(name).filter((flag) => !refuses.includes(flag.name));
}

export function optionsOf(name: CommandName): readonly OptionFlag[] {
  const flags = flagsOfCommands.get(name) ?? flagsIn(COMMANDS[name].takes());
  flagsOfCommands.set(name, flags);
  return flags;
}
