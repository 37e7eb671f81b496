/**
 * The state of a store: which commits it is made of. Manifests are numbered and never change; the one with the highest
 * number is the state. A new state is a new number, which `link` gives to one file only, so of two that were made from
 * the same state one is refused and made again from the other: no commit is ever lost.
 *
 * A number that was given once must never be given again, though old manifests are deleted: `oldest` says below which
 * numbers they may be gone. Whoever commits looks again afterwards, and takes its manifest back when by then the state
 * says that its number was one of those (commit-manifest.ts).
 */
import { join } from 'node:path';
import { UsageError } from '../errors.js';
import {
  checksumText,
  list,
  nullable,
  object,
  readShape,
  type Shape,
  text,
  type ValueOf,
  wholeNumber,
} from '../io/json-shape.js';
import { listNames } from '../io/paths.js';
import { damagedFile, seal, unseal } from '../io/sealed-file.js';
import { readSmallFile } from '../io/small-file.js';
import { PILE_SET_NAME } from '../pile-sets/pile-set-index.js';
import { manifestDirectoryOf, nameOfManifest, numberOfManifest, STORE_REMEDY } from './store-files.js';

const KIND = 'store-manifest';
const VERSION = 1;
const MOST_BYTES = 2 ** 30;

const pileSetName: Shape<string> = (value, place) => {
  const name = text(value, place);
  if (PILE_SET_NAME.test(name)) return name;
  throw damagedFile(place.file, `${place.inside}: expected the name of a pile set`, place.remedy);
};

/** Pile sets that became part of the store together. */
const commitShape = object({
  /** Unlike that of any other commit. */
  name: checksumText,
  /** Number of the first manifest that has it: a former state is those of a later one that are no younger than it. */
  since: wholeNumber(1),
  generation: text,
  /** Of the generation, in milliseconds since 1970. */
  time: wholeNumber(),
  /** What the keys of its records are derived from, with the seed. No two commits of a state have the same. */
  inputIds: list(text),
  /** How its records were told apart, as `nameOfFormat`; null: by the program that wrote them. */
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
  /** When it was made, in milliseconds since 1970. */
  time: wholeNumber(),
  commits: list(commitShape),
  /** Pile sets that are no part of the store any more, and when that was; readers of former states may need them. */
  removed: list(object({ time: wholeNumber(), pileSets: list(pileSetName) })),
});

export type StoreCommit = ValueOf<typeof commitShape>;
export type StoreManifest = ValueOf<typeof shape>;

/** Those of the state of this number, so far as no later one removed them. */
export function commitsUntil({ commits }: StoreManifest, number: number): StoreCommit[] {
  return commits.filter(({ since }) => since <= number);
}

export function encodeManifest(manifest: StoreManifest): Uint8Array {
  return seal(KIND, VERSION, manifest);
}

/** Undefined when there is none of that number. @throws VerificationError, UsageError ERR_STORE_VERSION */
export function readManifest(storeDirectory: string, number: number): StoreManifest | undefined {
  const path = join(manifestDirectoryOf(storeDirectory), nameOfManifest(number));
  const bytes = readSmallFile(path, 'store', MOST_BYTES);
  if (bytes === undefined) return undefined;
  const manifest = readShape(shape, unseal(bytes, KIND, VERSION, path, STORE_REMEDY), path, STORE_REMEDY);
  if (manifest.number !== number) {
    throw damagedFile(path, `number: expected ${number}, got ${manifest.number}`, STORE_REMEDY);
  }
  requireRemovedAreGone(manifest, path);
  return manifest;
}

/** What is removed will be deleted. */
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

/** The state of the store. @throws UsageError ERR_STORE when it has none. */
export function readNewestManifest(storeDirectory: string): StoreManifest {
  for (;;) {
    const newest = listManifests(storeDirectory).at(-1);
    if (newest === undefined) {
      throw new UsageError(
        `${storeDirectory} is no pile store: it has no manifest; restore it from a copy`,
        'ERR_STORE',
      );
    }
    const manifest = readManifest(storeDirectory, newest);
    // It is gone: then there is a newer one.
    if (manifest !== undefined) return manifest;
  }
}

function pileSetsOfCommits(commits: readonly StoreCommit[]): ReadonlySet<string> {
  return new Set(commits.flatMap(({ pileSets }) => pileSets.map(({ name }) => name)));
}

/** The pile sets of a state, those that former states had and whose files may still be there included. */
export function pileSetsNamedBy({ commits, removed }: StoreManifest): ReadonlySet<string> {
  return new Set([...pileSetsOfCommits(commits), ...removed.flatMap(({ pileSets }) => pileSets)]);
}
