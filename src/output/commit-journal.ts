/**
 * What is noted, durably, before outputs get their final names, so that a later run can finish what a
 * killed one began, or take it back: which shards there are, and which files they replace. It lies in
 * the job directory.
 */
import { join } from 'node:path';
import { syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import {
  checksumText,
  fileName,
  flag,
  list,
  object,
  oneOf,
  readShape,
  text,
  type ValueOf,
  wholeNumber,
} from '../io/json-shape.js';
import { damagedFile, seal, unseal } from '../io/sealed-file.js';
import { readSmallFile, replaceDurably } from '../io/small-file.js';
import { JOURNAL_NAME } from '../job-directory/job-paths.js';
import { MOST_SHARDS } from '../plan/shard-cuts.js';
import { isMadeWayFor, isNameOfShard } from './shard-names.js';

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
  /** Of all records. */
  bytes: wholeNumber(),
  checksum: checksumText,
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
  if (bytes === undefined) return undefined;
  const journal = readShape(shape, unseal(bytes, KIND, VERSION, path), path);
  requireConsistent(journal, path);
  return journal;
}

/** One file without a name, or shards with theirs; and nothing makes way but what could be of former shards. */
function requireConsistent(journal: CommitJournal, path: string): void {
  const { names, byteLengths, replaced, intoExisting } = journal;
  const shardCount = names.length;
  if (byteLengths.length !== Math.max(1, shardCount) || shardCount > MOST_SHARDS) {
    throw damagedFile(path, `expected as many lengths as outputs, got ${byteLengths.length} and ${shardCount} names`);
  }
  if ((shardCount === 0 && intoExisting) || (replaced.length > 0 && !intoExisting)) {
    throw damagedFile(path, 'expected files that make way only in a directory of shards that was there before');
  }
  const wrong = names.findIndex((name, shard) => !isNameOfShard(name, shard, shardCount));
  if (wrong !== -1) throw damagedFile(path, `names[${wrong}]: expected the name of shard ${wrong} of ${shardCount}`);
  const stranger = replaced.findIndex((name) => !isMadeWayFor(name));
  if (stranger !== -1) throw damagedFile(path, `replaced[${stranger}]: expected the name of a former shard`);
  for (const list of [names, replaced]) {
    if (new Set(list).size !== list.length) throw damagedFile(path, 'a name stands in it twice');
  }
}
