/**
 * Giving outputs their final names, step by step, each of which may have been done already by a run
 * that was killed there: what is moved twice is where it belongs.
 *
 *     one file        one rename or link
 *     new directory   shards are gathered under their names in the staging directory, and appear by one
 *                     rename of the directory that holds them
 *     existing one    former shards are moved aside, then the new ones in, then the marker that says
 *                     that they are complete; the journal tells how far it came
 *
 * What must not replace anything is linked, and keeps its former name until the new one is durable: after a
 * power failure each directory holds what it held at some moment since it was synced, and not at the same
 * one. (Outputs keep theirs until the staging directory is removed.)
 */
import { join } from 'node:path';
import { VerificationError } from '../errors.js';
import { linkIntoPlace, moveDirectoryIntoPlace, moveIntoPlace, syncParent, syncPath } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { isSameEntry, nameExists, statPath } from '../io/paths.js';
import { ensurePrivateDirectory, makeOwnDirectory, removeDirectory } from '../io/private-directory.js';
import { ASIDE_NAME } from '../job-directory/job-paths.js';
import { type CommitJournal, writeJournal } from './commit-journal.js';
import { writeCompletionMarker } from './completion-marker.js';
import type { FilesPlace, ShardsPlace } from './output-place.js';
import { stagedPath } from './output-target.js';
import { completionMarkerName } from './shard-names.js';

/** Where the pieces lie while outputs get their names. */
export interface MoveDirectories {
  readonly stagingDirectory: string;
  /** Holds the journal. */
  readonly jobDirectory: string;
}

export async function moveOutputs(
  place: FilesPlace,
  directories: MoveDirectories,
  journal: CommitJournal,
): Promise<void> {
  const { stagingDirectory } = directories;
  if (place.kind === 'file') {
    moveFile(stagedPath(stagingDirectory, 0), place.path, place.mayReplace, journal.bytes);
    await syncParent(place.path);
  } else if (journal.intoExisting) {
    await moveIntoExisting(place, directories, journal);
  } else {
    await moveAsDirectory(place, stagingDirectory, journal);
  }
}

async function moveAsDirectory(place: ShardsPlace, stagingDirectory: string, journal: CommitJournal): Promise<void> {
  const gathered = join(stagingDirectory, 'shards');
  const isMoved = !nameExists(gathered, 'output') && !nameExists(stagedPath(stagingDirectory, 0), 'output');
  const directory = isMoved ? place.path : gathered;
  // One that is there already may have got the mode of the output, and is inside of a private one.
  if (!isMoved) makeOwnDirectory(gathered, 'output');
  for (const { staged, name, byteLength } of shardsOf(journal, stagingDirectory)) {
    if (isMoved) requireMoved(join(directory, name), byteLength);
    else moveFile(staged, join(directory, name), true, byteLength);
  }
  if (!isMoved) {
    await syncPath(gathered);
    moveDirectoryIntoPlace(gathered, place.path);
  }
  await syncParent(place.path);
}

async function moveIntoExisting(
  place: ShardsPlace,
  { stagingDirectory, jobDirectory }: MoveDirectories,
  journal: CommitJournal,
): Promise<void> {
  // Also when they were aside before: they may have been put back since.
  if (journal.phase !== 'moved') await moveAside(place, stagingDirectory, journal);
  if (journal.phase === 'move-aside') await writeJournal(jobDirectory, { ...journal, phase: 'move-in' });
  for (const { staged, name, byteLength } of shardsOf(journal, stagingDirectory)) {
    moveFile(staged, join(place.path, name), false, byteLength);
  }
  await syncPath(place.path);
  if (journal.phase !== 'moved') {
    await writeCompletionMarker(place, stagingDirectory, journal);
    await writeJournal(jobDirectory, { ...journal, phase: 'moved' });
  }
}

async function moveAside(place: ShardsPlace, stagingDirectory: string, { replaced }: CommitJournal): Promise<void> {
  const aside = asideDirectory(stagingDirectory);
  ensurePrivateDirectory(aside, 'output');
  for (const name of replaced) {
    const [from, to] = [join(place.path, name), join(aside, name)];
    if (isSameEntry(from, to, 'output')) removeFile(from, 'output');
    else if (nameExists(from, 'output') && !nameExists(to, 'output')) moveIntoPlace(from, to, true);
  }
  await syncPath(place.path);
}

/**
 * Takes back what was moved into or out of an existing directory: afterwards it holds what it held
 * before, and all that is new is staged again. When it was interrupted, it may be done again, or the moves.
 * Outputs that all have their places stay there.
 */
export async function takeBack(place: FilesPlace, stagingDirectory: string, journal: CommitJournal): Promise<void> {
  if (place.kind === 'file' || !journal.intoExisting) return;
  const aside = asideDirectory(stagingDirectory);
  if (journal.phase === 'moved') {
    removeDirectory(aside);
    return;
  }
  const { replaced } = journal;
  const marker = completionMarkerName(place.naming);
  const isMarkerFormer = replaced.includes(marker) && !nameExists(join(aside, marker), 'output');
  if (journal.phase === 'move-in' && !isMarkerFormer) removeFile(join(place.path, marker), 'output');
  for (const { staged, name } of shardsOf(journal, stagingDirectory)) {
    const final = join(place.path, name);
    if (isSameEntry(staged, final, 'output')) removeFile(final, 'output');
    else if (!nameExists(staged, 'output') && nameExists(final, 'output')) moveIntoPlace(final, staged, false);
  }
  const setAside = replaced.filter((name) => nameExists(join(aside, name), 'output'));
  for (const name of setAside) moveFile(join(aside, name), join(place.path, name), false);
  await syncPath(place.path);
  for (const name of setAside) removeFile(join(aside, name), 'output');
}

/** Holds former files while they make way. */
export function asideDirectory(stagingDirectory: string): string {
  return join(stagingDirectory, ASIDE_NAME);
}

function shardsOf({ names, byteLengths }: CommitJournal, stagingDirectory: string) {
  return names.map((name, shard) => ({
    staged: stagedPath(stagingDirectory, shard),
    name,
    byteLength: byteLengths[shard] ?? 0,
  }));
}

/**
 * Gives `from` the name `to`. Unless it may replace something, it may have both names then.
 * @param byteLength that `to` must have when it was moved before; undefined: whatever it has.
 */
function moveFile(from: string, to: string, mayReplace: boolean, byteLength?: number): void {
  if (!nameExists(from, 'output')) requireMoved(to, byteLength);
  else if (mayReplace) moveIntoPlace(from, to, true);
  else if (!isSameEntry(from, to, 'output')) linkIntoPlace(from, to);
}

function requireMoved(path: string, byteLength: number | undefined): void {
  const stat = statPath(path, 'output');
  if (stat?.isFile() === true && (byteLength === undefined || Number(stat.size) === byteLength)) return;
  throw new VerificationError(
    `the output ${path} was given its name before and is not there any more as it was, with ${byteLength} bytes; make it anew with --force`,
  );
}
