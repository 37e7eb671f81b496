/** `pileshuf append`: inputs become part of a store. */
import { Command } from 'commander';
import { appendToStore, readMemory } from '../../index.js';
import { type InputList, resolveInputs } from '../input-list.js';
import { declareInputIdsOption, type InputIdsOptionValues, resolveInputIds } from '../options/input-ids-option.js';
import {
  chooseInputs,
  declareDecompressOption,
  declareInputArgument,
  declareListOptions,
  type InputOptionValues,
  inputOptionsOf,
} from '../options/input-options.js';
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
    InputIdsOptionValues,
    InputOptionValues,
    RecordOptionValues,
    MachineOptionValues,
    TalkOptionValues {}

const EPILOGUE = `
The store is made where nothing is, or an empty directory. All inputs become part
of it together, or none. Records are kept alone: inputs with headers are refused.

Examples:
  pileshuf append STORE corpus/2026-11-20/ --generation 2026-11-20
  pileshuf append STORE part-*.jsonl.gz --input-ids name --replace
`;

export const run: Subcommand = async (argv, { signal, stderr, tuning, reportTo }) => {
  const inputLists: InputList[] = [];
  const parsed = parseCommand<Values>(declareCommand(inputLists), argv);
  if (parsed.kind === 'print') return printToStandardOutput(parsed.text);
  const { operands, values } = parsed;
  const [store = '', ...named] = operands;
  const typed = chooseInputs(named, inputLists);
  const records = recordOptionsOf(values);
  const reporter = createReporter(talkOptionsOf(values), stderr);
  reportTo(reporter);
  const report = await appendToStore(
    store,
    {
      inputs: await resolveInputs(typed, inputLists, signal),
      inputIds: await resolveInputIds(values.inputIds, signal),
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

function declareCommand(inputLists: InputList[]): Command {
  const command = new Command('pileshuf append').description(
    'Adds the records of inputs to a pile store: they lie on its piles, and are shuffled when they are read.',
  );
  declareStoreArgument(command, 'directory of the store');
  declareInputArgument(command);
  declareStoreWriterOptions(command);
  declareInputIdsOption(command, 'path');
  declareMemoryOption(command, () => readMemory().totalBytes);
  declareWorkersOption(command);
  declareIoLimitOption(command);
  declareRecordOptions(command);
  declareDecompressOption(command);
  declareListOptions(command, inputLists);
  declareProgressOption(command);
  declareQuietOption(command);
  return command.addHelpText('after', EPILOGUE);
}
