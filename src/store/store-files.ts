/**
 * What lies in the directory of a pile store:
 *
 *     store                     what never changes: seed, number of piles       store-settings.ts
 *     manifests/000000000012    which pile sets the store is made of, numbered; the last one counts  manifest.ts
 *     pile-sets/NAME.index      a pile set, as ../pile-store writes it
 *     pile-sets/NAME.0.pile
 *     pile-sets/writing+...     who writes pile sets that are not part of the store yet     attempt.ts
 */
import { join } from 'node:path';
import type { Remedy } from '../io/sealed-file.js';
import { isNameOfAttempt } from '../io/small-file.js';

export const SETTINGS_NAME = 'store';
const MANIFESTS_NAME = 'manifests';
const PILE_SETS_NAME = 'pile-sets';

export function manifestDirectoryOf(storeDirectory: string): string {
  return join(storeDirectory, MANIFESTS_NAME);
}

export function pileSetDirectoryOf(storeDirectory: string): string {
  return join(storeDirectory, PILE_SETS_NAME);
}

/** Whether a store has something of this name in its directory, when it is done or while it is made. */
export function isNameInStore(name: string): boolean {
  return name === SETTINGS_NAME || name === MANIFESTS_NAME || name === PILE_SETS_NAME || isNameOfAttempt(name);
}

const MANIFEST_NAME = /^\d{12}$/;

export function nameOfManifest(number: number): string {
  return String(number).padStart(12, '0');
}

/** Undefined for other names. */
export function numberOfManifest(name: string): number | undefined {
  return MANIFEST_NAME.test(name) ? Number(name) : undefined;
}

export const STORE_REMEDY: Remedy = {
  ifDamaged: 'check the disk, and restore the store from a copy',
  ifOtherVersion: 'use that version for this store',
  otherVersionCode: 'ERR_STORE_VERSION',
};
