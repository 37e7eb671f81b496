/**
 * A call of the main command with `--input-range`: numbers in place of inputs. It finds what does not go together before
 * anything is opened.
 */
import { UsageError } from '../errors.js';
import type { RangeOptions } from '../jobs/range-options.js';
import { shuffleRange } from '../jobs/shuffle-range.js';
import type { CommandCall, ParsedWords } from './command.js';
import type { OptionEntry, OptionGroup } from './option-table.js';
import { readSeedFrom } from './random-seed.js';
import { describeRange } from './report-text.js';
import { refuseShardsInStream } from './shard-words.js';

/** The options that go with a range, by their names. */
const TOGETHER: ReadonlySet<string> = new Set([
  'input-range',
  'head-count',
  'repeat',
  'zero-terminated',
  'output',
  'split',
  'shards',
  'shard-records',
  'compress',
  'prefix',
  'force',
  'seed',
  'random-source',
  'workers',
  'progress',
  'quiet',
]);

/** Why the others of a group do not. */
const REASONS: Readonly<Partial<Record<OptionGroup, string>>> = {
  Output: 'each number comes once',
  Records: 'each number is a line',
  Machine: 'a range takes little memory and has no temp files',
  Resume: 'a range is not resumed; the same command with the same --seed writes the same bytes',
  Progress: 'a range has no passes to measure',
};
const NO_INPUTS = 'a range has no inputs';
/** Why some do not, by their names. */
const OWN_REASONS: Readonly<Record<string, string>> = {
  'split-by': 'a number has no values',
  missing: 'a number has no values',
  'dry-run': 'a range has no temp files, and its memory is always the same',
};

/** A call that asks for numbers. */
export interface RangeCall {
  readonly options: RangeOptions;
  /** File to derive the seed from. */
  readonly randomSource: string | undefined;
}

/** @returns undefined if the words name no range. @throws UsageError where the words contradict each other. */
export function rangeCallOf({ operands, values, given }: ParsedWords<'shuffle'>): RangeCall | undefined {
  const { range } = values;
  if (range === undefined) return undefined;
  const { shards } = values;
  if (shards?.by === 'bytes')
    throw new UsageError('--shard-bytes does not go with --input-range; give --shards or --shard-records');
  for (const entry of given) refuseApart(entry);
  refuseShardsInStream(values);
  const [operand] = operands;
  if (operand !== undefined)
    throw new UsageError(`--input-range stands in place of inputs, and ${operand} is one; give one of them`);
  const { headCount, repeat, zeroTerminated, output, splits, compress, shardPrefix, force, seed, workers } = values;
  const ofOutput = { output, splits, shards, compress, shardPrefix, force };
  const options = { range, headCount, repeat, zeroTerminated, ...ofOutput, seed, workers };
  return { options, randomSource: values.randomSource };
}

export async function runRangeCall(
  { options, randomSource }: RangeCall,
  { reporter, signal, tuning }: Pick<CommandCall<'shuffle'>, 'reporter' | 'signal' | 'tuning'>,
): Promise<void> {
  const talk = { signal, onProgress: reporter.progress, onWarning: reporter.warning };
  const seed = randomSource === undefined ? options.seed : await readSeedFrom(randomSource, false);
  const report = await shuffleRange({ ...options, seed, ...talk }, tuning);
  reporter.done(describeRange(report), report);
}

function refuseApart({ name, group }: OptionEntry): void {
  if (TOGETHER.has(name)) return;
  throw new UsageError(`--${name} does not go with --input-range: ${OWN_REASONS[name] ?? REASONS[group] ?? NO_INPUTS}`);
}
