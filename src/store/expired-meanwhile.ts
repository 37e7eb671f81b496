/**
 * Why a pile set of a snapshot cannot be read any more: it may have been expired, and deleted when the grace was over,
 * while somebody still read the snapshot.
 */
import { PileshufError, UsageError } from '../errors.js';
import { pileSetsNamedBy, readNewestManifest } from './manifest.js';
import type { StoreSnapshot } from './store-snapshot.js';

/**
 * What to throw in place of `error`: that the pile set was expired, when the store does not name it any more; else the error.
 * @param pileSetName undefined: the one that the error names.
 */
export function explainedByExpiry(
  error: unknown,
  { directory, manifest }: StoreSnapshot,
  pileSetName?: string,
): unknown {
  const name = pileSetName ?? (error instanceof PileshufError ? error.pileSetName : undefined);
  if (name === undefined || isNamed(directory, name)) return error;
  return new UsageError(
    `what the pile store ${directory} had in its state ${manifest.number} was expired and deleted while it was read; begin with the present state, and give pileshuf gc a longer --grace`,
    'ERR_STORE',
  );
}

function isNamed(directory: string, name: string): boolean {
  try {
    return pileSetsNamedBy(readNewestManifest(directory)).has(name);
  } catch {
    // What is wrong with the store is told by the error that is to be explained.
    return true;
  }
}
