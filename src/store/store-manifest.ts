/**
 * The state of a store: the commits that it consists of. Manifests are numbered and never change; the one with the highest
 * number is the state. A new state gets the next number by `link`, which gives a name to one file only: of two states made
 * from the same one, the second is refused and made again from the first, so no commit is ever lost.
 *
 * No number may ever be used twice, although old manifests are deleted. `oldest` says below which number manifests may be
 * gone. After a commit, its maker reads the state again, and takes its manifest back if its number is below `oldest` by
 * then (commit-manifest.ts).
 */
import { join } from 'node:path';
import { SystemError, VerificationError } from '../errors.js';
import { ifPossible } from '../floor/cleanup.js';
import { blockFor, yieldAndCheckAbortAt } from '../floor/pause.js';
import { ensureSharedDirectory } from '../io/directories.js';
import { removeFile } from '../io/files.js';
import { checksumText, list, nullable, object, type Shape, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames, nameExists } from '../io/paths.js';
import { ensureFile, syncPath } from '../io/rename-and-sync.js';
import { damagedFileError } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { PILE_SET_NAME } from '../piles/pile-set-index.js';
import {
  manifestDirectoryOf,
  manifestName,
  manifestNumberOf,
  manifestPath,
  reachedDirectoryOf,
  STORE_REMEDY,
  storeError,
} from './store-files.js';

const pileSetName: Shape<string> = (value, place) => {
  const name = text(value, place);
  if (PILE_SET_NAME.test(name)) return name;
  throw damagedFileError(place.file, `${place.inside}: expected the name of a pile set`, place.remedy);
};

/** Pile sets that were added to the store together. */
const commitShape = object({
  name: checksumText,
  /** Number of the first manifest that has the commit: a former state has those of a later one up to its number. */
  since: wholeNumber(1),
  generation: text,
  /** Time of the generation, in milliseconds since 1970. */
  time: wholeNumber(),
  /** The keys of its records are derived from these and the seed. No two commits of a state share one. */
  inputIds: list(text),
  /** Format of the inputs, as `nameOfFormat` returns it; null: a program wrote the records one by one. */
  format: nullable(text),
  records: wholeNumber(),
  /** Bytes of the records. */
  bytes: wholeNumber(),
  /** Multiset checksum of the records. */
  checksum: checksumText,
  longestRecordBytes: wholeNumber(),
  pileSets: list(object({ name: pileSetName, diskBytes: wholeNumber() })),
});

const shape = object({
  storeId: checksumText,
  number: wholeNumber(1),
  /** Manifests below this number may be gone. */
  oldest: wholeNumber(1),
  /** The time when the manifest was made, in milliseconds since 1970. */
  time: wholeNumber(),
  commits: list(commitShape),
  /** Pile sets taken out of the store, and when; readers of former states may need them. */
  removed: list(object({ time: wholeNumber(), pileSets: list(pileSetName) })),
});

export type StoreCommit = ValueOf<typeof commitShape>;
export type StoreManifest = ValueOf<typeof shape>;

/** The commits of the state of this number that no later state removed. */
export function commitsUntil({ commits }: StoreManifest, number: number): StoreCommit[] {
  return commits.filter(({ since }) => since <= number);
}

export const manifestFormat = new SealedFormat({
  kind: 'store-manifest',
  version: 1,
  mostBytes: 2 ** 30,
  role: 'store',
  shape,
  remedy: STORE_REMEDY,
});

/** Returns the length of the longest record of all commits; 0 if there are none. */
export function longestRecordBytesOf(commits: readonly StoreCommit[]): number {
  return commits.reduce((most, commit) => Math.max(most, commit.longestRecordBytes), 0);
}

export function readStoreManifest(storeDirectory: string, number: number): StoreManifest | undefined {
  const path = manifestPath(storeDirectory, number);
  const manifest = manifestFormat.read(path);
  if (manifest === undefined) return undefined;
  if (manifest.number !== number) {
    throw damagedFileError(path, `number: expected ${number}, got ${manifest.number}`, STORE_REMEDY);
  }
  requireRemovedAreGone(manifest, path);
  return manifest;
}

/** Refuses a removed pile set that a commit still has: its files will be deleted. */
function requireRemovedAreGone({ commits, removed }: StoreManifest, path: string): void {
  const named = pileSetsOfCommits(commits);
  const both = removed.flatMap(({ pileSets }) => pileSets).find((name) => named.has(name));
  if (both === undefined) return;
  throw damagedFileError(path, `removed: expected no pile set that a commit has, got ${both}`, STORE_REMEDY);
}

/** Lists the numbers of manifests in ascending order. */
export function listManifests(storeDirectory: string): number[] {
  return listNames(manifestDirectoryOf(storeDirectory), 'store')
    .flatMap((name) => manifestNumberOf(name) ?? [])
    .sort((a, b) => a - b);
}

