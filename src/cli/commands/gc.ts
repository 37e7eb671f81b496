/** `pileshuf gc`: what a store does not need any more is deleted. */
import { Command } from 'commander';
import { collectStore } from '../../index.js';
import { declareGraceOption, type GraceOptionValues } from '../options/grace-option.js';
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
import { describeGarbage } from './describe-garbage.js';

interface Values extends GraceOptionValues, TalkOptionValues {}

const EPILOGUE = `
That is: what expired or was replaced, what writers left that were killed, and old
manifests. Others may read and write the store meanwhile. Give --grace 0 only when
nobody reads it, and nobody writes to it from another machine or container.
`;

export const run: Subcommand = async (argv, { signal, stderr, reportTo }) => {
  const parsed = parseCommand<Values>(declareCommand(), argv);
  if (parsed.kind === 'print') return printToStandardOutput(parsed.text);
  const { operands, values } = parsed;
  const reporter = createReporter(talkOptionsOf(values), stderr);
  reportTo(reporter);
  const deleted = await collectStore(operands[0] ?? '', { graceMilliseconds: values.grace, signal });
  reporter.done(describeGarbage(deleted), deleted);
};

function declareCommand(): Command {
  const command = new Command('pileshuf gc').description('Deletes what a pile store does not need any more.');
  declareStoreArgument(command, 'directory of the store');
  declareGraceOption(command);
  declareProgressOption(command);
  declareQuietOption(command);
  return command.addHelpText('after', EPILOGUE);
}
