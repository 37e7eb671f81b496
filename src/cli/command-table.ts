/**
 * The commands: what each does, and which options it takes, those of the library's calls and its own. `shuffle` is the
 * main command, without a name of its own. All others follow `pileshuf` as its first word, or its first two: an input of
 * such a name is written as `./NAME`.
 */
import {
  CLUSTER_PLAN_OPTIONS,
  CLUSTER_TASK_OPTIONS,
  JOB_DIR,
  PROFILE,
  SLURM_LATER_OPTIONS,
  SLURM_OPTIONS,
} from '../options/cluster-options.js';
import {
  OPTION_GROUPS,
  type OptionFlag,
  type OptionsOf,
  omit,
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
  EXPIRE_RULE,
  GARBAGE_OPTIONS,
  INSPECT_OPTIONS,
  LOADER_OPTIONS,
  OPEN_STORE_OPTIONS,
  WRITE_OPTIONS,
} from '../options/store-options.js';
import {
  AGAINST,
  DISPLAY,
  DRY_RUN,
  EPOCHS,
  INPUT_ID,
  JSON_REPORT,
  LISTS,
  MADE_INPUTS,
  SEED_SOURCE,
  SHUF_OUTPUT,
  START,
  STREAM_OUTPUT,
  SUBMISSION,
  TUPLES,
} from './own-options.js';

const PLAN = { ...MADE_INPUTS, ...TUPLES, ...SHUFFLE_OPTIONS, ...SEED_SOURCE, ...LISTS, ...PROFILE, ...DISPLAY };
const TASK_PLAN = { ...SEED_SOURCE, ...LISTS, ...JSON_REPORT, ...DISPLAY };
const { headCount, repeat, zeroTerminated, memoryBytes } = SHUFFLE_OPTIONS;

export const COMMANDS = {
  shuffle: {
    summary: 'Puts the records of many files into one uniformly random order.',
    takes: { ...PLAN, ...DRY_RUN },
  },
  append: {
    summary: 'Adds inputs to a pile store, all of them or none.',
    takes: { ...APPEND_OPTIONS, ...LISTS, ...DISPLAY },
  },
  completion: { summary: 'Prints the script for completion in bash, zsh or fish.', takes: {} },
  'check-shuffled': {
    summary: 'Looks whether the records of files are in random order.',
    takes: { ...CHECK_OPTIONS, ...JSON_REPORT, ...DISPLAY },
  },
  'cluster plan': {
    summary: 'Plans a shuffle as tasks for several machines.',
    takes: { ...CLUSTER_PLAN_OPTIONS, ...TASK_PLAN },
  },
  'cluster slurm': {
    summary: 'Runs a shuffle as tasks on Slurm.',
    takes: { ...SLURM_OPTIONS, ...SLURM_LATER_OPTIONS, ...SUBMISSION, ...TASK_PLAN },
  },
  'cluster status': {
    summary: 'Shows which tasks of a planned shuffle are done, run or failed.',
    takes: { ...JOB_DIR, ...JSON_REPORT, ...DISPLAY },
  },
  'cluster task': {
    summary: 'Does one task of a planned shuffle on this machine.',
    takes: { ...CLUSTER_TASK_OPTIONS, ...JSON_REPORT, ...DISPLAY },
  },
  expire: {
    summary: 'Removes old generations from a pile store.',
    takes: { ...EXPIRE_RULE, ...GARBAGE_OPTIONS, ...DISPLAY },
  },
  gc: { summary: 'Deletes files that a pile store no longer needs.', takes: { ...COLLECT_OPTIONS, ...DISPLAY } },
  index: {
    summary: 'Writes an index, to read the records of a file in any order.',
    takes: { ...INDEX_OPTIONS, ...DISPLAY },
  },
  inspect: {
    summary: 'Shows the contents of a pile store and checks its files.',
    takes: { ...INSPECT_OPTIONS, ...JSON_REPORT, ...DISPLAY },
  },
  pile: {
    summary: 'Adds inputs to a pile store, each under a given id.',
    takes: { ...omit(APPEND_OPTIONS, 'hidden', 'include', 'exclude'), ...INPUT_ID, ...DISPLAY },
  },
  plan: { summary: 'Says what a shuffle will need, and writes no output.', takes: { ...PLAN, ...JSON_REPORT } },
  shuf: {
    summary: 'Does what shuf of GNU coreutils does, with the same options.',
    takes: { headCount, ...SHUF_OUTPUT, repeat, ...SEED_SOURCE, zeroTerminated, ...MADE_INPUTS },
  },
  'shuffle-store': {
    summary: 'Writes the records of a pile store in uniformly random order.',
    takes: { ...SHUFFLE_STORE_OPTIONS, ...DISPLAY },
  },
  stream: {
    summary: 'Writes a pile store in random order, epoch after epoch.',
    takes: {
      ...STREAM_OUTPUT,
      ...WRITE_OPTIONS,
      ...EPOCHS,
      ...LOADER_OPTIONS,
      ...START,
      ...OPEN_STORE_OPTIONS,
      memoryBytes,
      ...DISPLAY,
    },
  },
  verify: {
    summary: 'Checks that outputs have exactly the records of inputs.',
    takes: { ...AGAINST, ...VERIFY_OPTIONS, ...JSON_REPORT, ...DISPLAY },
  },
} as const satisfies Readonly<Record<string, { readonly summary: string; readonly takes: Schema }>>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export const CLUSTER = 'cluster';

export function typedName(name: CommandName): string {
  return name === 'shuffle' ? 'pileshuf' : `pileshuf ${name}`;
}

type Takes<Name extends CommandName> = TypedOptions<(typeof COMMANDS)[Name]['takes']>;

/** What a command shows, and how. The library has none of these options. */
export type DisplayValues = OptionsOf<typeof DISPLAY & typeof JSON_REPORT>;

/** The other values that a command gets: each option that was typed. */
export type OptionValues<Name extends CommandName> = Omit<Takes<Name>, keyof DisplayValues>;

/** In the order of the help. */
export function optionsOf(name: CommandName): readonly OptionFlag[] {
  const flags = Object.values<Schema[string]>(COMMANDS[name].takes).flatMap((option) => option.flags);
  return OPTION_GROUPS.flatMap((group) => flags.filter((flag) => flag.group === group));
}
