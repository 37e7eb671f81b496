/** A call with `--together`: finds what does not go together before anything is opened. */
import { UsageError } from '../errors.js';
import { shuffleTogether } from '../job/shuffle-together.js';
import type { ShuffleTogetherOptions } from '../options/shuffle-options.js';
import type { CommandCall, ParsedWords } from './command.js';
import { readSeedFrom } from './named-files.js';
import { describeTogether, emptySplitsWarning } from './report-text.js';

/** The options that do not go with aligned files, by the reason. */
const REASONS: Readonly<Record<string, string>> = {
  'a line that is blank in one member may not be so in the others': 'skip-blank',
  'draws are made for one output; shuffle each file by itself, with --key ordinal and one --seed': 'repeat',
  'a record that comes twice in one member may belong to two records of another': 'unique',
  'the other members do not have the values of one member': 'unique-by group-by missing',
  'only one member has the value, and all members must be split alike': 'split-by',
  'only one member has the value, and all members must be divided alike': 'each',
  'each tuple comes once; shuffle each file by itself': 'weight mix weights-from',
  'only one member has the number, and each tuple comes once': 'weight-by weight-cap',
  'only one member has the number': 'sum',
  'a card describes the shards of one output': 'dataset-card',
  'each member would need its own': 'sums',
  'it would cut the members at different records; give --shards or --shard-records': 'shard-bytes',
  'each member keeps its name': 'prefix',
  'aligned files cannot be Parquet': 'columns hive parquet-codec row-group-bytes row-group-rows',
  'each member has datasets of its own, and all of them are taken': 'hdf5',
  'the keys of aligned files always come from ordinals': 'key',
  'the id of an input is the ordinal of its tuple': 'input-ids',
  'the records of aligned files come from files': 'echo',
  'name each tuple with a --together of its own': 'files-from files0-from',
  'name each file': 'hidden include exclude',
  'aligned files lie on disks': 'endpoint requester-pays no-sign-request s3-header',
  'a job of aligned files keeps what it needs beside its output; give --resume alone': 'job-dir',
  'the temp files of one member make way for the next; leave it out': 'keep-temp',
  'each member is a shuffle of its own; profile one of them with --key ordinal': 'profile',
  'it has no meaning for tuples of files': 'input-range report',
};

export interface TogetherCall {
  readonly options: ShuffleTogetherOptions;
  readonly randomSource: string | undefined;
}

export function togetherCallOf({
  operands,
  values,
  given,
}: Pick<ParsedWords<'shuffle'>, 'operands' | 'values' | 'given'>): TogetherCall | undefined {
  const { together } = values;
  if (together === undefined) return undefined;
  for (const { name } of given) {
    const refusal = Object.entries(REASONS).find(([, names]) => names.split(' ').includes(name));
    if (refusal !== undefined) throw new UsageError(`--${name} cannot be combined with --together: ${refusal[0]}`);
  }
  const [operand] = operands;
  if (operand !== undefined)
    throw new UsageError(
      `--together names all inputs, and ${operand} is one more; join files of a tuple with commas, as in --together R1.fq,R2.fq`,
    );
  const { randomSource, dryRun: _, ...options } = values;
  const { output } = options;
  if (output === undefined || output === '-')
    throw new UsageError('--together writes several files: name a directory with --output');
  return { options: { ...options, together, output }, randomSource };
}

export async function togetherJobOf({ options, randomSource }: TogetherCall): Promise<ShuffleTogetherOptions> {
  return randomSource === undefined ? options : { ...options, seed: await readSeedFrom(randomSource, false) };
}

export async function runTogetherCall(
  call: TogetherCall,
  { reporter, callbacks, tuning }: Pick<CommandCall<'shuffle'>, 'reporter' | 'callbacks' | 'tuning'>,
): Promise<void> {
  const report = await shuffleTogether({ ...(await togetherJobOf(call)), ...callbacks }, tuning);
  reporter.done(describeTogether(report), report, emptySplitsWarning(report.members[0]?.splits));
}
