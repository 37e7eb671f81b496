/**
 * What is settled when a store is made and never changes, in the file `store`.
 */
import { join } from 'node:path';
import { UsageError } from '../errors.js';
import { checksumText, object, readShape, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { seal, unseal } from '../io/sealed-file.js';
import { readSmallFile } from '../io/small-file.js';
import { MOST_PILES } from '../pile-sets/pile-layout.js';
import { SETTINGS_NAME, STORE_REMEDY } from './store-files.js';

const KIND = 'store';
const VERSION = 1;
const MOST_BYTES = 2 ** 20;

const shape = object({
  /** 16 hex digits that no other store has. */
  id: checksumText,
  /** What the keys of all records are derived from. */
  seed: text,
  pileCount: wholeNumber(1, MOST_PILES),
});

export type StoreSettings = ValueOf<typeof shape>;

export function encodeStoreSettings(settings: StoreSettings): Uint8Array {
  return seal(KIND, VERSION, settings);
}

/**
 * Undefined when there are none: the directory is no store, or is not there.
 * @throws VerificationError, UsageError ERR_STORE_VERSION
 */
export function readStoreSettings(storeDirectory: string): StoreSettings | undefined {
  const path = join(storeDirectory, SETTINGS_NAME);
  const bytes = readSmallFile(path, 'store', MOST_BYTES);
  if (bytes === undefined) return undefined;
  return readShape(shape, unseal(bytes, KIND, VERSION, path, STORE_REMEDY), path, STORE_REMEDY);
}

/** @throws UsageError ERR_STORE when the directory is no store. */
export function requireStoreSettings(storeDirectory: string): StoreSettings {
  const settings = readStoreSettings(storeDirectory);
  if (settings !== undefined) return settings;
  throw new UsageError(
    `${storeDirectory} is no pile store: it has no file ${SETTINGS_NAME}; make one with pileshuf pile or pileshuf append`,
    'ERR_STORE',
  );
}
