/** A call of the main command with `--input-range`: numbers in place of inputs. */
import { statSync } from 'node:fs';
import { UsageError } from '../errors.js';
import { shuffleRange } from '../job/shuffle-range.js';
import { omit } from '../options/option.js';
import { type RangeOptions, SHUFFLE_RANGE_OPTIONS } from '../options/shuffle-options.js';
import type { CommandCall, ParsedWords } from './command.js';
import { readSeedFrom } from './input-list.js';
import { describeRange } from './report-text.js';

const WITH_RANGE: ReadonlySet<string> = new Set([
  ...Object.keys(omit(SHUFFLE_RANGE_OPTIONS, 'compress')),
  ...['randomSource', 'progress', 'quiet'],
]);

type Words = Pick<ParsedWords<'shuffle'>, 'operands' | 'values' | 'given'>;

export function rangeOptionsOf({ operands: [operand], values, given }: Words): RangeOptions {
  const other = given.find(({ sets }) => !WITH_RANGE.has(sets));
  if (other !== undefined)
    throw new UsageError(
      `--${other.name} does not go with --input-range, which writes numbers to one file or stream; leave it out`,
    );
  if (operand !== undefined)
    throw new UsageError(`--input-range stands in place of inputs, and ${operand} is one; give one of them`);
  const { range, randomSource: _, compress: __, ...options } = values;
  if (range === undefined) throw new RangeError('the words name no range');
  return { ...options, range };
}

/** The library would advise shards, which neither a range nor `shuf` has. Standard output, `-`, is no directory. */
export function requireNoDirectory(output = '-'): void {
  if (output === '-' || !(isDirectory(output) || output.endsWith('/'))) return;
  throw new UsageError(`the output ${output} is ${isDirectory(output) ? '' : 'named as '}a directory; expected a file`);
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // The job says what is wrong with it.
    return false;
  }
}

export async function runRangeCall(call: CommandCall<'shuffle'>): Promise<void> {
  const { reporter, talk, tuning, values } = call;
  const options = rangeOptionsOf(call);
  requireNoDirectory(options.output);
  const seed = values.randomSource === undefined ? options.seed : await readSeedFrom(values.randomSource, false);
  const report = await shuffleRange({ ...options, seed, ...talk }, tuning);
  reporter.done(describeRange(report), report);
}
