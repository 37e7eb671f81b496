/** What the words of a call must say of shards, for all commands that write outputs. */
import { UsageError } from '../errors.js';
import type { OptionValues } from './option-table.js';

/** @throws UsageError where options of shards contradict the output or each other. */
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
