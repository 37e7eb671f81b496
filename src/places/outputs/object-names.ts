/** Says which addresses an output may have, and how tasks learn those of its objects. */
import { requireAddress, shownAddress } from '../../remote/address.js';
import type { Destination } from './destination.js';
import { badPlace } from './output-place.js';
import { type ShardGroup, type ShardNaming, shardName } from './shard-names.js';

/** How staged bytes become parts of objects: what a task must know. */
export interface UploadTarget {
  /** The address of the object, or of the directory of the shards without a slash at its end. */
  readonly address: string;
  readonly extension: string;
  /** The shards of each prefix, in order. Empty: there is one object. */
  readonly groups: readonly ShardGroup[];
  /** The size of each part but the last. */
  readonly partBytes: number;
  /** The first bytes of each object. Undefined: they are known at the end, and the first part waits for them. */
  readonly header: Uint8Array | undefined;
  /** True if something follows the records, so that the last part waits for it. */
  readonly hasTrailer: boolean;
  /**
   * True if a later attempt needs what is in no uploaded part, so that it is staged. Otherwise it may wait in memory.
   */
  readonly stagesRest: boolean;
}

/** @param naming undefined for one object. */
export function resolveObjects(output: string, naming: ShardNaming | undefined, mayReplace: boolean): Destination {
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
    return { kind: 'shards', path, exists: true, naming, mayReplace };
  }
  if (output.endsWith('/'))
    throw badPlace(
      `the output ${shown} is named as a directory; expected an object, or \`shards\` to write shards there`,
    );
  return { kind: 'file', path: output, mayReplace };
}

export function addressOfShard(
  { address, extension, groups }: Pick<UploadTarget, 'address' | 'extension' | 'groups'>,
  shard: number,
): string {
  if (groups.length === 0) return address;
  let first = 0;
  for (const { prefix, shardCount } of groups) {
    if (shard < first + shardCount)
      return addressIn(address, shardName({ prefix, extension }, shard - first, shardCount));
    first += shardCount;
  }
  throw new RangeError(`there is no shard ${shard}`);
}

export function addressIn(directory: string, name: string): string {
  return `${directory}/${name}`;
}
