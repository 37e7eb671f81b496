/** The job that the words of `cluster plan` and `cluster slurm` ask for: a shuffle, an append to a store or a shuffle of one. */
import type { ClusterJobOptions } from '../cluster/plan-job.js';
import { UsageError } from '../errors.js';
import type { ParsedWords } from './command.js';
import type { CommandName } from './command-table.js';
import { resolveInputIds, resolveInputs } from './input-list.js';
import { type OptionEntry, type OptionGroup, type OptionValues, optionsOf } from './option-table.js';
import { countOfRecords } from './option-values.js';
import { readSeedFrom } from './random-seed.js';

type Planner = 'cluster plan' | 'cluster slurm';

/** The options of a plan, without those for what the command prints. */
export type JobValues = Omit<OptionValues<'cluster plan'>, 'json' | 'progress' | 'quiet'>;

/** The words of a job. */
export interface JobWords extends Omit<ParsedWords<Planner>, 'values'> {
  readonly values: JobValues;
}

interface Kind {
  /** The local command for the same. */
  readonly command: CommandName;
  /** Why it has no other options of these groups. */
  readonly reasons: Partial<Record<OptionGroup, string>>;
}

const OF_A_STORE = 'the order of a store follows from its seed and the ids of its inputs';
const KINDS = {
  shuffle: { command: 'shuffle', reasons: { Store: 'it belongs to --append' } },
  append: {
    command: 'append',
    reasons: {
      Output: 'an append writes no output',
      Order: OF_A_STORE,
      Machine: 'a store keeps its piles as they are',
    },
  },
  shuffleStore: {
    command: 'shuffle-store',
    reasons: {
      Output: 'it is for a shuffle of inputs',
      Order: OF_A_STORE,
      Store: 'it belongs to --append',
      Records: 'a store has its records already',
      Input: 'a store has its records already',
    },
  },
} as const satisfies Record<string, Kind>;

/** Options of tasks, whatever these do. */
const GROUPS_OF_TASKS: ReadonlySet<OptionGroup> = new Set(['Tasks', 'Slurm', 'Progress']);
const ALWAYS = new Set(['append', 'shuffle-store', 'json', 'dry-run']);

/**
 * The options of the job, with the inputs as they were typed: no file that the words name is read.
 * @throws UsageError for words that the job does not take, or lacks; InputError for a mistyped word.
 */
export function askedJob({ operands, values, given }: JobWords) {
  const kind = values.append !== undefined ? 'append' : values.shuffleStore !== undefined ? 'shuffleStore' : 'shuffle';
  refuseOthers(KINDS[kind], given);
  const { inputLists = [], inputIds: _, randomSource: __, mix: ___, headCount, ...others } = values;
  const { append, shuffleStore, output, jobDir, tasks, readBack, ...rest } = others;
  const hasInputs = operands.length > 0 || inputLists.length > 0;
  if (kind === 'shuffleStore' && hasInputs)
    throw new UsageError(`${operands[0] ?? 'a list of inputs'}: --shuffle-store takes no inputs; --append adds inputs`);
  if (kind !== 'shuffleStore' && !hasInputs) throw new UsageError('name the inputs: tasks cannot share standard input');
  if (kind !== 'append' && output === undefined)
    throw new UsageError('--output is missing: tasks cannot share standard output');
  if (tasks === undefined) throw new UsageError('--tasks is missing: give the most tasks of each kind');
  // The parser makes sure of it.
  if (jobDir === undefined) throw new RangeError('an option that must be given is missing');
  const ofTasks = { ...rest, jobDir, tasks };
  if (append !== undefined && readBack === false)
    throw new UsageError(`--no-read-back: ${KINDS.append.reasons.Output}; leave it out`);
  if (append !== undefined) return { ...ofTasks, append, inputs: operands };
  const written = { ...ofTasks, readBack, output: output ?? '', headCount: countOfRecords(headCount) };
  return shuffleStore === undefined ? { ...written, inputs: operands } : { ...written, shuffleStore };
}

/** Reads the files that the words name, too. @throws UsageError, InputError */
export async function readJob(
  words: JobWords,
  { signal, onWarning }: { readonly signal: AbortSignal; readonly onWarning: (line: string) => void },
): Promise<ClusterJobOptions> {
  const asked = { ...askedJob(words), signal, onWarning };
  if ('shuffleStore' in asked) return asked;
  const { inputLists = [], inputIds: rule, randomSource, mix } = words.values;
  const inputs = await resolveInputs(words.operands, inputLists, signal);
  const inputIds = await resolveInputIds(rule, signal);
  if ('append' in asked) return { ...asked, inputs, inputIds };
  return {
    ...asked,
    inputs,
    inputIds,
    seed: randomSource === undefined ? asked.seed : await readSeedFrom(randomSource, false),
    mix: mix === undefined ? undefined : await (await import('./mix-file.js')).readMix(mix, signal),
  };
}

/** @throws UsageError */
function refuseOthers({ command, reasons }: Kind, given: readonly OptionEntry[]): void {
  if (command === 'shuffle' && !given.some(({ group }) => group === 'Store')) return;
  const taken = new Set(optionsOf(command).map(({ name }) => name));
  const other = given.find(({ name, group }) => !taken.has(name) && !ALWAYS.has(name) && !GROUPS_OF_TASKS.has(group));
  if (other === undefined) return;
  throw new UsageError(`--${other.name}: ${reasons[other.group] ?? 'tasks cannot do that'}; leave it out`);
}
