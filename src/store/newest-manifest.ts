/**
 * The present state of a store is its newest manifest, unless a newer one is lost.
 *
 * A manifest can get lost, for example in a copy that was cut off. So an empty file with a number, in a directory of its
 * own, tells the highest state that the store is known to have reached. Without this file, the newest manifest that is
 * left would pass for the present state, and its number plus one would be used a second time. The file is made when the
 * manifest is durable, and before its maker says so. A store that no program has changed since there are such files has
 * none.
 */
import { join } from 'node:path';
import { ifPossible } from '../cleanup.js';
import { SystemError, VerificationError } from '../errors.js';
import { ensureSharedDirectory } from '../io/directories.js';
import { ensureFile, syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { listNames, nameExists } from '../io/paths.js';
import { blockFor } from '../pause.js';
import {
  manifestDirectoryOf,
  nameOfManifest,
  numberOfManifest,
  reachedDirectoryOf,
  storeError,
} from './store-files.js';
import { listManifests, readStoreManifest, type StoreManifest } from './store-manifest.js';

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
  // Only the highest number counts; the next change of the store tries again.
  for (const other of before)
    if (other < number) ifPossible(() => removeFile(join(directory, nameOfManifest(other)), 'store'));
}

function listReached(directory: string): number[] {
  if (!nameExists(directory, 'store')) return [];
  return listNames(directory, 'store').flatMap((name) => numberOfManifest(name) ?? []);
}

/** A listing may be older than the files: on a network file system, or when manifests come and go meanwhile. */
const MOST_LISTINGS = 8;
const PAUSE_MILLISECONDS = 10;

interface NewestManifest {
  readonly manifest: StoreManifest;
  /** The number of a later state, whose manifest is lost; undefined: the manifest is the present state. */
  readonly lostState: number | undefined;
}

export function findNewestManifest(storeDirectory: string): NewestManifest {
  // First: a manifest is there before its number is noted here.
  const reached = Math.max(0, ...listReached(reachedDirectoryOf(storeDirectory)));
  for (let listing = 1; ; listing++) {
    const listed = listManifests(storeDirectory).at(-1);
    if (listed === undefined) {
      throw storeError(`${storeDirectory} is no pile store: it has no manifest; restore it from a copy`);
    }
    const isLast = listing === MOST_LISTINGS;
    const number = isLast ? listed : Math.max(listed, reached);
    const manifest = readStoreManifest(storeDirectory, number);
    if (manifest !== undefined) return { manifest, lostState: number < reached ? reached : undefined };
    // If it was deleted, there is a newer one.
    if (isLast) throw vanished(storeDirectory, number);
    blockFor(PAUSE_MILLISECONDS);
  }
}

/** Refuses a store whose present state is lost. */
export function readNewestManifest(storeDirectory: string): StoreManifest {
  return requirePresent(findNewestManifest(storeDirectory), storeDirectory);
}

/** @param what is known of the lost state, for the message. */
export function requirePresent(
  { manifest, lostState }: NewestManifest,
  storeDirectory: string,
  what = '',
): StoreManifest {
  if (lostState === undefined) return manifest;
  const path = join(manifestDirectoryOf(storeDirectory), nameOfManifest(lostState));
  throw new VerificationError(
    `the pile store ${storeDirectory} was at state ${lostState}, but ${path} is gone and the newest manifest is that of state ${manifest.number}${what}; restore the manifest from a copy, or give \`giveUpLost\` to \`collectStore\` to continue from state ${manifest.number}`,
  );
}

function vanished(storeDirectory: string, number: number): SystemError {
  const path = join(manifestDirectoryOf(storeDirectory), nameOfManifest(number));
  return new SystemError(
    'ERR_IO',
    `${path} is listed and cannot be found, ${MOST_LISTINGS} times in a row; check the file system, then try again`,
  );
}
