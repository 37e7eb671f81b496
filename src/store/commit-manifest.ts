/** Gives a store its next state, also when others do so at the same time. */
import { SystemError } from '../errors.js';
import { publishDurably, readSmallFile } from '../io/atomic-files.js';
import { removeFile } from '../io/files.js';
import { NameTakenError, syncPath } from '../io/rename-and-sync.js';
import { manifestDirectoryOf, manifestName, manifestPath, storeError } from './store-files.js';
import {
  findNewestManifest,
  manifestFormat,
  readNewestManifest,
  recordReachedState,
  requirePresent,
  type StoreManifest,
} from './store-manifest.js';
import type { StoreSnapshot } from './store-snapshot.js';

/** The fields that change. The others stay as they are. */
export type StateChange = Partial<Pick<StoreManifest, 'commits' | 'removed' | 'oldest'>>;

/**
 * @param snapshot of the store, however old.
 * @param change makes the next state from the present one; undefined: there is nothing to change. It is called again when
 *   another commit was faster. An error of it ends the commit, with nothing changed.
 * @param giveUpLost whether the store continues from its newest manifest, if that of a later state is lost.
 * @returns the durable new state, or the present one when there was nothing to change.
 * @throws SystemError that says so when the new state exists but may not survive a power failure.
 */
export async function commitManifest(
  { directory: storeDirectory, settings }: StoreSnapshot,
  change: (state: StoreManifest) => StateChange | undefined,
  giveUpLost = false,
): Promise<StoreManifest> {
  const directory = manifestDirectoryOf(storeDirectory);
  for (;;) {
    const newest = findNewestManifest(storeDirectory);
    const { manifest: state, lostState } = newest;
    if (!giveUpLost) requirePresent(newest, storeDirectory);
    if (state.storeId !== settings.id) {
      throw storeError(`the pile store ${storeDirectory} was replaced by another one meanwhile; start anew`);
    }
    const changed = change(state) ?? (lostState === undefined ? undefined : {});
    if (changed === undefined) {
      // Its maker may have been killed, or have failed, before the state was durable.
      await syncPath(directory, 'store');
      await recordReachedState(storeDirectory, state.number);
      return state;
    }
    // The number of a lost state is not used again.
    const number = (lostState ?? state.number) + 1;
    const { commits, removed, storeId, oldest } = {
      ...state,
      ...changed,
      // No manifest is missing below it.
      ...(lostState === undefined ? {} : { oldest: number }),
    };
    // The order of the fields is the order in the file.
    const next = { commits, removed, oldest, storeId, number, time: Date.now() };
    const path = manifestPath(storeDirectory, next.number);
    const bytes = manifestFormat.seal(next);
    try {
      await publishDurably(directory, manifestName(next.number), bytes);
      // If this thread slept since it read the state, the number may have been used and its manifest deleted meanwhile.
      if (readNewestManifest(storeDirectory).oldest <= next.number) {
        await recordReachedState(storeDirectory, next.number);
        return next;
      }
    } catch (error) {
      if (error instanceof NameTakenError) continue;
      throw error instanceof SystemError && hasBytes(path, bytes)
        ? commitInDoubtError(storeDirectory, next, error)
        : error;
    }
    removeFile(path, 'store');
  }
}

/** False also when the file cannot be read. */
function hasBytes(path: string, bytes: Uint8Array): boolean {
  try {
    const found = readSmallFile(path, 'store', bytes.byteLength);
    return found !== undefined && Buffer.compare(found, bytes) === 0;
  } catch {
    return false;
  }
}

/** A state that others can see is not taken back: they may rely on it already. */
function commitInDoubtError(storeDirectory: string, { number }: StoreManifest, cause: SystemError): SystemError {
  return new SystemError(
    'ERR_IO',
    `the commit is state ${number} of the pile store ${storeDirectory}, but it may not survive a power failure: ${cause.message}; check the disk, then run the same command again, with \`replace\` if it adds inputs`,
    { cause },
  );
}
