/** Says which addresses an output may have, and how tasks and later attempts learn those of its objects and their uploads. */
import { join } from 'node:path';
import { attemptName, createWhole } from '../../io/atomic-files.js';
import { list, object, optional, text, type ValueOf } from '../../io/json-shape.js';
import { moveIntoPlace } from '../../io/rename-and-sync.js';
import { SealedFormat } from '../../io/sealed-format.js';
import { requireAddress, shownAddress } from '../../remote/address.js';
import { uploadedPart } from '../../remote/object-store.js';
import type { Destination } from './destination.js';
import { outputPlaceError } from './output-place.js';
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
  readonly stagesUnsentBytes: boolean;
}

/** @param naming undefined for one object. */
export function resolveObjectOutput(output: string, naming: ShardNaming | undefined, mayReplace: boolean): Destination {
  const shown = shownAddress(output);
  requireAddress(naming === undefined ? output : `${output.replace(/\/$/, '')}/`);
  if (output.startsWith('hf:'))
    throw outputPlaceError(
      `the output ${shown} lies on the Hugging Face Hub, from which pileshuf only reads; write to a directory and upload it (hf upload), or to s3://NAME/PATH with \`endpoint\` https://s3.hf.co/OWNER`,
    );
  if (!output.startsWith('s3:'))
    throw outputPlaceError(
      `the output ${shown} lies on a web server, from which pileshuf only reads; name a file, or s3://BUCKET/KEY`,
    );
  if (naming !== undefined) {
    const path = output.replace(/\/$/, '');
    return { kind: 'shards', path, exists: true, naming, mayReplace };
  }
  if (output.endsWith('/'))
    throw outputPlaceError(
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
      return addressBelow(address, shardName({ prefix, extension }, shard - first, shardCount));
    first += shardCount;
  }
  throw new RangeError(`there is no shard ${shard}`);
}

export function addressBelow(directory: string, name: string): string {
  return `${directory}/${name}`;
}

/** The note beside the staged file of a shard that names its upload, for the tasks and attempts that go on with it. */
const shape = object({
  address: text,
  uploadId: text,
  /** All parts of the object. Absent: not all are uploaded. */
  parts: optional(list(uploadedPart)),
});

export type UploadNote = ValueOf<typeof shape>;

const format = new SealedFormat({ kind: 'upload', version: 1, mostBytes: 2 ** 21, role: 'temp', shape });

const NOTE_SUFFIX = '.upload';

export function uploadNotePath(stagingDirectory: string, shard: number): string {
  return join(stagingDirectory, `${shard}${NOTE_SUFFIX}`);
}

export function isUploadNote(name: string): boolean {
  return name.endsWith(NOTE_SUFFIX);
}

/** Writes in place of the former note, whole or not at all, but for a power failure. */
export function writeUploadNote(stagingDirectory: string, shard: number, note: UploadNote): void {
  const path = uploadNotePath(stagingDirectory, shard);
  const attempt = attemptName(path);
  createWhole(attempt, format.seal(note), 'temp');
  moveIntoPlace(attempt, path);
}

/** Reads the note of an upload. Undefined: nobody has begun to upload the shard. */
export function readUploadNote(path: string): UploadNote | undefined {
  return format.read(path);
}
