/** A job that is planned as tasks, as its commands take it: what must be given, and what files name. */
import { UsageError } from '../errors.js';
import { resolveInputIds, resolveInputs } from './input-list.js';
import type { OptionValues } from './option-table.js';
import { countOfRecords } from './option-values.js';
import { refuseMistypedWords } from './other-words.js';
import { readSeedFrom } from './random-seed.js';

type Values = Pick<
  OptionValues<'cluster plan'>,
  'inputLists' | 'inputIds' | 'randomSource' | 'mix' | 'output' | 'jobDir' | 'tasks' | 'headCount' | 'seed'
>;
type Given = {
  readonly [Name in 'inputLists' | 'inputIds' | 'randomSource' | 'mix' | 'seed']: Values[Name] | undefined;
};

/** @throws UsageError; InputError for a mistyped word */
export function askedOfTasks<All extends Values>(
  command: 'cluster plan' | 'cluster slurm',
  operands: readonly string[],
  values: All,
) {
  const { inputLists, inputIds, randomSource, mix, output, jobDir, tasks, headCount, ...options } = values;
  if (operands.length === 0 && (inputLists ?? []).length === 0)
    throw new UsageError('name the inputs: tasks cannot share standard input');
  if (output === undefined) throw new UsageError('--output is missing: tasks cannot share standard output');
  if (tasks === undefined) throw new UsageError('--tasks is missing: give the most tasks of each kind');
  // The parser makes sure of it.
  if (jobDir === undefined) throw new RangeError('an option that must be given is missing');
  refuseMistypedWords(operands, command);
  const given: Given = { inputLists, inputIds, randomSource, mix, seed: values.seed };
  return { options: { ...options, output, jobDir, tasks, headCount: countOfRecords(headCount) }, given };
}

/** The inputs, and what else stands in files that were named. */
export async function readGivenFiles(
  { inputLists = [], inputIds, randomSource, mix, seed }: Given,
  operands: readonly string[],
  signal: AbortSignal,
) {
  return {
    inputs: await resolveInputs(operands, inputLists, signal),
    inputIds: await resolveInputIds(inputIds, signal),
    seed: randomSource === undefined ? seed : await readSeedFrom(randomSource, false),
    mix: mix === undefined ? undefined : await (await import('./mix-file.js')).readMix(mix, signal),
  };
}
