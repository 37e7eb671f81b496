/** The present state of a store is its newest manifest, unless a newer one is lost (`reached-state.ts`). */
import { join } from 'node:path';
import { SystemError, VerificationError } from '../errors.js';
import { blockFor } from '../pause.js';
import { readReachedState } from './reached-state.js';
import { manifestDirectoryOf, nameOfManifest, storeError } from './store-files.js';
import { listManifests, readStoreManifest, type StoreManifest } from './store-manifest.js';

/** A listing may be older than the files: on a network file system, or when manifests come and go meanwhile. */
const MOST_LISTINGS = 8;
const PAUSE_MILLISECONDS = 10;

export interface NewestManifest {
  readonly manifest: StoreManifest;
  /** The number of a later state, whose manifest is lost; undefined: the manifest is the present state. */
  readonly lostState: number | undefined;
}

export function findNewestManifest(storeDirectory: string): NewestManifest {
  // First: a manifest is there before its number is noted here.
  const reached = readReachedState(storeDirectory);
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