function pileSetsOfCommits(commits: readonly StoreCommit[]): ReadonlySet<string> {
  return new Set(commits.flatMap(({ pileSets }) => pileSets.map(({ name }) => name)));
}

/** The pile sets of a state, and those of former states whose files may still exist. */
export function pileSetsNamedBy({ commits, removed }: StoreManifest): ReadonlySet<string> {
  return new Set([...pileSetsOfCommits(commits), ...removed.flatMap(({ pileSets }) => pileSets)]);
}

/**
 * Notes durably that the store has reached this state, whose manifest is durable: by an empty file with its number. A
 * manifest can get lost, for example in a copy that was cut off. Without the note, the newest manifest that is left would
 * pass for the present state, and its number plus one would be used a second time.
 */
export async function recordReachedState(storeDirectory: string, number: number): Promise<void> {
  const directory = reachedDirectoryOf(storeDirectory);
  if (!nameExists(directory, 'store')) {
    ensureSharedDirectory(directory, 'store');
    await syncPath(storeDirectory, 'store');
  }
  const before = listReached(directory);
  if (before.every((other) => other < number)) ensureFile(join(directory, manifestName(number)), 'store');
  await syncPath(directory, 'store');
  // Only the highest number counts; the next change of the store tries again.
  for (const other of before)
    if (other < number) ifPossible(() => removeFile(join(directory, manifestName(other)), 'store'));
}

function listReached(directory: string): number[] {
  if (!nameExists(directory, 'store')) return [];
  return listNames(directory, 'store').flatMap((name) => manifestNumberOf(name) ?? []);
}

/** A listing may be older than the files: on a network file system, or when manifests come and go meanwhile. */
const MOST_LISTINGS = 8;
const PAUSE_MILLISECONDS = 10;

/** The present state is the newest manifest, unless a newer one is lost. */
export interface NewestManifest {
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
      throw storeError(`${storeDirectory} is not a pile store: it has no manifest; restore it from a copy`);
    }
    const isLast = listing === MOST_LISTINGS;
    const number = isLast ? listed : Math.max(listed, reached);
    const manifest = readStoreManifest(storeDirectory, number);
    if (manifest !== undefined) return { manifest, lostState: number < reached ? reached : undefined };
    // If it was deleted, there is a newer one.
    if (isLast) throw vanishedManifestError(storeDirectory, number);
    blockFor(PAUSE_MILLISECONDS);
  }
}

/** Refuses a store whose present state is lost. */
export function readNewestManifest(storeDirectory: string): StoreManifest {
  return requirePresent(findNewestManifest(storeDirectory), storeDirectory);
}

/**
 * Reads the manifests of all former states that the store must still have.
 * @throws VerificationError for the first that is damaged or gone.
 */
export async function verifyFormerManifests(
  storeDirectory: string,
  { number, oldest, storeId }: StoreManifest,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let former = oldest; former < number; former++) {
    await yieldAndCheckAbortAt(former, signal);
    const manifest = readStoreManifest(storeDirectory, former);
    const path = manifestPath(storeDirectory, former);
    if (manifest !== undefined) {
      if (manifest.storeId !== storeId)
        throw new VerificationError(`${path} belongs to another store; ${STORE_REMEDY}`);
    } else if (former >= readNewestManifest(storeDirectory).oldest)
      throw new VerificationError(
        `${path} is gone, and the store must have every manifest from ${oldest} on, for readers of its former states; restore it from a copy`,
      );
  }
}

/** The path of the note that the store has reached this state; undefined: the note, or one of a later state, is there. */
export function missingReachedNote(storeDirectory: string, number: number): string | undefined {
  const directory = reachedDirectoryOf(storeDirectory);
  return Math.max(0, ...listReached(directory)) < number ? join(directory, manifestName(number)) : undefined;
}

/** @param what is known of the lost state, for the message. */
export function requirePresent(
  { manifest, lostState }: NewestManifest,
  storeDirectory: string,
  what = '',
): StoreManifest {
  if (lostState === undefined) return manifest;
  const path = manifestPath(storeDirectory, lostState);
  throw new VerificationError(
    `the pile store ${storeDirectory} was at state ${lostState}, but ${path} is gone and the newest manifest is that of state ${manifest.number}${what}; restore the manifest from a copy, or give \`giveUpLost\` to \`collectStore\` to continue from state ${manifest.number}`,
  );
}

function vanishedManifestError(storeDirectory: string, number: number): SystemError {
  const path = manifestPath(storeDirectory, number);
  return new SystemError(
    'ERR_IO',
    `${path} is listed and cannot be found, ${MOST_LISTINGS} times in a row; check the file system, then try again`,
  );
}
