/**
 * The options of a shuffle of a range of numbers, its report, and the request that it becomes when every value is checked
 * and every default is filled in.
 */
import { requireWhole, UsageError } from '../errors.js';
import { drawSeed } from '../keys.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import { readCpuCount } from '../machine/limits.js';
import { countOf, MOST_NUMBERS, type NumberRange } from '../plan/number-range.js';
import type { ShardRule } from '../plan/shard-cuts.js';
import type { ShuffleOptions, ShuffleReport, SplitShards } from './options.js';
import {
  completeOutput,
  completeTalk,
  MOST_WORKERS,
  type OutputRequest,
  requireSeed,
  type TalkRequest,
} from './request.js';

export interface RangeOptions
  extends Pick<
    ShuffleOptions,
    | 'output'
    | 'splits'
    | 'compress'
    | 'shardPrefix'
    | 'force'
    | 'seed'
    | 'workers'
    | 'signal'
    | 'onProgress'
    | 'onWarning'
  > {
  /** The whole numbers from `low` to `high`, both included and at most 2^64 - 1. `high` may be `low - 1`: no numbers. */
  readonly range: { readonly low: number | bigint; readonly high: number | bigint };
  /** Only the first numbers of the order. Default: all of them. */
  readonly headCount?: number | bigint | undefined;
  /**
   * Draws each number anew from the whole range, so that numbers repeat. Without `headCount` there is no end: only a
   * stream can take that. Default false.
   */
  readonly repeat?: boolean | undefined;
  /** Numbers end with a NUL byte instead of a newline. Default false. */
  readonly zeroTerminated?: boolean | undefined;
  /** As in `ShuffleOptions`, but not by bytes. Default: one output, or one shard for each of `splits`. */
  readonly shards?: Exclude<ShardRule, { readonly by: 'bytes' }> | SplitShards | undefined;
}

export interface RangeReport
  extends Pick<ShuffleReport, 'bytes' | 'seed' | 'checksum' | 'workers' | 'shards' | 'splits' | 'emptyShards'> {
  /** How many were written. */
  readonly numbers: number;
  /** Elapsed time. `total` includes preparation and cleanup. */
  readonly seconds: Pick<ShuffleReport['seconds'], 'total' | 'commit'>;
}

export interface RangeRequest extends TalkRequest, OutputRequest {
  readonly range: NumberRange;
  readonly isRepeated: boolean;
  /** How many places of the order to write. */
  readonly places: bigint;
  /** Whether each number of the range is written once. */
  readonly isWhole: boolean;
  /** Whether nobody is expected to wait for the last place. */
  readonly isEndless: boolean;
  readonly terminator: number;
  readonly seed: string;
  readonly workers: number;
}

const RANGE_OPTIONS: OptionNames<RangeOptions> = {
  range: true,
  headCount: true,
  repeat: true,
  zeroTerminated: true,
  output: true,
  splits: true,
  shards: true,
  compress: true,
  shardPrefix: true,
  force: true,
  seed: true,
  workers: true,
  signal: true,
  onProgress: true,
  onWarning: true,
};

const NEWLINE = 0x0a;

/** @throws UsageError */
export function completeRange(options: RangeOptions): RangeRequest {
  requireKnownOptions('shuffleRange()', options, RANGE_OPTIONS);
  const { seed, workers = readCpuCount() } = options;
  for (const name of ['repeat', 'zeroTerminated'] as const) {
    const flag: unknown = options[name];
    if (flag !== undefined && typeof flag !== 'boolean') throw new UsageError(`\`${name}\`: expected true or false`);
  }
  requireSeed(seed);
  if (options.repeat === true && options.splits !== undefined)
    throw new UsageError('`repeat` does not go with `splits`: copies of one number would be in several of them');
  // Callers without types may pass anything.
  const rule: unknown = options.shards?.by;
  if (rule === 'bytes')
    throw new UsageError(
      "`shards`: a range is cut by numbers; expected an object with `by` one of 'count' and 'records'",
    );
  return {
    ...completeOutput({ ...options, headCount: undefined }, 'lines'),
    ...completeTalk(options),
    ...completePlaces(options),
    terminator: options.zeroTerminated === true ? 0 : NEWLINE,
    seed: seed ?? drawSeed(),
    workers: requireWhole('`workers`', workers, 1, MOST_WORKERS),
  };
}

function completePlaces(
  options: RangeOptions,
): Pick<RangeRequest, 'range' | 'isRepeated' | 'places' | 'isWhole' | 'isEndless'> {
  const range = rangeOf(options.range);
  const { headCount, repeat: isRepeated = false } = options;
  const wanted = headCount === undefined ? undefined : wholeOf(headCount);
  if (headCount !== undefined && wanted === undefined)
    throw new UsageError('`headCount`: expected a whole number of at least 0');
  const count = countOf(range);
  const most = isRepeated ? MOST_NUMBERS : count;
  const places = wanted === undefined || wanted > most ? most : wanted;
  if (isRepeated && count === 0n && places > 0n)
    throw new UsageError(`\`repeat\` has nothing to draw from: \`range\` ${range.low}-${range.high} has no numbers`);
  const isWhole = !isRepeated && places === count;
  return { range, isRepeated, places, isWhole, isEndless: isRepeated && places === MOST_NUMBERS };
}

function rangeOf(range: unknown): NumberRange {
  const given = typeof range === 'object' && range !== null ? range : {};
  const low = 'low' in given ? wholeOf(given.low) : undefined;
  const high = 'high' in given ? endOf(given.high, low) : undefined;
  if (low === undefined || high === undefined || low >= MOST_NUMBERS || high >= MOST_NUMBERS)
    throw new UsageError(
      `\`range\`: expected an object with \`low\` and \`high\`, whole numbers from 0 to ${MOST_NUMBERS - 1n}`,
    );
  requireKnownOptions('`range`', range, { low: true, high: true });
  if (low > high + 1n) throw new UsageError(`\`range\` ${low}-${high}: expected the lower number first`);
  return { low, high };
}

/** The range from 0 to -1 is empty, as any other from LO to LO - 1. */
function endOf(high: unknown, low: bigint | undefined): bigint | undefined {
  return low === 0n && (high === -1 || high === -1n) ? -1n : wholeOf(high);
}

/** @returns undefined for anything but a whole number of at least 0; a number above 2^53 may be another one than was meant. */
function wholeOf(value: unknown): bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  return typeof value === 'bigint' && value >= 0n ? value : undefined;
}
