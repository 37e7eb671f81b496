/** Opens the shards that tasks upload part by part. Few jobs load an opener. */
import type { JobControl } from '../../floor/job-control.js';
import type { AppendedTarget, OpenShard, OutputTarget } from '../../sinks/output-target.js';

type ShardOpener = (target: AppendedTarget, data: object, shard: number, check: () => void) => OpenShard;

/** Openers by their name in `ShardTransfers`. */
const SHARD_OPENERS: Readonly<Record<string, () => Promise<ShardOpener>>> = {
  uploads: async () => (await import('./uploaded-shard.js')).openUploadedShard,
};

/** Returns the opener of shards that are uploaded. Undefined: shards are files. */
export async function shardOpener(
  target: OutputTarget,
  control: JobControl,
): Promise<((shard: number) => OpenShard) | undefined> {
  if (target.transfers === undefined) return undefined;
  const open = await SHARD_OPENERS[target.transfers.opener]?.();
  if (open === undefined) throw new RangeError(`nothing sends shards by ${target.transfers.opener}`);
  const data = target.transfers.target;
  return (shard) => open(target, data, shard, () => control.throwIfAborted());
}
