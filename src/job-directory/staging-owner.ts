/**
 * A note in the staging directory: the job directory of the job whose outputs are staged there. Jobs of one
 * output meet there, wherever their job directories are.
 */
import { join } from 'node:path';
import { VerificationError } from '../errors.js';
import { createTempFile, removeFile, withFile, writeAt } from '../io/files.js';
import { readSmallFile } from '../io/small-file.js';
import { object, readShape, text } from './json-shape.js';
import { seal, unseal } from './sealed-file.js';

export const OWNER_NAME = 'job';
const KIND = 'owner';
const VERSION = 1;
const MOST_BYTES = 2 ** 17;
const shape = object({ jobDirectory: text });

/** Leaves it as it is when it says so already. */
export function noteStagingOwner(stagingDirectory: string, jobDirectory: string): void {
  if (readStagingOwner(stagingDirectory) === jobDirectory) return;
  const path = join(stagingDirectory, OWNER_NAME);
  removeFile(path, 'output');
  const bytes = seal(KIND, VERSION, { jobDirectory });
  withFile(createTempFile(path), (file) => writeAt(file, bytes, 0, bytes.byteLength, 0));
}

/** The job directory that was noted; undefined when none was, or by a run that ended before it was all written. */
export function readStagingOwner(stagingDirectory: string): string | undefined {
  const path = join(stagingDirectory, OWNER_NAME);
  const bytes = readSmallFile(path, 'output', MOST_BYTES);
  if (bytes === undefined) return undefined;
  try {
    return readShape(shape, unseal(bytes, KIND, VERSION, path), path).jobDirectory;
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}
