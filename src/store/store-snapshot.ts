/**
 * A store as it was at one moment: what its readers work on, whatever is appended or expired meanwhile.
 */
import { UsageError, VerificationError } from '../errors.js';
import { realPathOf, statPath } from '../io/paths.js';
import type { GateNumber } from '../job-control.js';
import { indexFilePath, type PileSetLayout } from '../pile-sets/pile-layout.js';
import type { StoredPileSet } from '../pile-sets/pile-set-writer.js';
import { readManifest, readNewestManifest, type StoreManifest } from './manifest.js';
import { pileSetDirectoryOf } from './store-files.js';
import { requireStoreSettings, type StoreSettings } from './store-settings.js';

export interface StoreSnapshot {
  /** Absolute, without symbolic links. */
  readonly directory: string;
  readonly settings: StoreSettings;
  readonly manifest: StoreManifest;
}

/**
 * @param manifestNumber of a former state; undefined: the present one.
 * @throws UsageError ERR_STORE when it is no store, or does not have that state any more; VerificationError
 */
export function openSnapshot(path: string, manifestNumber?: number): StoreSnapshot {
  if (statPath(path, 'store')?.isDirectory() !== true) {
    const what = statPath(path, 'store') === undefined ? 'does not exist' : 'is not a directory';
    throw new UsageError(`the pile store ${path} ${what}; check the name`, 'ERR_STORE');
  }
  const directory = realPathOf(path, 'store');
  const settings = requireStoreSettings(directory);
  const manifest =
    manifestNumber === undefined ? readNewestManifest(directory) : readManifest(directory, manifestNumber);
  if (manifest === undefined) {
    throw new UsageError(
      `the pile store ${path} does not have its state ${manifestNumber} any more: it was expired; begin with the present one`,
      'ERR_STORE',
    );
  }
  if (manifest.storeId !== settings.id) {
    throw new VerificationError(`${path}: its manifest ${manifest.number} belongs to another store`);
  }
  return { directory, settings, manifest };
}

/** @param gate of the device that holds the store. */
export function layoutOf({ directory, settings }: StoreSnapshot, gate: GateNumber, rotates: boolean): PileSetLayout {
  const pileSetDirectory = pileSetDirectoryOf(directory);
  return {
    pileCount: settings.pileCount,
    stripeCount: 1,
    disks: [{ directory: pileSetDirectory, gate, rotates }],
    indexDirectory: pileSetDirectory,
    role: 'store',
  };
}

/** All pile sets, in an order that means nothing: records of equal keys are ordered by their bytes. */
export function pileSetsOf({ manifest }: StoreSnapshot, layout: PileSetLayout): StoredPileSet[] {
  return manifest.commits.flatMap(({ pileSets }) =>
    pileSets.map(({ name }) => ({ name, index: { path: indexFilePath(layout, name), role: 'store' as const } })),
  );
}
