/**
 * What is noted, durably, before outputs get their final names, so that a later run can finish what a
 * killed one began, or take it back: which shards there are, and which files they replace. It lies in
 * the staging directory, on the file system of the output, and is removed with it.
 */
import { join } from 'node:path';
import { syncPath } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { readSmallFile, replaceDurably } from '../io/small-file.js';
import { array, object, oneOf, type ShapeOf, text, wholeNumber } from '../job-directory/json-shape.js';
import { readSealed, seal } from '../job-directory/sealed-file.js';

const NAME = 'commit';
const SEAL = { kind: 'commit', version: 1 } as const;
/** A hundred thousand shards take some 20 MB. */
const MOST_BYTES = 2 ** 28;

const shape = object({
  /** `move-aside`: former files may have been moved; `move-in`: all of them have, and outputs may have been. */
  phase: oneOf('move-aside', 'move-in'),
  /** Of the one output, or of the shards in order. */
  names: array(text()),
  byteLengths: array(wholeNumber()),
  /** Names of the files that make way. */
  replaced: array(text()),
  records: wholeNumber(),
  bytes: wholeNumber(),
  checksum: text(),
});

export type CommitJournal = ShapeOf<typeof shape>;

export async function writeJournal(stagingDirectory: string, journal: CommitJournal): Promise<void> {
  await replaceDurably(stagingDirectory, NAME, seal(SEAL, journal));
}

export async function removeJournal(stagingDirectory: string): Promise<void> {
  removeFile(join(stagingDirectory, NAME), 'output');
  await syncPath(stagingDirectory);
}

/** @returns undefined when no output has begun to move. @throws VerificationError when it is damaged. */
export function readJournal(stagingDirectory: string): CommitJournal | undefined {
  const path = join(stagingDirectory, NAME);
  const bytes = readSmallFile(path, 'output', MOST_BYTES);
  return bytes === undefined ? undefined : shape(readSealed(bytes, SEAL, path), path);
}
