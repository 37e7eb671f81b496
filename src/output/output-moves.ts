/**
 * Giving outputs their final names, step by step, each of which may have been done already by a run
 * that was killed there: what is moved twice is where it belongs.
 *
 *     one file        one rename or link
 *     new directory   shards are gathered under their names in the staging directory, which holds
 *                     nothing else then and appears by one rename
 *     existing one    former shards are moved aside, then the new ones in, then the marker that says
 *                     that they are complete; the journal tells how far it came
 */
import { join } from 'node:path';
import { VerificationError } from '../errors.js';
import { moveDirectoryIntoPlace, moveIntoPlace, syncParent, syncPath } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { isSameFile, nameExists, statPath } from '../io/paths.js';
import { ensurePrivateDirectory } from '../io/private-directory.js';
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
    moveOnce(stagedPath(stagingDirectory, 0), place.path, place.mayReplace, journal.bytes);
    await syncParent(place.path);
  } else if (place.exists) {
    await moveIntoExisting(place, directories, journal);
  } else {
    await moveAsDirectory(place, stagingDirectory, journal);
  }
}

async function moveAsDirectory(place: ShardsPlace, stagingDirectory: string, journal: CommitJournal): Promise<void> {
  const gathered = join(stagingDirectory, 'shards');
  const isMoved = !nameExists(gathered, 'output') && !nameExists(stagedPath(stagingDirectory, 0), 'output');
  const directory = isMoved ? place.path : gathered;
  if (!isMoved) ensurePrivateDirectory(gathered, 'output');
  for (const { staged, name, byteLength } of shardsOf(journal, stagingDirectory)) {
    if (isMoved) requireMoved(join(directory, name), byteLength);
    else moveOnce(staged, join(directory, name), true, byteLength);
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
  if (journal.phase === 'move-aside') {
    const aside = asideDirectory(stagingDirectory);
    ensurePrivateDirectory(aside, 'output');
    for (const name of journal.replaced) {
      const [from, to] = [join(place.path, name), join(aside, name)];
      if (nameExists(from, 'output') && !nameExists(to, 'output')) moveIntoPlace(from, to, true);
    }
    await syncPath(place.path);
    await writeJournal(jobDirectory, { ...journal, phase: 'move-in' });
  }
  for (const { staged, name, byteLength } of shardsOf(journal, stagingDirectory)) {
    moveOnce(staged, join(place.path, name), false, byteLength);
  }
  await syncPath(place.path);
  await writeCompletionMarker(place, stagingDirectory, journal);
}

/**
 * Takes back what was moved into or out of an existing directory: afterwards it holds what it held
 * before, and all that is new is staged again.
 */
export async function takeBack(place: FilesPlace, stagingDirectory: string, journal: CommitJournal): Promise<void> {
  if (place.kind === 'file' || !place.exists) return;
  const marker = join(place.path, completionMarkerName(place.naming));
  const aside = asideDirectory(stagingDirectory);
  // A marker beside former ones that were moved aside is the new one.
  if (journal.phase === 'move-in') removeFile(marker, 'output');
  for (const { staged, name } of shardsOf(journal, stagingDirectory)) {
    const final = join(place.path, name);
    if (!nameExists(staged, 'output') && nameExists(final, 'output')) moveIntoPlace(final, staged, false);
    else if (isSameFile(staged, final, 'output')) removeFile(final, 'output');
  }
  for (const name of journal.replaced) {
    const from = join(aside, name);
    if (nameExists(from, 'output')) moveOnce(from, join(place.path, name), false);
  }
  await syncPath(place.path);
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

/** @param byteLength that `to` must have when it was moved before; undefined: whatever it has. */
function moveOnce(from: string, to: string, mayReplace: boolean, byteLength?: number): void {
  if (!nameExists(from, 'output')) requireMoved(to, byteLength);
  // Linked, and not yet unlinked.
  else if (isSameFile(from, to, 'output')) removeFile(from, 'output');
  else moveIntoPlace(from, to, mayReplace);
}

function requireMoved(path: string, byteLength: number | undefined): void {
  const stat = statPath(path, 'output');
  if (stat?.isFile() === true && (byteLength === undefined || Number(stat.size) === byteLength)) return;
  throw new VerificationError(
    `the output ${path} was given its name before and is not there any more as it was, with ${byteLength} bytes; make it anew with --force`,
  );
}
