/**
 * Verifies finished shards against their completion marker: the numbers of shards and records, the bytes, and the
 * checksum. Each split in a directory has a marker. Without one, the names of the shards tell how many there must be.
 */
import { join } from 'node:path';
import { InputError, UsageError } from '../errors.js';
import { readHead } from '../io/atomic-files.js';
import { isShardOf, LONGEST_MARKER_BYTES, MARKER_ENDING, MARKER_TEXT, prefixOfMarker } from '../io/own-files.js';
import { listNames, statPath } from '../io/paths.js';
import { type JobScope, runJob } from '../job/job.js';
import { completeReading } from '../job/request.js';
import type { ReadOptions } from '../options/shuffle-options.js';
import { READ_OPTIONS } from '../options/shuffle-options.js';
import { isShardName } from '../places/outputs/shard-names.js';
import type { Tuning } from '../plan/memory-plan.js';
import { requireOnDisk } from '../remote/address.js';
import { tallySets } from '../stages/compare-sets.js';
import { requireKnownOptions } from '../values/known-options.js';
import { openSets, runPass } from './read-sets.js';
import type { VerifiedSide } from './verify-permutation.js';

type Totals = Pick<VerifiedSide, 'records' | 'bytes' | 'checksum'>;

/** The shards of one prefix. */
export interface ShardSet {
  readonly prefix: string;
  /** Path of the completion marker. */
  readonly marker: string | undefined;
  /** True if all shards are there and readable, and as the marker says. */
  readonly isWhole: boolean;
  readonly expectedShards: number;
  /** The totals that the marker claims. */
  readonly expected: Totals | undefined;
  readonly found: Totals & { readonly shards: number };
  /** Numbers of shards, from 0, that are missing, or there more than once; the first 10. */
  readonly missingShards: readonly number[];
  /** Names of files that are named like a shard of this prefix and do not belong to the set. */
  readonly otherShards: readonly string[];
}

export interface ShardsReport {
  readonly directory: string;
  /** True if all sets are whole. */
  readonly isWhole: boolean;
  readonly sets: readonly ShardSet[];
  /** Elapsed time. */
  readonly seconds: number;
}

const MOST_NAMED = 10;

/**
 * Reads all shards of a directory. `options` must say what a record is, as the shuffle was told.
 *
 * @param tuning sizes for tests; they do not change the result.
 * @throws UsageError if the directory has neither a marker nor shards; InputError; SystemError; AbortError. A
 *   difference is not an error: the report tells it.
 */
export async function verifyShards(
  directory: string,
  options: ReadOptions = {},
  tuning: Partial<Tuning> = {},
): Promise<ShardsReport> {
  requireKnownOptions('verifyShards()', options, READ_OPTIONS);
  const { value: sets, seconds } = await runJob(options, (scope) => verifySets(directory, options, tuning, scope));
  return { directory, isWhole: sets.every(({ isWhole }) => isWhole), sets, seconds };
}

async function verifySets(
  directory: string,
  options: ReadOptions,
  tuning: Partial<Tuning>,
  scope: JobScope,
): Promise<readonly ShardSet[]> {
  const sets = findSets(directory);
  const request = completeReading({ ...options, inputs: [] });
  const present = sets.filter(({ shards }) => shards.length > 0);
  const named = present.map(({ shards }) => shards.map((name) => ({ path: join(directory, name) })));
  const opened = await openSets(named, request, tuning);
  const tallied = await runPass(opened, scope, tallySets);
  return sets.map(({ shards, expected, ...set }) => {
    const tally = tallied[present.findIndex(({ prefix }) => prefix === set.prefix)]?.tally;
    const { records = 0, bytes = 0, checksum = '0'.repeat(16) } = tally ?? {};
    const found = { shards: shards.length, records, bytes, checksum };
    const isAsMarked =
      expected === undefined ||
      (records === expected.records && bytes === expected.bytes && checksum === expected.checksum);
    const isWhole = set.missingShards.length === 0 && set.otherShards.length === 0 && isAsMarked;
    return { ...set, isWhole, expected, found };
  });
}

/** The markers in the directory and the shards beside each; without a marker, what is named like shards. */
function findSets(directory: string) {
  requireOnDisk('the directory', directory);
  const stat = statPath(directory, 'input');
  if (stat === undefined) throw new InputError('ERR_INPUT_MISSING', `${directory} does not exist; check the name`);
  if (!stat.isDirectory())
    throw new UsageError(
      `${directory} is not a directory; expected one with shards, or a pile store: compare a file with its inputs by \`verifyPermutation\``,
    );
  const names = listNames(directory, 'input').sort();
  const marked = names.flatMap((name) => {
    const prefix = prefixOfMarker(name);
    if (prefix === undefined) return [];
    const marker = join(directory, name);
    const text = readHead(marker, 'input', LONGEST_MARKER_BYTES).toString('latin1');
    if (!MARKER_TEXT.test(text)) return [];
    const { shards, ...expected }: Totals & { readonly shards: number } = JSON.parse(text);
    return [{ prefix, marker, expected, expectedShards: shards, ...shardsOf(prefix, shards, names) }];
  });
  const sets = marked.length > 0 ? marked : findUnmarked(names);
  if (sets.length > 0) return sets;
  throw new UsageError(
    `${directory} has no shards and no completion marker (.PREFIX${MARKER_ENDING}); compare it with its inputs by \`verifyPermutation\``,
  );
}

/** The sets that the names of shards tell of, each with the number of shards that its first name says. */
function findUnmarked(names: readonly string[]) {
  const shardCounts = new Map<string, number>();
  for (const name of names) {
    const [, prefix = '', count = ''] = /^(.+)-\d{5,}-of-(\d{5,})(?:\.|$)/.exec(name) ?? [];
    if (prefix !== '' && !shardCounts.has(prefix)) shardCounts.set(prefix, Number(count));
  }
  return [...shardCounts].map(([prefix, expectedShards]) => {
    const set = { prefix, marker: undefined, expected: undefined, expectedShards };
    return { ...set, ...shardsOf(prefix, expectedShards, names) };
  });
}

function shardsOf(prefix: string, shardCount: number, names: readonly string[]) {
  const ofPrefix = names.filter((name) => isShardOf(prefix, name));
  const byNumber = new Map<number, string[]>();
  for (const name of ofPrefix) {
    const shard = Number.parseInt(name.slice(prefix.length + 1), 10);
    if (shard < shardCount && isShardName(name, shard, shardCount))
      byNumber.set(shard, [...(byNumber.get(shard) ?? []), name]);
  }
  const missingShards: number[] = [];
  for (let shard = 0; shard < shardCount && missingShards.length < MOST_NAMED; shard++)
    if (byNumber.get(shard)?.length !== 1) missingShards.push(shard);
  const shards = [...byNumber.values()].flatMap((named) => (named.length === 1 ? named : []));
  const known = new Set(shards);
  return { shards, missingShards, otherShards: ofPrefix.filter((name) => !known.has(name)) };
}
