import type { ClusterPlanOptions } from '../cluster/make-plan.js';
import { UsageError } from '../errors.js';
import type { ParsedWords, Talk } from './command.js';
import { resolveInputIds, resolveInputs } from './input-list.js';
import { countOfRecords } from './option-values.js';
import { readSeedFrom } from './random-seed.js';

export interface JobWords extends Pick<ParsedWords<'cluster plan'>, 'operands' | 'values'> {}

/** The inputs are as typed: no file that the words name is read. */
export function askedJob({ operands, values }: JobWords) {
  const {
    inputLists = [],
    inputIds: _,
    randomSource: __,
    mix: ___,
    headCount,
    output,
    jobDir,
    tasks,
    ...rest
  } = values;
  if (operands.length === 0 && inputLists.length === 0)
    throw new UsageError('name the inputs: tasks cannot share standard input');
  if (output === undefined) throw new UsageError('--output is missing: tasks cannot share standard output');
  if (tasks === undefined) throw new UsageError('--tasks is missing: give the most tasks of each kind');
  // The parser makes sure of it.
  if (jobDir === undefined) throw new RangeError('an option that must be given is missing');
  return { ...rest, jobDir, tasks, output, headCount: countOfRecords(headCount), inputs: operands };
}

export async function readJob(
  words: JobWords,
  { signal, onWarning }: Pick<Talk, 'signal' | 'onWarning'>,
): Promise<ClusterPlanOptions> {
  const asked = { ...askedJob(words), signal, onWarning };
  const { inputLists = [], inputIds: rule, randomSource, mix } = words.values;
  const inputs = await resolveInputs(words.operands, inputLists, signal);
  const inputIds = await resolveInputIds(rule, signal);
  return {
    ...asked,
    inputs,
    inputIds,
    seed: randomSource === undefined ? asked.seed : await readSeedFrom(randomSource, false),
    mix: mix === undefined ? undefined : await (await import('./mix-file.js')).readMix(mix, signal),
  };
}
