/** Outputs in object storage: which addresses there may be, and what the shards there are called. */
import { join } from 'node:path';
import { UsageError } from '../errors.js';
import { isRemote } from '../io/remote-objects.js';
import { requireAddress, shownAddress } from '../remote/address.js';
import type { UploadTarget } from './output-target.js';
import { type ShardNaming, shardName } from './shard-names.js';

/** @param naming undefined for one object. */
export function resolveObjects(output: string, naming: ShardNaming | undefined, mayReplace: boolean) {
  const shown = shownAddress(output);
  requireAddress(naming === undefined ? output : `${output.replace(/\/$/, '')}/`);
  if (output.startsWith('hf:'))
    throw badPlace(
      `the output ${shown} lies on the Hugging Face Hub, from which pileshuf only reads; write to a directory and upload it (hf upload), or to s3://BUCKET/KEY`,
    );
  if (!output.startsWith('s3:'))
    throw badPlace(
      `the output ${shown} lies on a web server, from which pileshuf only reads; name a file, or s3://BUCKET/KEY`,
    );
  if (naming !== undefined) {
    const path = output.replace(/\/$/, '');
    return { kind: 'shards', path, exists: true, naming, mayReplace } as const;
  }
  if (output.endsWith('/'))
    throw badPlace(
      `the output ${shown} is named as a directory; expected an object, or \`shards\` to write shards there`,
    );
  return { kind: 'file', path: output, mayReplace } as const;
}

export function addressOfShard({ address, shards }: Pick<UploadTarget, 'address' | 'shards'>, shard: number): string {
  if (shards === undefined) return address;
  let first = 0;
  for (const { prefix, shardCount } of shards.groups) {
    if (shard < first + shardCount)
      return addressIn(address, shardName({ prefix, extension: shards.extension }, shard - first, shardCount));
    first += shardCount;
  }
  throw new RangeError(`there is no shard ${shard}`);
}

/** @param directory its path, or its address without a slash at the end. */
export function placeIn(directory: string, name: string): string {
  return isRemote(directory) ? addressIn(directory, name) : join(directory, name);
}

export function addressIn(directory: string, name: string): string {
  return `${directory}/${name}`;
}

function badPlace(text: string): UsageError {
  return new UsageError(text, 'ERR_OUTPUT_PLACE');
}
