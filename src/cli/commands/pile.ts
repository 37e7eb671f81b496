/** `pileshuf pile`: one input, mostly what a program writes, becomes part of a store under the id that it is given. */
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
  readonly inputId: string;
}

const EPILOGUE = `
Many processes and hosts may do so at the same time. The order of the records is
that of their ids, whoever comes first.

Examples:
  my-preprocess part-07.raw | pileshuf pile STORE --input-id part-07 --piles 1024
  pileshuf pile STORE part-07.jsonl.gz --input-id part-07 --replace
`;

export const run: Subcommand = async (argv, { signal, stderr, tuning, reportTo }) => {
  const parsed = parseCommand<Values>(declareCommand(), argv);
  if (parsed.kind === 'print') return printToStandardOutput(parsed.text);
  const { operands, values } = parsed;
  const [store = '', input = '-', ...others] = operands;
  if (others.length > 0) {
    throw new UsageError(
      `${others.length + 1} inputs are given, and one id is that of one: write them one behind the other, as cat does, to standard input, or give each its own id with pileshuf append`,
    );
  }
  if (input === '') throw new UsageError('the input is an empty string; expected a path, or - for standard input');
  const records = recordOptionsOf(values);
  const reporter = createReporter(talkOptionsOf(values), stderr);
  reportTo(reporter);
  const report = await appendToStore(
    store,
    {
      inputs: [input],
      inputIds: [values.inputId],
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

function declareCommand(): Command {
  const command = new Command('pileshuf pile').description(
    'Adds the records of one input to a pile store, under the id that it is given.',
  );
  declareStoreArgument(command, 'directory of the store; made where nothing is, or an empty directory');
  command
    .argument('[input...]', 'one file, or - for standard input, which is the default')
    .requiredOption('--input-id <ID>', 'any text that no other input of the store has: keys are derived from it');
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
