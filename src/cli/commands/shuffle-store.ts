/** `pileshuf shuffle-store`: the records of a store, in their order. */
import { Command } from 'commander';
import { readMemory, shuffleStore } from '../../index.js';
import {
  declareIoLimitOption,
  declareMemoryOption,
  declareTempOptions,
  declareWorkersOption,
  type MachineOptionValues,
  machineOptionsOf,
} from '../options/machine-options.js';
import { declareOutputOptions, type OutputOptionValues, outputOptionsOf } from '../options/output-options.js';
import { parseCommand } from '../options/parse-command.js';
import { declareStoreArgument } from '../options/store-options.js';
import {
  declareProgressOption,
  declareQuietOption,
  type TalkOptionValues,
  talkOptionsOf,
} from '../options/talk-options.js';
import { createReporter } from '../progress.js';
import { printToStandardOutput } from '../standard-streams.js';
import type { Subcommand } from '../subcommand.js';

interface Values extends OutputOptionValues, MachineOptionValues, TalkOptionValues {}

const EPILOGUE = `
The bytes are those that pileshuf --input-ids writes of the same inputs with the
same ids and seed. The store stays as it is; what is added meanwhile is left out.

Examples:
  pileshuf shuffle-store STORE -o shuffled.jsonl
  pileshuf shuffle-store STORE -o out --shards 128 --compress zstd
`;

export const run: Subcommand = async (argv, { signal, stderr, tuning, reportTo }) => {
  const parsed = parseCommand<Values>(declareCommand(), argv);
  if (parsed.kind === 'print') return printToStandardOutput(parsed.text);
  const { operands, values } = parsed;
  const [store = ''] = operands;
  const output = outputOptionsOf(values);
  const reporter = createReporter(talkOptionsOf(values), stderr);
  reportTo(reporter);
  const report = await shuffleStore(
    store,
    {
      ...output,
      ...machineOptionsOf(values),
      signal,
      onProgress: reporter.progress,
      onWarning: reporter.warning,
    },
    tuning,
  );
  reporter.summary(report);
};

function declareCommand(): Command {
  const command = new Command('pileshuf shuffle-store').description(
    'Writes the records of a pile store in one uniformly random order.',
  );
  declareStoreArgument(command, 'directory of the store');
  declareOutputOptions(command);
  declareMemoryOption(command, () => readMemory().totalBytes);
  declareTempOptions(command);
  declareWorkersOption(command);
  declareIoLimitOption(command);
  declareProgressOption(command);
  declareQuietOption(command);
  return command.addHelpText('after', EPILOGUE);
}
