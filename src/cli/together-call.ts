/** A call with `--together`: finds what does not go together before anything is opened. */
import { UsageError } from '../errors.js';
import { shuffleTogether } from '../job/shuffle-together.js';
import type { ShuffleTogetherOptions } from '../options/shuffle-options.js';
import type { CommandCall, ParsedWords } from './command.js';
import { readSeedFrom } from './named-files.js';
import { describeTogether, emptySplitsWarning } from './report-text.js';

const NO_MEANING = 'it has no meaning for tuples of files';

/** The options that do not go with aligned files. */
const REASONS: Readonly<Record<string, string>> = {
  'skip-blank': 'a line that is blank in one member may not be so in the others',
  repeat: 'draws are made for one output; shuffle each file by itself, with --key ordinal and one --seed',
  unique: 'a record that comes twice in one member may belong to two records of another',
  'unique-by': 'the other members do not have the values of one member',
  'group-by': 'the other members do not have the values of one member',
  'split-by': 'only one member has the value, and all members must be split alike',
  each: 'only one member has the value, and all members must be divided alike',
  missing: 'the other members do not have the values of one member',
  weight: 'each tuple comes once; shuffle each file by itself',
  mix: 'each tuple comes once; shuffle each file by itself',
  'weight-by': 'only one member has the number, and each tuple comes once',
  'weights-from': 'each tuple comes once; shuffle each file by itself',
  'weight-cap': 'only one member has the number, and each tuple comes once',
  sum: 'only one member has the number',
  'shard-bytes': 'it would cut the members at different records; give --shards or --shard-records',
  prefix: 'each member keeps its name',
  columns: 'aligned files cannot be Parquet',
  hive: 'aligned files cannot be Parquet',
  hdf5: 'each member has datasets of its own, and all of them are taken',
  'parquet-codec': 'aligned files cannot be Parquet',
  'row-group-bytes': 'aligned files cannot be Parquet',
  'row-group-rows': 'aligned files cannot be Parquet',
  key: 'the keys of aligned files always come from ordinals',
  'input-ids': 'the id of an input is the ordinal of its tuple',
  echo: 'the records of aligned files come from files',
  'files-from': 'name each tuple with a --together of its own',
  'files0-from': 'name each tuple with a --together of its own',
  hidden: 'name each file',
  include: 'name each file',
  exclude: 'name each file',
  endpoint: 'aligned files lie on disks',
  'requester-pays': 'aligned files lie on disks',
  'no-sign-request': 'aligned files lie on disks',
  's3-header': 'aligned files lie on disks',
  'job-dir': 'a job of aligned files keeps what it needs beside its output; give --resume alone',
  'keep-temp': 'the temp files of one member make way for the next; leave it out',
  profile: 'each member is a shuffle of its own; profile one of them with --key ordinal',
  'input-range': NO_MEANING,
  report: NO_MEANING,
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
    const reason = REASONS[name];
    if (reason !== undefined) throw new UsageError(`--${name} cannot be combined with --together: ${reason}`);
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
