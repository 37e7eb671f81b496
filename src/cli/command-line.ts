/**
 * What was typed, read and checked against itself: no file has been opened, and the machine was
 * asked nothing but its memory, if a percentage of it was given. Contradictions between options are
 * found here; what only the machine can contradict (paths, space, memory) is the library's.
 */

import { type ShuffleOptions, UsageError } from '../index.js';
import type { InputList } from './input-list.js';
import type { InputIdsChoice, InputIdsOptionValues } from './options/input-ids-option.js';
import { chooseInputs, type InputOptionValues, inputOptionsOf } from './options/input-options.js';
import { type MachineOptionValues, machineOptionsOf } from './options/machine-options.js';
import { type OutputOptionValues, outputOptionsOf } from './options/output-options.js';
import { type RecordOptionValues, recordOptionsOf } from './options/record-options.js';
import type { TalkOptionValues } from './options/talk-options.js';
import type { ProgressStyle } from './progress.js';

/** The options as commander collects them, one field an option. */
export interface OptionValues
  extends OutputOptionValues,
    MachineOptionValues,
    RecordOptionValues,
    InputOptionValues,
    InputIdsOptionValues,
    TalkOptionValues {
  readonly seed?: string;
  readonly resume?: boolean;
  readonly jobDir?: string;
  readonly keepTemp?: boolean;
  readonly profile?: string;
}

/** A call of the command that asks for a shuffle. */
export interface CommandLine {
  /** As typed; `-` where nothing was. The lists' entries come after them. */
  readonly inputs: readonly string[];
  /** In the order typed. */
  readonly inputLists: readonly InputList[];
  /** Undefined: the default. */
  readonly inputIds: InputIdsChoice | undefined;
  readonly options: Omit<ShuffleOptions, 'inputs' | 'inputIds' | 'signal' | 'onProgress' | 'onWarning' | 'onProfile'>;
  readonly progress: ProgressStyle;
  /** File to write. */
  readonly profile: string | undefined;
  readonly quiet: boolean;
}

/** Throws UsageError where the arguments contradict each other. */
export function checkCommandLine(
  operands: readonly string[],
  inputLists: readonly InputList[],
  values: OptionValues,
): CommandLine {
  const output = outputOptionsOf(values);
  const inputs = chooseInputs(operands, inputLists);
  refuseToResumeStreams(inputs, values);
  return {
    inputs,
    inputLists,
    inputIds: values.inputIds,
    options: {
      ...output,
      seed: values.seed,
      ...machineOptionsOf(values),
      ...recordOptionsOf(values),
      ...inputOptionsOf(values),
      resume: values.resume,
      jobDir: values.jobDir,
      keepTemp: values.keepTemp,
    },
    progress: values.progress,
    profile: values.profile,
    quiet: values.quiet ?? false,
  };
}

/** What was written to standard output, or read from standard input, is gone when the job goes on. */
function refuseToResumeStreams(inputs: readonly string[], { output, resume, jobDir, keepTemp }: OptionValues): void {
  const canBeResumed = resume === true || jobDir !== undefined;
  if ((canBeResumed || keepTemp === true) && (output === undefined || output === '-')) {
    throw new UsageError('standard output cannot be resumed: name a file or directory with --output');
  }
  if (canBeResumed && inputs.includes('-')) {
    throw new UsageError(
      'standard input (-) cannot be read again to resume the job: name files, or leave out --resume and --job-dir',
    );
  }
}
