/**
 * Gives a store its next state, whoever else does so at the same time.
 */
import { join } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import { NameTakenError, syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { publishDurably, readSmallFile } from '../io/small-file.js';
import { encodeManifest, readNewestManifest, type StoreManifest } from './manifest.js';
import { manifestDirectoryOf, nameOfManifest } from './store-files.js';
import type { StoreSnapshot } from './store-snapshot.js';

/** What a commit decides of the next state. */
export type StateChange = Pick<StoreManifest, 'commits' | 'removed' | 'oldest'>;

/**
 * @param snapshot of the store, however old.
 * @param change makes the next state from the present one; called again when another commit was faster. What it throws
 *   ends the commit, with nothing changed; undefined: there is nothing to change.
 * @returns the new state, or the present one when there was nothing to change; durable.
 * @throws UsageError ERR_STORE when another store was put in the place of this one; SystemError that says so when the
 *   new state is there, and may not stay.
 */
export async function commitManifest(
  { directory: storeDirectory, settings }: StoreSnapshot,
  change: (state: StoreManifest) => StateChange | undefined,
): Promise<StoreManifest> {
  const directory = manifestDirectoryOf(storeDirectory);
  for (;;) {
    const state = readNewestManifest(storeDirectory);
    if (state.storeId !== settings.id) throw replacedByAnother(storeDirectory);
    const changed = change(state);
    if (changed === undefined) {
      // Whoever made it may have been killed before it was durable, or have failed to make it so.
      await syncDirectory(directory, 'store');
      return state;
    }
    const next = { ...changed, storeId: state.storeId, number: state.number + 1, time: Date.now() };
    const path = join(directory, nameOfManifest(next.number));
    const bytes = encodeManifest(next);
    try {
      await publishDurably(directory, nameOfManifest(next.number), bytes);
      // Had this thread slept since it read the state, the number could have been given before, and been deleted.
      if (readNewestManifest(storeDirectory).oldest <= next.number) return next;
    } catch (error) {
      if (error instanceof NameTakenError) continue;
      throw error instanceof SystemError && holds(path, bytes) ? inDoubt(storeDirectory, next, error) : error;
    }
    removeFile(path, 'store');
  }
}

/** False also when that cannot be seen. */
function holds(path: string, bytes: Uint8Array): boolean {
  try {
    const found = readSmallFile(path, 'store', bytes.byteLength);
    return found !== undefined && Buffer.compare(found, bytes) === 0;
  } catch {
    return false;
  }
}

/** What others see is not taken back: they may rely on it already. */
function inDoubt(storeDirectory: string, { number }: StoreManifest, cause: SystemError): SystemError {
  return new SystemError(
    'ERR_IO',
    `the commit is there, as state ${number} of the pile store ${storeDirectory}, but it is not known whether it would survive a power failure: ${cause.message}; check the disk, then do the same once more, with \`replace\` where inputs are added`,
    { cause },
  );
}

function replacedByAnother(storeDirectory: string): UsageError {
  return new UsageError(
    `the pile store ${storeDirectory} was replaced by another one meanwhile; begin again`,
    'ERR_STORE',
  );
}
