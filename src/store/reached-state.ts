/**
 * The highest state that a store is known to have reached: an empty file with its number in a directory of its own. A
 * manifest can get lost, for example in a copy that was cut off. Without this file, the newest manifest that is left would
 * pass for the present state, and its number plus one would be used a second time.
 *
 * The file is made when the manifest is durable, and before its maker says so. A store that no program has changed since
 * there are such files has none.
 */
import { join } from 'node:path';
import { ensureSharedDirectory } from '../io/directories.js';
import { ensureFile, syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { listNames, nameExists } from '../io/paths.js';
import { nameOfManifest, numberOfManifest, reachedDirectoryOf } from './store-files.js';

/** 0 if nothing tells it. */
export function readReachedState(storeDirectory: string): number {
  return listReached(reachedDirectoryOf(storeDirectory)).reduce((most, number) => Math.max(most, number), 0);
}

/** Notes durably that the store has reached this state, whose manifest is durable. */
export async function noteReachedState(storeDirectory: string, number: number): Promise<void> {
  const directory = reachedDirectoryOf(storeDirectory);
  if (!nameExists(directory, 'store')) {
    ensureSharedDirectory(directory, 'store');
    await syncDirectory(storeDirectory, 'store');
  }
  const before = listReached(directory);
  if (before.every((other) => other < number)) ensureFile(join(directory, nameOfManifest(number)), 'store');
  await syncDirectory(directory, 'store');
  for (const other of before) if (other < number) removeIfPossible(join(directory, nameOfManifest(other)));
}

function listReached(directory: string): number[] {
  if (!nameExists(directory, 'store')) return [];
  return listNames(directory, 'store').flatMap((name) => numberOfManifest(name) ?? []);
}

function removeIfPossible(path: string): void {
  try {
    removeFile(path, 'store');
  } catch {
    // Only the highest number counts; the next change of the store tries again.
  }
}
