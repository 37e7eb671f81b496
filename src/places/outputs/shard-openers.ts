/** How a thread opens the shards that leave this machine part by part. Few jobs load what opens them. */
import type { JobControl } from '../../floor/job-control.js';
import type { AppendedTarget, OpenShard, OutputTarget } from '../../sinks/output-target.js';

type ShardOpener = (target: AppendedTarget, data: object, shard: number, check: () => void) => OpenShard;

/** The openers by the name in targets. */
const SHARD_OPENERS: Readonly<Record<string, () => Promise<ShardOpener>>> = {
  uploads: async () => (await import('./uploaded-shard.js')).openUploadedShard,
};

/** Returns what opens shards that leave this machine. Undefined: shards are files. */
export async function shardOpener(
  target: OutputTarget,
  control: JobControl,
): Promise<((shard: number) => OpenShard) | undefined> {
  if (target.sent === undefined) return undefined;
  const open = await SHARD_OPENERS[target.sent.by]?.();
  if (open === undefined) throw new RangeError(`nothing sends shards by ${target.sent.by}`);
  const data = target.sent.target;
  return (shard) => open(target, data, shard, () => control.throwIfAborted());
}
