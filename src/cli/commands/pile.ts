/** `pileshuf pile`: inputs, mostly what a program writes, become part of a store, each under the id that it is given. */
import { Command } from 'commander';
import { appendToStore, readMemory, UsageError } from '../../index.js';
import { declareDecompressOption, type InputOptionValues, inputOptionsOf } from '../options/input-options.js';
import {
  declareIoLimitOption,
  declareMemoryOption,
  declareWorkersOption,
  type MachineOptionValues,
  machineOptionsOf,
} from '../options/machine-options.js';
import { parseCommand } from '../options/parse-command.js';
import { declareRecordOptions, type RecordOptionValues, recordOptionsOf } from '../options/record-options.js';
import {
  declareStoreArgument,
  declareStoreWriterOptions,
  type StoreOptionValues,
  storeOptionsOf,
} from '../options/store-options.js';
import {
  declareProgressOption,
  declareQuietOption,
  type TalkOptionValues,
  talkOptionsOf,
} from '../options/talk-options.js';
import { createReporter } from '../progress.js';
import { printToStandardOutput } from '../standard-streams.js';
import type { Subcommand } from '../subcommand.js';
import { describeAppend } from './describe-append.js';

interface Values
  extends StoreOptionValues,
    InputOptionValues,
    RecordOptionValues,
    MachineOptionValues,
    TalkOptionValues {
  readonly inputId: readonly string[];
}

const EPILOGUE = `
Many processes and hosts may do so at the same time. The order of the records is
that of their ids, whoever comes first.

Examples:
  my-preprocess part-07.raw | pileshuf pile STORE --input-id part-07 --piles 1024
  pileshuf pile STORE a.jsonl b.jsonl.gz --input-id a --input-id b --replace
`;

export const run: Subcommand = async (argv, { signal, stderr, tuning, reportTo }) => {
  const parsed = parseCommand<Values>(declareCommand(), argv);
  if (parsed.kind === 'print') return printToStandardOutput(parsed.text);
  const { operands, values } = parsed;
  const [store = '', ...named] = operands;
  const inputs = named.length === 0 ? ['-'] : named;
  const { inputId: inputIds } = values;
  if (inputIds.length !== inputs.length) throw miscounted(inputIds.length, inputs.length);
  if (inputs.includes(''))
    throw new UsageError('an input is an empty string; expected a path, or - for standard input');
  const records = recordOptionsOf(values);
  const reporter = createReporter(talkOptionsOf(values), stderr);
  reportTo(reporter);
  const report = await appendToStore(
    store,
    {
      inputs,
      inputIds,
      ...storeOptionsOf(values),
      ...records,
      ...inputOptionsOf(values),
      ...machineOptionsOf(values),
      signal,
      onProgress: reporter.progress,
      onWarning: reporter.warning,
    },
    tuning,
  );
  reporter.done(describeAppend(report), report);
};

function miscounted(idCount: number, inputCount: number): UsageError {
  return new UsageError(
    `--input-id is given ${timesOf(idCount)} for ${inputCount} input${inputCount === 1 ? '' : 's'}; expected once for each, in their order. Several files under one id are one input: write them one behind the other, as cat does, to standard input`,
  );
}

function timesOf(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function declareCommand(): Command {
  const command = new Command('pileshuf pile').description(
    'Adds the records of inputs to a pile store, each under the id that it is given.',
  );
  declareStoreArgument(command, 'directory of the store; made where nothing is, or an empty directory');
  command
    .argument('[input...]', 'files, or - for standard input, which is the default')
    .requiredOption(
      '--input-id <ID>',
      'any text that no other input of the store has: keys are derived from it; repeated for each further input',
      (id: string, previous: readonly string[] = []) => [...previous, id],
    );
  declareStoreWriterOptions(command);
  declareMemoryOption(command, () => readMemory().totalBytes);
  declareWorkersOption(command);
  declareIoLimitOption(command);
  declareRecordOptions(command);
  declareDecompressOption(command);
  declareProgressOption(command);
  declareQuietOption(command);
  return command.addHelpText('after', EPILOGUE);
}
