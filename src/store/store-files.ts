/**
 * The files in the directory of a pile store, and its settings, which are decided when the store is made and never change:
 *
 *     store                     the settings: seed, number of piles
 *     manifests/000000000012    the pile sets of a state of the store; the highest number is the present state  store-manifest.ts
 *     reached/000000000012      the highest state that the store has reached, an empty file                             store-manifest.ts
 *     pile-sets/NAME.index      a pile set (../piles)
 *     pile-sets/NAME.0.pile
 *     pile-sets/writing+...     the maker of pile sets that are not part of the store yet                       store-attempt.ts
 */
import { join } from 'node:path';
import { UsageError } from '../errors.js';
import { isAttemptName } from '../io/atomic-files.js';
import { checksumText, object, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { STORE_SETTINGS_NAME } from '../io/own-files.js';
import { listNames, statPath } from '../io/paths.js';
import type { Remedy } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { MOST_PILES } from '../piles/pile-layout.js';

const MANIFESTS_NAME = 'manifests';
const REACHED_NAME = 'reached';
const PILE_SETS_NAME = 'pile-sets';

export function manifestDirectoryOf(storeDirectory: string): string {
  return join(storeDirectory, MANIFESTS_NAME);
}

export function reachedDirectoryOf(storeDirectory: string): string {
  return join(storeDirectory, REACHED_NAME);
}

export function pileSetDirectoryOf(storeDirectory: string): string {
  return join(storeDirectory, PILE_SETS_NAME);
}

/** Yields the files of a store. `identity` tells the device and the inode. */
export function* filesOfStore(storeDirectory: string): Generator<{ readonly path: string; readonly identity: string }> {
  for (const directory of [storeDirectory, manifestDirectoryOf(storeDirectory), pileSetDirectoryOf(storeDirectory)]) {
    for (const name of listNames(directory, 'store')) {
      const path = join(directory, name);
      const stat = statPath(path, 'store');
      if (stat?.isFile() === true) yield { path, identity: `${stat.dev}:${stat.ino}` };
    }
  }
}

const NAMES: ReadonlySet<string> = new Set([STORE_SETTINGS_NAME, MANIFESTS_NAME, REACHED_NAME, PILE_SETS_NAME]);

/** Returns whether the directory of a store holds such a name, also while the store is being made. */
export function isNameInStore(name: string): boolean {
  return NAMES.has(name) || isAttemptName(name);
}

export function manifestPath(storeDirectory: string, number: number): string {
  return join(manifestDirectoryOf(storeDirectory), manifestName(number));
}

const MANIFEST_NAME = /^\d{12}$/;

export function manifestName(number: number): string {
  return String(number).padStart(12, '0');
}

/** Returns the number in the name of a manifest. Undefined for other names. */
export function manifestNumberOf(name: string): number | undefined {
  return MANIFEST_NAME.test(name) ? Number(name) : undefined;
}

export const STORE_REMEDY: Remedy = {
  ifDamaged: 'check the disk, and restore the store from a copy',
  ifOtherVersion: 'use that version for this store',
  otherVersionCode: 'ERR_STORE_VERSION',
};

export function storeError(message: string): UsageError {
  return new UsageError(message, 'ERR_STORE');
}

const shape = object({
  /** 16 hex digits, different in each store. */
  id: checksumText,
  /** The keys of all records are derived from it. */
  seed: text,
  pileCount: wholeNumber(1, MOST_PILES),
});

export type StoreSettings = ValueOf<typeof shape>;

export const settingsFormat = new SealedFormat({
  kind: 'store',
  version: 1,
  mostBytes: 2 ** 20,
  role: 'store',
  shape,
  remedy: STORE_REMEDY,
});

/** Reads the settings of a store. Undefined when the directory is not one, or does not exist. */
export function readStoreSettings(storeDirectory: string): StoreSettings | undefined {
  return settingsFormat.read(join(storeDirectory, STORE_SETTINGS_NAME));
}

export function requireStoreSettings(storeDirectory: string): StoreSettings {
  const settings = readStoreSettings(storeDirectory);
  if (settings !== undefined) return settings;
  throw storeError(
    `${storeDirectory} is not a pile store: there is no ${join(storeDirectory, STORE_SETTINGS_NAME)}; name a pile store, or make one with pileshuf pile or pileshuf append`,
  );
}
