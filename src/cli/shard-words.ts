import { UsageError } from '../errors.js';
import type { ShuffleReport } from '../jobs/options.js';
import { formatPlural } from '../quantity.js';
import type { OptionValues } from './option-table.js';

/** `3 of 8 shards are empty: --shards 5 would do`; nothing if all shards have records. */
export function describeEmptyShards({
  records,
  shards,
  splits,
  emptyShards,
}: Pick<ShuffleReport, 'records' | 'shards' | 'splits' | 'emptyShards'>): readonly string[] {
  if (emptyShards === undefined) return [];
  const parts = splits ?? [{ name: '', records, shards, emptyShards }];
  const counts = parts.map(
    (part) => `${part.name}${splits === undefined ? '' : '='}${Math.min(part.shards.length, part.records || 1)}`,
  );
  const hasFewer = parts.some((part) => part.emptyShards !== undefined && part.records > 0);
  const without = splits?.flatMap((split) => (split.records === 0 ? [split.name] : [])) ?? [];
  return [
    `${emptyShards} of ${formatPlural(shards.length, 'shard')} ${emptyShards === 1 ? 'is' : 'are'} empty${hasFewer ? `: --shards ${counts.join()} would do` : ''}`,
    ...(without.length === 0 ? [] : [`no record in ${without.join(', ')}`]),
  ];
}

export function refuseShardsInStream(values: OptionValues<'shuffle-store'>): void {
  const { output, splits, shards, shardPrefix } = values;
  if ((shards ?? splits) !== undefined && (output === undefined || output === '-')) {
    const what = splits === undefined ? 'shards' : 'splits';
    throw new UsageError(`${what} need a directory, not standard output: add --output DIR`);
  }
  if (splits !== undefined && shardPrefix !== undefined) {
    throw new UsageError('--prefix does not go with --split: the names of splits are the first parts of their shards');
  }
  if (shards === undefined && shardPrefix !== undefined) {
    const advice = 'add --shards, --shard-records or --shard-bytes, or leave it out';
    throw new UsageError(`--prefix names shards, but none are requested: ${advice}`);
  }
}
