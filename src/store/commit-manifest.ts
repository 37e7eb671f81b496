/**
 * Gives a store its next state, whoever else does so at the same time.
 */
import { join } from 'node:path';
import { UsageError } from '../errors.js';
import { NameTakenError } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { publishDurably } from '../io/small-file.js';
import { encodeManifest, readNewestManifest, type StoreManifest } from './manifest.js';
import { manifestDirectoryOf, nameOfManifest } from './store-files.js';
import type { StoreSnapshot } from './store-snapshot.js';

/** What a commit decides of the next state. */
export type StateChange = Pick<StoreManifest, 'commits' | 'removed' | 'oldest'>;

/**
 * @param snapshot of the store, however old.
 * @param change makes the next state from the present one; called again when another commit was faster. What it throws
 *   ends the commit, with nothing changed; undefined: there is nothing to change.
 * @returns the new state, durable, or the present one when there was nothing to change.
 * @throws UsageError ERR_STORE when another store was put in the place of this one.
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
    if (changed === undefined) return state;
    const next = { ...changed, storeId: state.storeId, number: state.number + 1, time: Date.now() };
    const name = nameOfManifest(next.number);
    try {
      await publishDurably(directory, name, encodeManifest(next));
    } catch (error) {
      if (error instanceof NameTakenError) continue;
      throw error;
    }
    // Had this thread slept since it read the state, the number could have been given before, and been deleted.
    if (readNewestManifest(storeDirectory).oldest <= next.number) return next;
    removeFile(join(directory, name), 'store');
  }
}

function replacedByAnother(storeDirectory: string): UsageError {
  return new UsageError(
    `the pile store ${storeDirectory} was replaced by another one meanwhile; begin again`,
    'ERR_STORE',
  );
}
