/**
 * The note of a job whose outputs have their final names: its last records, beside the outputs, while the job removes all
 * else that it has. The removal of this file is the last step of the job. If the process is killed before, the next attempt
 * puts the records back, and ends the job as if the kill had come before their removal.
 */
import { dirname, join } from 'node:path';
import { VerificationError } from '../errors.js';
import { moveIntoPlace, syncPath } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { fileName, list, object, text } from '../io/json-shape.js';
import { listNames } from '../io/paths.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createWhole, readSmallFile, replaceDurably } from '../io/small-file.js';
import { ENDED_NAME, endedNoteOf, isLastRecord, type JobPaths } from './job-paths.js';

const MOST_BYTES = 2 ** 29 - 2 ** 24;

const format = new SealedFormat({
  kind: 'ended',
  version: 1,
  mostBytes: MOST_BYTES,
  role: 'output',
  shape: object({ records: list(object({ name: fileName, text })) }),
});

/** A file of the job directory, as it was. */
interface LastRecord {
  readonly name: string;
  readonly text: string;
}

export async function writeEndedNote(paths: JobPaths): Promise<void> {
  const { jobDirectory, stagingDirectory } = paths;
  const names = listNames(jobDirectory, 'temp').filter(isLastRecord);
  const records = names.map((name): LastRecord => {
    const bytes = readSmallFile(join(jobDirectory, name), 'temp', MOST_BYTES) ?? new Uint8Array();
    return { name, text: Buffer.from(bytes).toString() };
  });
  // What a kill leaves of the attempt lies in the staging directory, where it is found.
  await replaceDurably(stagingDirectory, ENDED_NAME, format.seal({ records }));
  moveIntoPlace(join(stagingDirectory, ENDED_NAME), endedNoteOf(paths));
  await syncPath(dirname(stagingDirectory), 'output');
}

/** Undefined when there is no note, or a damaged one, which is of no use. */
export function readEndedNote(paths: JobPaths): readonly LastRecord[] | undefined {
  try {
    return format.read(endedNoteOf(paths))?.records;
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

export function putBack(records: readonly LastRecord[], jobDirectory: string): void {
  for (const { name, text } of records) {
    const path = join(jobDirectory, name);
    removeFile(path, 'temp');
    createWhole(path, Buffer.from(text), 'temp');
  }
}

export function removeEndedNote(paths: JobPaths): void {
  removeFile(endedNoteOf(paths), 'output');
}
