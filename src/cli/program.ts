/**
 * The main command: argv to what was asked for. Parsing prints nothing, opens no input and never ends the process.
 */

import { createRequire } from 'node:module';
import { Command } from 'commander';
import { type CommandLine, checkCommandLine, type OptionValues } from './command-line.js';
import { helpEpilogue } from './help-text.js';
import type { InputList } from './input-list.js';
import { parsePath } from './option-value.js';
import { declareInputIdsOption } from './options/input-ids-option.js';
import { declareDecompressOption, declareInputArgument, declareListOptions } from './options/input-options.js';
import {
  declareIoLimitOption,
  declareMemoryOption,
  declareTempOptions,
  declareWorkersOption,
} from './options/machine-options.js';
import { declareOutputOptions } from './options/output-options.js';
import { parseCommand } from './options/parse-command.js';
import { declareRecordOptions } from './options/record-options.js';
import { declareProgressOption, declareQuietOption } from './options/talk-options.js';
import { subcommandNames } from './subcommand-table.js';

export type Invocation =
  | ({ readonly kind: 'shuffle' } & CommandLine)
  /** `--help` or `--version`. */
  | { readonly kind: 'print'; readonly text: string };

/**
 * Reads `argv` (without `node` and the script). `readTotalMemoryBytes` is asked only when `--memory`
 * is a percentage. Throws UsageError.
 */
export function parseArguments(argv: readonly string[], readTotalMemoryBytes: () => number): Invocation {
  const inputLists: InputList[] = [];
  const parsed = parseCommand<OptionValues>(declareCommand(inputLists, readTotalMemoryBytes), argv);
  if (parsed.kind === 'print') return parsed;
  return { kind: 'shuffle', ...checkCommandLine(parsed.operands, inputLists, parsed.values) };
}

/**
 * Whether errors should be JSON lines. Asked before parsing, because a program that reads JSON must
 * be able to read why its arguments were refused.
 */
export function asksForJson(argv: readonly string[]): boolean {
  const options = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const styles = options.map((word, index) => (word === '--progress' ? `--progress=${options[index + 1]}` : word));
  return styles.findLast((word) => word.startsWith('--progress=')) === '--progress=json';
}

const commandsHelp = `
Commands of their own, each with --help (an input of such a name is ./NAME):
  ${subcommandNames.join(', ')}
`;

function declareCommand(inputLists: InputList[], readTotalMemoryBytes: () => number): Command {
  const command = new Command('pileshuf').description(
    'Puts the records of many files into one uniformly random order, far beyond memory.',
  );
  declareInputArgument(command);
  declareOutputOptions(command);
  command.option('--seed <STRING>', 'any string; without it one is drawn, and printed in the summary');
  declareMemoryOption(command, readTotalMemoryBytes);
  declareTempOptions(command);
  declareWorkersOption(command);
  declareIoLimitOption(command);
  declareRecordOptions(command);
  declareDecompressOption(command);
  declareListOptions(command, inputLists);
  declareInputIdsOption(command, 'ordinal');
  command
    .option('--resume', 'go on with the unfinished job of this output, or begin one that can be resumed')
    .option(
      '--job-dir <DIR>',
      'where the job keeps what it needs to go on (default: derived from the output, beside the temp files)',
      (text: string) => parsePath(text, '--job-dir'),
    )
    .option('--keep-temp', 'keep the job directory and temp data after success');
  declareProgressOption(command);
  command.option('--profile <FILE>', 'write to FILE where the time went, as JSON', (text: string) =>
    parsePath(text, '--profile'),
  );
  declareQuietOption(command);
  return command
    .version(readVersion(), '--version', 'print the version')
    .addHelpText('after', commandsHelp + helpEpilogue);
}

function readVersion(): string {
  const description: { version: string } = createRequire(import.meta.url)('pileshuf/package.json');
  return description.version;
}
