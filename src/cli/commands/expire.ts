/** `pileshuf expire`: generations leave a store. */
import { Command } from 'commander';
import { type ExpireReport, type ExpireRule, expireStore, UsageError } from '../../index.js';
import { parseDuration } from '../duration.js';
import { parseCount } from '../option-value.js';
import { declareGraceOption, type GraceOptionValues } from '../options/grace-option.js';
import { onlyOne } from '../options/only-one.js';
import { parseCommand } from '../options/parse-command.js';
import { declareStoreArgument } from '../options/store-options.js';
import {
  declareProgressOption,
  declareQuietOption,
  type TalkOptionValues,
  talkOptionsOf,
} from '../options/talk-options.js';
import { createReporter } from '../progress.js';
import { formatCount } from '../quantity.js';
import { printToStandardOutput } from '../standard-streams.js';
import type { Subcommand } from '../subcommand.js';
import { describeGarbage, plural } from './describe-garbage.js';

interface Values extends GraceOptionValues, TalkOptionValues {
  readonly keep?: number;
  readonly before?: string;
  readonly keepLast?: number;
}

const EPILOGUE = `
A generation is as old as its name, where that is a date, or as its first commit.
No data is rewritten. Files of what expired are deleted by the next pileshuf expire
or pileshuf gc when the grace is over.

Examples:
  pileshuf expire STORE --keep 30d
  pileshuf expire STORE --before 2026-11-01
  pileshuf expire STORE --keep-last 7 --grace 6h
`;

export const run: Subcommand = async (argv, { signal, stderr, reportTo }) => {
  const parsed = parseCommand<Values>(declareCommand(), argv);
  if (parsed.kind === 'print') return printToStandardOutput(parsed.text);
  const { operands, values } = parsed;
  const rule = ruleOf(values);
  const reporter = createReporter(talkOptionsOf(values), stderr);
  reportTo(reporter);
  const report = await expireStore(operands[0] ?? '', rule, { graceMilliseconds: values.grace, signal });
  reporter.done(describeExpiry(report), report);
};

function declareCommand(): Command {
  const command = new Command('pileshuf expire').description('Takes generations out of a pile store.');
  declareStoreArgument(command, 'directory of the store');
  command
    .option('--keep <TIME>', 'those that are older go: 30d, 12h, 4w', (text: string) => parseDuration(text, '--keep'))
    .option('--before <DATE>', 'those from before go: 2026-11-01, or 2026-11-01T06:00Z')
    .option('--keep-last <N>', 'all but the last N go', (text: string) => parseCount(text, '--keep-last'));
  declareGraceOption(command);
  declareProgressOption(command);
  declareQuietOption(command);
  return command.addHelpText('after', EPILOGUE);
}

function ruleOf({ keep, before, keepLast }: Values): ExpireRule {
  const asked: (readonly [option: string, rule: ExpireRule])[] = [];
  if (keep !== undefined) asked.push(['--keep', { keepMilliseconds: keep }]);
  if (before !== undefined) asked.push(['--before', { before }]);
  if (keepLast !== undefined) asked.push(['--keep-last', { keepLast }]);
  const rule = onlyOne(asked);
  if (rule !== undefined) return rule;
  throw new UsageError('nothing says which generations expire; give --keep, --before or --keep-last');
}

function describeExpiry({ expired, deleted }: ExpireReport): string {
  const records = expired.reduce((sum, generation) => sum + generation.records, 0);
  const what =
    expired.length === 0
      ? 'no generation expired'
      : `${plural(expired.length, 'generation')} expired (${expired.map(({ name }) => name).join(', ')}), ${formatCount(records)} ${records === 1 ? 'record' : 'records'}`;
  return `${what}; ${describeGarbage(deleted)}`;
}
