/**
 * What is noted, durably, before outputs get their final names, so that a later run can finish what a
 * killed one began, or take it back: which shards there are, and which files they replace. It lies in
 * the job directory.
 */
import { join } from 'node:path';
import { syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { readSmallFile, replaceDurably } from '../io/small-file.js';
import { JOURNAL_NAME } from '../job-directory/job-paths.js';
import {
  fileName,
  flag,
  list,
  object,
  oneOf,
  readShape,
  text,
  type ValueOf,
  wholeNumber,
} from '../job-directory/json-shape.js';
import { seal, unseal } from '../job-directory/sealed-file.js';

const KIND = 'commit';
const VERSION = 1;
/** A hundred thousand shards take some 20 MB. */
const MOST_BYTES = 2 ** 28;

const shape = object({
  /** See `outputIdentityOf`. */
  outputIdentity: text,
  /**
   * `move-aside`: former files may have been moved. `move-in`: all of them were, and outputs may have got their
   * names. `moved`: all outputs have, and former files may have been removed.
   */
  phase: oneOf('move-aside', 'move-in', 'moved'),
  /** Whether shards get their names in a directory that was there before them. */
  intoExisting: flag,
  /** Of the one output, or of the shards in order. */
  names: list(fileName),
  byteLengths: list(wholeNumber()),
  /** Names of the files that make way. */
  replaced: list(fileName),
  records: wholeNumber(),
  bytes: wholeNumber(),
  checksum: text,
});

export type CommitJournal = ValueOf<typeof shape>;

export async function writeJournal(jobDirectory: string, journal: CommitJournal): Promise<void> {
  await replaceDurably(jobDirectory, JOURNAL_NAME, seal(KIND, VERSION, journal));
}

export async function removeJournal(jobDirectory: string): Promise<void> {
  removeFile(join(jobDirectory, JOURNAL_NAME), 'temp');
  await syncDirectory(jobDirectory, 'temp');
}

/** @returns undefined when no output has begun to move. @throws VerificationError when it is damaged. */
export function readJournal(jobDirectory: string): CommitJournal | undefined {
  const path = join(jobDirectory, JOURNAL_NAME);
  const bytes = readSmallFile(path, 'temp', MOST_BYTES);
  return bytes === undefined ? undefined : readShape(shape, unseal(bytes, KIND, VERSION, path), path);
}
