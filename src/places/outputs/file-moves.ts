/**
 * Gives outputs their final names, step by step. A killed attempt may have done any of the steps already. No file loses a
 * name before its next name is durable: the staged names of outputs stay until the staging directory is removed.
 *
 *     one file        one link, or one rename in place of the former file; its SHA-256, if it has them, just before
 *     new directory   shards and their marker get their names in a directory beside it, which appears by one rename
 *     existing one    former shards are moved aside, then the new ones get their names, then the marker
 *                     appears that says that they are complete; the journal says which of these steps is next
 *
 * A file that replaces one of its name first gets the permissions of that one.
 */
import { dirname, join } from 'node:path';
import { counted, SystemError, VerificationError } from '../../errors.js';
import { forEachConcurrently } from '../../floor/for-each-concurrently.js';
import { makeOwnDirectory, removeDirectory } from '../../io/directories.js';
import { openStagedOutput, removeFile, withFile, writeAt } from '../../io/files.js';
import { SUMS_ENDING } from '../../io/own-files.js';
import { isSameEntry, nameExists, statPath } from '../../io/paths.js';
import {
  applyUmask,
  copyPermissions,
  linkOrRename,
  moveDirectoryIntoPlace,
  moveIntoPlace,
  syncPath,
} from '../../io/rename-and-sync.js';
import { ASIDE_NAME } from '../../job-directory/job-paths.js';
import { stagedPath } from '../../sinks/output-target.js';
import {
  type CommitDirectories,
  type CommitJournal,
  filesBeside,
  readJournal,
  removeJournal,
  requireSameOutput,
  writeJournal,
} from './commit-journal.js';
import type { Destination, FileDestination, ShardsDestination } from './destination.js';

export async function moveFile(
  place: FileDestination,
  { stagingDirectory, jobDirectory }: CommitDirectories,
  journal: CommitJournal,
  takesBack: boolean,
): Promise<void> {
  requireSameOutput(place, journal);
  const staged = stagedPath(stagingDirectory, 0);
  const give = place.mayReplace ? moveIntoPlace : linkOrRename;
  if (place.mayReplace && lacksFinalName(staged, place.path)) await copyPermissions(staged, place.path);
  const sums = place.path + SUMS_ENDING;
  for (const { text } of journal.beside ?? [])
    ensureName(besidePath(stagingDirectory), sums, Buffer.byteLength(text), give);
  try {
    ensureName(staged, place.path, journal.byteLengths[0] ?? 0, give);
  } catch (error) {
    if (takesBack && !place.mayReplace) {
      removeFile(sums, 'output');
      await removeJournal(jobDirectory);
    }
    throw error;
  }
  await syncPath(dirname(place.path));
}

/** Makes all moves that are not made yet. */
export async function moveShards(
  place: ShardsDestination,
  directories: CommitDirectories,
  journal: CommitJournal,
): Promise<void> {
  requireJournalOf(place, journal);
  if (journal.intoExisting) await moveIntoExisting(place, directories, journal);
  else await moveAsDirectory(place, directories.stagingDirectory, journal);
}

/** Moves shards as `moveShards`. If a step fails, it undoes the earlier ones: then there is the whole output, or all former files. */
export async function moveOrRollBack(
  place: ShardsDestination,
  directories: CommitDirectories,
  journal: CommitJournal,
): Promise<void> {
  try {
    await moveShards(place, directories, journal);
  } catch (error) {
    try {
      const soFar = readJournal(directories.jobDirectory) ?? journal;
      // In phase `moved` the whole output is there, and a later attempt finds that.
      if (soFar.phase !== 'moved') await rollBack(place, directories, soFar);
    } catch (failure) {
      throw new SystemError(
        'ERR_IO',
        `${messageOf(error)}; the former shards could not all be put back (${messageOf(failure)}): they are in ${asideDirectory(directories.stagingDirectory)}`,
        { cause: error },
      );
    }
    throw error;
  }
}

async function moveAsDirectory(
  place: ShardsDestination,
  stagingDirectory: string,
  journal: CommitJournal,
): Promise<void> {
  const gathered = join(stagingDirectory, 'shards');
  const shards = shardsOf(journal, stagingDirectory);
  const isMoved = hasMovedAsDirectory(place, stagingDirectory, journal);
  const directory = isMoved ? place.path : gathered;
  const ofSections = new Set(shards.map(({ name }) => dirname(name)).filter((name) => name !== '.'));
  if (!isMoved) {
    makeOwnDirectory(gathered, 'output');
    for (const name of ofSections) makeOwnDirectory(join(gathered, name), 'output');
  }
  for (const { staged, name, byteLength } of shards)
    ensureName(staged, join(directory, name), byteLength, linkOrRename);
  if (!isMoved) {
    await writeBesideShards(place, gathered, stagingDirectory, journal);
    const directories = [...ofSections, '.'].map((name) => join(gathered, name));
    await forEachConcurrently(directories, async (path) => {
      applyUmask(path);
      await syncPath(path);
    });
    moveDirectoryIntoPlace(gathered, place.path);
  }
  await syncPath(dirname(place.path));
}

function hasMovedAsDirectory(place: ShardsDestination, stagingDirectory: string, journal: CommitJournal): boolean {
  if (nameExists(join(stagingDirectory, 'shards'), 'output')) return false;
  return shardsOf(journal, stagingDirectory).some(({ staged, name }) => hasFinalName(staged, join(place.path, name)));
}

