/** Where records come from: the operands and options that all commands share which read inputs. */
import type { Command } from 'commander';
import { type ShuffleOptions, UsageError } from '../../index.js';
import { parseDecompressProgram } from '../decompress-program.js';
import type { InputList } from '../input-list.js';
import { parsePath } from '../option-value.js';

/** As commander collects them. */
export interface InputOptionValues {
  readonly decompressProgram?: readonly string[];
}

export function declareInputArgument(command: Command): void {
  command.argument('[inputs...]', 'files, directories, quoted globs, or - for standard input');
}

export function declareDecompressOption(command: Command): void {
  command.option(
    '--decompress-program <CMD>',
    "give every input to CMD, such as 'xz -dc', and take what it writes",
    parseDecompressProgram,
  );
}

/** @param inputLists gets the lists, in the order typed. */
export function declareListOptions(command: Command, inputLists: InputList[]): void {
  const addList = (option: InputList['option']) => (text: string) => {
    inputLists.push({ option, path: parsePath(text, option) });
  };
  command
    .option('--files-from <FILE>', 'read names of inputs, one a line; - is standard input', addList('--files-from'))
    .option('--files0-from <FILE>', 'the same with names that end in NUL', addList('--files0-from'));
}

export function inputOptionsOf(values: InputOptionValues): Pick<ShuffleOptions, 'decompressProgram'> {
  return { decompressProgram: values.decompressProgram };
}

/**
 * The inputs that were typed; standard input when nothing names any.
 * @throws UsageError where they contradict each other
 */
export function chooseInputs(operands: readonly string[], inputLists: readonly InputList[]): readonly string[] {
  if (operands.includes('')) {
    throw new UsageError('an input is an empty string; expected a path, or - for standard input');
  }
  const inputs = operands.length === 0 && inputLists.length === 0 ? ['-'] : operands;
  refuseStdinTwice(inputs, inputLists);
  return inputs;
}

/** Standard input can be read once: as one input, or as one list. */
function refuseStdinTwice(inputs: readonly string[], inputLists: readonly InputList[]): void {
  const listsFromStdin = inputLists.filter(({ path }) => path === '-');
  const stdinInputs = inputs.filter((input) => input === '-');
  if (listsFromStdin.length + stdinInputs.length <= 1) {
    return;
  }
  const list = listsFromStdin[0];
  if (list === undefined) {
    throw new UsageError('standard input (-) is given twice as an input, and can be read only once; give it once');
  }
  throw new UsageError(
    listsFromStdin.length > 1
      ? 'two lists of inputs are to be read from standard input; give one of them as a file'
      : `standard input cannot be both the list of inputs (${list.option} -) and an input (-); give one of them as a file`,
  );
}
