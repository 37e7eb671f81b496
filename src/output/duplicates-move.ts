/**
 * Gives the file of duplicates its final name, together with the outputs: before the first of them, so that an output that is
 * there has its duplicates beside it. A killed attempt may have done any of the steps already.
 */
import { join } from 'node:path';
import { addName, byteLengthOf, keepPermissions, moveIntoPlace, syncParent, syncPath } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { isSameEntry, nameExists } from '../io/paths.js';
import type { CommitJournal } from './commit-journal.js';
import { isNamed, isWithoutName, nameOnce } from './named-files.js';
import { stagedPath } from './output-target.js';

/** A file that appears together with the outputs. */
export type DuplicatesFile = NonNullable<CommitJournal['duplicates']>;

/** Holds the file until it gets its name, and then the one that it replaces. */
export function duplicatesDirectory(stagingDirectory: string): string {
  return join(stagingDirectory, 'duplicates');
}

export async function moveDuplicates(
  { path, byteLength }: DuplicatesFile,
  stagingDirectory: string,
  mayReplace: boolean,
): Promise<void> {
  const { staged, former } = placesIn(stagingDirectory);
  if (mayReplace && isWithoutName(staged, path)) {
    await keepPermissions(staged, path);
    if (nameExists(path, 'output') && !nameExists(former, 'output')) addName(path, former);
    await syncPath(duplicatesDirectory(stagingDirectory));
  }
  nameOnce(staged, path, byteLength, mayReplace ? moveIntoPlace : addName);
  await syncParent(path);
}

/** Takes the file back: its place is as it was before. */
export async function takeBackDuplicates(
  { path, byteLength }: DuplicatesFile,
  stagingDirectory: string,
): Promise<void> {
  const { staged, former } = placesIn(stagingDirectory);
  if (isSameEntry(staged, path, 'output')) removeFile(path, 'output');
  else if (isNamed(staged, path) && byteLengthOf(path) === byteLength) moveIntoPlace(path, staged);
  if (nameExists(former, 'output') && !nameExists(path, 'output')) addName(former, path);
  await syncPath(duplicatesDirectory(stagingDirectory));
  await syncParent(path);
}

function placesIn(stagingDirectory: string): { readonly staged: string; readonly former: string } {
  const directory = duplicatesDirectory(stagingDirectory);
  return { staged: stagedPath(directory, 0), former: join(directory, 'former') };
}
