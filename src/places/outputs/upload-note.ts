/** The note beside the staged file of a shard that names its upload, for the tasks and attempts that go on with it. */
import { join } from 'node:path';
import { moveIntoPlace } from '../../io/durable.js';
import { list, object, optional, text, type ValueOf } from '../../io/json-shape.js';
import { SealedFormat } from '../../io/sealed-format.js';
import { createWhole, nameOfAttempt } from '../../io/small-file.js';
import { uploadedPart } from '../../remote/object-store.js';

const shape = object({
  address: text,
  uploadId: text,
  /** All parts of the object. Absent: not all are uploaded. */
  parts: optional(list(uploadedPart)),
});

export type UploadNote = ValueOf<typeof shape>;

const format = new SealedFormat({ kind: 'upload', version: 1, mostBytes: 2 ** 21, role: 'temp', shape });

const ENDING = '.upload';

export function uploadNotePath(stagingDirectory: string, shard: number): string {
  return join(stagingDirectory, `${shard}${ENDING}`);
}

export function isUploadNote(name: string): boolean {
  return name.endsWith(ENDING);
}

/** Writes in place of the former note, whole or not at all, but for a power failure. */
export function noteUpload(stagingDirectory: string, shard: number, note: UploadNote): void {
  const path = uploadNotePath(stagingDirectory, shard);
  const attempt = nameOfAttempt(path);
  createWhole(attempt, format.seal(note), 'temp');
  moveIntoPlace(attempt, path);
}

/** Reads the note of an upload. Undefined: nobody has begun to upload the shard. */
export function readUpload(path: string): UploadNote | undefined {
  return format.read(path);
}
