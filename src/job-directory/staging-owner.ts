/**
 * A note in the staging directory: whose outputs are staged there. Jobs of one output meet there, wherever
 * their job directories are.
 */
import { join } from 'node:path';
import { VerificationError } from '../errors.js';
import { createTempFile, removeFile, withFile, writeAt } from '../io/files.js';
import { flag, object, readShape, text, type ValueOf } from '../io/json-shape.js';
import { seal, unseal } from '../io/sealed-file.js';
import { readSmallFile } from '../io/small-file.js';

export const OWNER_NAME = 'owner';
const KIND = 'owner';
const VERSION = 1;
const MOST_BYTES = 2 ** 17;
const shape = object({
  jobDirectory: text,
  /** Whether what is staged may be of use to a later run. */
  isResumable: flag,
});

export type StagingOwner = ValueOf<typeof shape>;

/** Leaves it as it is when it says so already. */
export function noteStagingOwner(stagingDirectory: string, owner: StagingOwner): void {
  const noted = readStagingOwner(stagingDirectory);
  if (noted?.jobDirectory === owner.jobDirectory && noted.isResumable === owner.isResumable) return;
  const path = join(stagingDirectory, OWNER_NAME);
  removeFile(path, 'output');
  const bytes = seal(KIND, VERSION, owner);
  withFile(createTempFile(path), (file) => writeAt(file, bytes, 0, bytes.byteLength, 0));
}

/** What was noted; undefined when nothing was, or by a run that ended before it was all written. */
export function readStagingOwner(stagingDirectory: string): StagingOwner | undefined {
  const path = join(stagingDirectory, OWNER_NAME);
  const bytes = readSmallFile(path, 'output', MOST_BYTES);
  if (bytes === undefined) return undefined;
  try {
    return readShape(shape, unseal(bytes, KIND, VERSION, path), path);
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}