async function moveIntoExisting(
  place: ShardsDestination,
  { stagingDirectory, jobDirectory }: CommitDirectories,
  journal: CommitJournal,
): Promise<void> {
  if (journal.phase === 'move-aside') {
    const aside = asideDirectory(stagingDirectory);
    makeOwnDirectory(aside, 'output');
    await syncPath(stagingDirectory);
    for (const name of journal.replaced) {
      const [from, to] = [join(place.path, name), join(aside, name)];
      // Both names exist: an attempt was killed while it put the file back.
      if (isSameEntry(from, to, 'output')) removeFile(from, 'output');
      else if (nameExists(from, 'output') && !nameExists(to, 'output')) moveIntoPlace(from, to);
    }
    await syncPath(aside);
    await syncPath(place.path);
    await writeJournal(jobDirectory, { ...journal, phase: 'move-in' });
  }
  const shards = shardsOf(journal, stagingDirectory);
  const aside = asideDirectory(stagingDirectory);
  const former = new Set(journal.replaced);
  const replacing = shards.filter(
    ({ staged, name }) => former.has(name) && lacksFinalName(staged, join(place.path, name)),
  );
  await forEachConcurrently(replacing, ({ staged, name }) => copyPermissions(staged, join(aside, name)));
  for (const { staged, name, byteLength } of shards)
    ensureName(staged, join(place.path, name), byteLength, linkOrRename);
  await syncPath(place.path);
  if (journal.phase !== 'moved') {
    await writeBesideShards(place, place.path, stagingDirectory, journal);
    await syncPath(place.path);
    await writeJournal(jobDirectory, { ...journal, phase: 'moved' });
  }
}

/**
 * Writes the files beside the shards, then `.PREFIX.complete.json`. In a directory that existed before its shards, the
 * marker is the last file to appear: while it is missing, the shards of this prefix are not complete, or not all of one job.
 * Each split has its own; sections have one.
 * @param directory that holds the shards; the caller makes the names in it durable.
 */
export async function writeBesideShards(
  place: ShardsDestination,
  directory: string,
  stagingDirectory: string,
  journal: CommitJournal,
): Promise<void> {
  for (const { name, text } of filesBeside(place, journal)) {
    const staged = await stageBeside(stagingDirectory, text);
    await copyPermissions(staged, join(asideDirectory(stagingDirectory), name));
    // The former marker was moved aside: an existing one is this one, from a killed attempt.
    moveIntoPlace(staged, join(directory, name));
  }
}

/** Writes a text, durably. @returns the path from where it gets its final name. */
export async function stageBeside(stagingDirectory: string, content: string): Promise<string> {
  const staged = besidePath(stagingDirectory);
  removeFile(staged, 'output');
  const text = Buffer.from(content);
  withFile(openStagedOutput(staged), (file) => writeAt(file, text, 0, text.byteLength, 0));
  await syncPath(staged);
  return staged;
}

/**
 * Rolls back the moves into an existing directory: it holds the former files again, the outputs are staged, and the
 * journal is removed. If all outputs have their final names, the names stay.
 * @param journal as it is on disk.
 */
export async function rollBack(
  place: Destination,
  { stagingDirectory, jobDirectory }: CommitDirectories,
  journal: CommitJournal,
): Promise<void> {
  requireJournalOf(place, journal);
  if (journal.intoExisting) {
    if (journal.phase === 'move-in') {
      for (const { name } of filesBeside(place, journal)) removeFile(join(place.path, name), 'output');
      for (const { staged, name } of shardsOf(journal, stagingDirectory)) {
        const final = join(place.path, name);
        if (isSameEntry(staged, final, 'output')) removeFile(final, 'output');
        else if (hasFinalName(staged, final)) moveIntoPlace(final, staged);
      }
      await syncPath(stagingDirectory);
      await syncPath(place.path);
      await writeJournal(jobDirectory, { ...journal, phase: 'move-aside' });
    }
    const aside = asideDirectory(stagingDirectory);
    for (const name of journal.phase === 'moved' ? [] : journal.replaced) {
      const [from, to] = [join(aside, name), join(place.path, name)];
      if (nameExists(from, 'output') && !isSameEntry(from, to, 'output')) linkOrRename(from, to);
    }
    await syncPath(place.path);
    removeDirectory(aside);
  }
  await removeJournal(jobDirectory);
}

function requireJournalOf(place: Destination, journal: CommitJournal): void {
  requireSameOutput(place, journal);
  if (!journal.intoExisting || nameExists(place.path, 'output')) return;
  throw new SystemError(
    'ERR_IO',
    `the output directory ${place.path} is gone, and shards had begun to move into it; make it again (mkdir) and run the same command`,
  );
}

export function asideDirectory(stagingDirectory: string): string {
  return join(stagingDirectory, ASIDE_NAME);
}

function besidePath(stagingDirectory: string): string {
  return join(stagingDirectory, 'beside');
}

function shardsOf({ names, byteLengths }: CommitJournal, stagingDirectory: string) {
  return names.map((name, shard) => ({
    staged: stagedPath(stagingDirectory, shard),
    name,
    byteLength: byteLengths[shard] ?? 0,
  }));
}

/** Returns whether a staged file has its final name already, beside its staged name or in place of it. */
function hasFinalName(staged: string, final: string): boolean {
  return nameExists(staged, 'output') ? isSameEntry(staged, final, 'output') : nameExists(final, 'output');
}

function lacksFinalName(staged: string, final: string): boolean {
  return nameExists(staged, 'output') && !isSameEntry(staged, final, 'output');
}

/** @param byteLength of `final`, checked when it has its name already. */
function ensureName(staged: string, final: string, byteLength: number, give: (from: string, to: string) => void): void {
  if (lacksFinalName(staged, final)) {
    give(staged, final);
    return;
  }
  const stat = statPath(final, 'output');
  if (stat?.isFile() === true && Number(stat.size) === byteLength) return;
  throw new VerificationError(
    `the output ${final} had its final name already, and is gone or no longer has ${counted(byteLength, 'byte')}; make it again with \`force\``,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
