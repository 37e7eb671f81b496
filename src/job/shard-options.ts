/** Completes the options that say how the output is cut: into splits, and each of them into shards. */
import { requireWhole, UsageError } from '../errors.js';
import { requireWholeOrder, type SplitRule } from '../keep/splits.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { MOST_SHARDS, type ShardRule } from '../plan/shard-cuts.js';
import { type Check, type OptionNamesBy, requireKnownOptions, whole } from '../values/known-options.js';

export interface SplitRequest {
  readonly rule: SplitRule;
  readonly shards: ShardRule;
}

interface ShardRequest {
  readonly shards: ShardRule | undefined;
  readonly splits: readonly SplitRequest[] | undefined;
}

/** A split without another rule is one shard. */
const ONE_SHARD: ShardRule = { by: 'count', shardCount: 1 };
/** More than people name, few enough for one line of a report. */
const MOST_SPLITS = 1000;
/** Matches what loaders of data sets take for the name of a split. */
const SPLIT_NAME = /^\w+(\.\w+)*$/;

export function completeShards({
  shards,
  splits,
  each,
}: Pick<ShuffleOptions, 'shards' | 'splits' | 'each'>): ShardRequest {
  if (shards !== undefined) requireShards(shards);
  const shardCount = shards?.by === 'count' ? shards.shardCount : 1;
  if (splits === undefined) {
    if (typeof shardCount === 'object')
      throw new UsageError('`shards.shardCount` names splits, and there are none; give a number, or `splits`');
    return { shards: (shards as ShardRule | undefined) ?? (each === undefined ? undefined : ONE_SHARD), splits };
  }
  requireSplits(splits);
  const names = splits.map(({ name }) => name);
  if (typeof shardCount === 'number') {
    const rule = (shards as ShardRule | undefined) ?? ONE_SHARD;
    return { shards: ofAll(rule, names.length), splits: splits.map((split) => ({ rule: split, shards: rule })) };
  }
  const stranger = Object.keys(shardCount).find((name) => !names.includes(name));
  if (stranger !== undefined)
    throw new UsageError(`\`shards.shardCount\` names ${stranger}; expected names of splits: ${names.join(', ')}`);
  const countOf = new Map(Object.entries(shardCount));
  const rules = names.map((name): ShardRule => ({ by: 'count', shardCount: countOf.get(name) ?? 1 }));
  const all = rules.reduce((sum, rule) => sum + (rule.by === 'count' ? rule.shardCount : 1), 0);
  return {
    shards: { by: 'count', shardCount: requireWhole('the sum of `shards.shardCount`', all, 1, MOST_SHARDS) },
    splits: splits.map((split, i) => ({ rule: split, shards: rules[i] ?? ONE_SHARD })),
  };
}

/** How many shards there are in all, if the rule says so. */
function ofAll(rule: ShardRule, splitCount: number): ShardRule {
  if (rule.by !== 'count') return rule;
  const shardCount = rule.shardCount * splitCount;
  return { by: 'count', shardCount: requireWhole('the shards of all splits', shardCount, 1, MOST_SHARDS) };
}

const shardCounts: Check = (value, option) => {
  const counts = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  for (const [name, count] of counts) whole(1, MOST_SHARDS)(count, `${option} of ${name}`);
  if (typeof value !== 'object' || value === null) whole(1, MOST_SHARDS)(value, option);
};

const SHARD_RULES: OptionNamesBy<ShardRule> = {
  count: { by: true, shardCount: { check: shardCounts, isNeeded: true } },
  records: { by: true, recordsPerShard: { check: whole(1), isNeeded: true } },
  bytes: { by: true, maxShardBytes: { check: whole(1), isNeeded: true } },
};

function requireShards(shards: NonNullable<ShuffleOptions['shards']>): void {
  // Callers without types may pass anything.
  if (!Object.hasOwn(SHARD_RULES, shards?.by))
    throw new UsageError("`shards`: expected an object with `by` one of 'count', 'records' and 'bytes'");
  requireKnownOptions(`\`shards\` by ${shards.by}`, shards, SHARD_RULES[shards.by], 'shards.');
}

const AMOUNTS = ['share', 'records', 'rest'] as const;

function requireSplits(splits: readonly SplitRule[]): void {
  if (!Array.isArray(splits) || splits.length === 0 || splits.length > MOST_SPLITS)
    throw new UsageError(`\`splits\`: expected an array of 1 to ${MOST_SPLITS} objects`);
  for (const split of splits) requireSplit(split);
  const names = splits.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new UsageError(`\`splits\` names ${twice} twice; expected another name for each`);
  const restCount = splits.filter((split) => 'rest' in split).length;
  if (restCount > 1) throw new UsageError(`\`splits\`: ${restCount} splits have the rest; expected at most one`);
  const hasCounts = splits.some((split) => 'records' in split);
  if (hasCounts && splits.some((split) => 'share' in split))
    throw new UsageError('`splits` has shares and numbers of records; expected one kind, and the rest for one split');
  if (hasCounts && restCount === 0)
    throw new UsageError('`splits` has only numbers of records; give one split the rest');
  requireWholeOrder(splits);
}

function requireSplit(split: SplitRule): void {
  if (typeof split !== 'object' || split === null || typeof split.name !== 'string')
    throw new UsageError('`splits`: expected objects with a name and one of share, records and rest');
  const { name } = split;
  if (!SPLIT_NAME.test(name))
    throw new UsageError(
      `\`splits\`: ${JSON.stringify(name)} cannot name a split; expected letters, digits and _, with single dots between`,
    );
  const amounts = AMOUNTS.filter((amount) => amount in split);
  if (amounts.length !== 1)
    throw new UsageError(
      `\`splits\`: ${name} has ${amounts.length} amounts; expected a share, a number of records, or the rest`,
    );
  requireKnownOptions(`\`splits\` ${name}`, split, { name: true, share: true, records: true, rest: true });
  if ('records' in split) requireWhole(`\`splits\`: the records of ${name}`, split.records, 1);
  if ('share' in split && !(typeof split.share === 'number' && split.share > 0 && split.share <= 1))
    throw new UsageError(`\`splits\`: the share of ${name} is ${split.share}; expected more than 0, and at most 1`);
  if ('rest' in split && split.rest !== true)
    throw new UsageError(`\`splits\`: rest of ${name}: expected true, or another amount`);
}
