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
import { checksumText, list, nullable, object, type Shape, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames } from '../io/paths.js';
import { damagedFile } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { PILE_SET_NAME } from '../pile-sets/pile-set-index.js';
import { manifestDirectoryOf, nameOfManifest, numberOfManifest, STORE_REMEDY } from './store-files.js';

const pileSetName: Shape<string> = (value, place) => {
  const name = text(value, place);
  if (PILE_SET_NAME.test(name)) return name;
  throw damagedFile(place.file, `${place.inside}: expected the name of a pile set`, place.remedy);
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
  /** When the manifest was made, in milliseconds since 1970. */
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

const format = new SealedFormat({
  kind: 'store-manifest',
  version: 1,
  mostBytes: 2 ** 30,
  role: 'store',
  shape,
  remedy: STORE_REMEDY,
});

/** 0 if there are no commits. */
export function longestRecordBytesOf(commits: readonly StoreCommit[]): number {
  return commits.reduce((most, commit) => Math.max(most, commit.longestRecordBytes), 0);
}

export function encodeManifest(manifest: StoreManifest): Uint8Array {
  return format.seal(manifest);
}

export function readStoreManifest(storeDirectory: string, number: number): StoreManifest | undefined {
  const path = join(manifestDirectoryOf(storeDirectory), nameOfManifest(number));
  const manifest = format.read(path);
  if (manifest === undefined) return undefined;
  if (manifest.number !== number) {
    throw damagedFile(path, `number: expected ${number}, got ${manifest.number}`, STORE_REMEDY);
  }
  requireRemovedAreGone(manifest, path);
  return manifest;
}

/** Refuses a removed pile set that a commit still has: its files will be deleted. */
function requireRemovedAreGone({ commits, removed }: StoreManifest, path: string): void {
  const named = pileSetsOfCommits(commits);
  const both = removed.flatMap(({ pileSets }) => pileSets).find((name) => named.has(name));
  if (both === undefined) return;
  throw damagedFile(path, `removed: expected no pile set that a commit has, got ${both}`, STORE_REMEDY);
}

/** In ascending order. */
export function listManifests(storeDirectory: string): number[] {
  return listNames(manifestDirectoryOf(storeDirectory), 'store')
    .flatMap((name) => numberOfManifest(name) ?? [])
    .sort((a, b) => a - b);
}

function pileSetsOfCommits(commits: readonly StoreCommit[]): ReadonlySet<string> {
  return new Set(commits.flatMap(({ pileSets }) => pileSets.map(({ name }) => name)));
}

/** The pile sets of a state, and those of former states whose files may still exist. */
export function pileSetsNamedBy({ commits, removed }: StoreManifest): ReadonlySet<string> {
  return new Set([...pileSetsOfCommits(commits), ...removed.flatMap(({ pileSets }) => pileSets)]);
}
