/**
 * A store as it was at one moment: its readers work on that, whatever is appended or expired meanwhile. A pile set of a
 * snapshot may be expired, and deleted after the grace, while it is read; the reader's error then says so.
 */
import { addCleanupErrors, PileshufError, VerificationError } from '../errors.js';
import { type GateNumber, UNGATED } from '../floor/job-control.js';
import { realPathOf, statPath } from '../io/paths.js';
import type { DeviceGates } from '../machine/devices.js';
import { indexFilePath, type PileSetLayout } from '../piles/pile-layout.js';
import type { StoredPileSet } from '../piles/pile-set-writer.js';
import { pileSetDirectoryOf, requireStoreSettings, type StoreSettings, storeError } from './store-files.js';
import { findNewestManifest, readNewestManifest, readStoreManifest, type StoreManifest } from './store-manifest.js';

export interface StoreSnapshot {
  /** Absolute, without symbolic links. */
  readonly directory: string;
  readonly settings: StoreSettings;
  readonly manifest: StoreManifest;
}

/** @param manifestNumber of a former state; undefined: the present one. */
export function openSnapshot(path: string, manifestNumber?: number): StoreSnapshot {
  const { directory, settings } = findStore(path);
  const manifest =
    manifestNumber === undefined ? readNewestManifest(directory) : readStoreManifest(directory, manifestNumber);
  if (manifest === undefined) {
    throw storeError(
      `the pile store ${path} no longer has its state ${manifestNumber}: it was expired; start from its current state`,
    );
  }
  return snapshotOf(path, directory, settings, manifest);
}

/** Opens as `openSnapshot`, but also a store whose present state is lost: `requirePresent` refuses that. */
export function openEvenIfLost(path: string) {
  const { directory, settings } = findStore(path);
  const newest = findNewestManifest(directory);
  return { snapshot: snapshotOf(path, directory, settings, newest.manifest), newest };
}

function findStore(path: string): Pick<StoreSnapshot, 'directory' | 'settings'> {
  const stat = statPath(path, 'store');
  if (stat?.isDirectory() !== true) {
    const what = stat === undefined ? 'does not exist' : 'is not a directory';
    throw storeError(`the pile store ${path} ${what}; check the name`);
  }
  const directory = realPathOf(path, 'store');
  return { directory, settings: requireStoreSettings(directory) };
}

function snapshotOf(path: string, directory: string, settings: StoreSettings, manifest: StoreManifest): StoreSnapshot {
  if (manifest.storeId !== settings.id) {
    throw new VerificationError(`${path}: its manifest ${manifest.number} belongs to another store`);
  }
  return { directory, settings, manifest };
}

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

/** @param isGated false: one thread does all, and makes one call at a time. */
export function layoutOnDevice(snapshot: StoreSnapshot, gates: DeviceGates, isGated = true): PileSetLayout {
  const place = pileSetDirectoryOf(snapshot.directory);
  const rotates = gates.deviceOf(place, 'store').deviceClass === 'rotating';
  return layoutOf(snapshot, isGated ? gates.gateOf(place, 'store') : UNGATED, rotates);
}

/** All pile sets, in any order: records of equal keys are ordered by their bytes. */
export function pileSetsOf(
  { manifest }: StoreSnapshot,
  layout: PileSetLayout,
): (StoredPileSet & { readonly diskBytes: number })[] {
  return manifest.commits.flatMap(({ pileSets }) =>
    pileSets.map(({ name, diskBytes }) => ({
      name,
      diskBytes,
      index: { path: indexFilePath(layout, name), role: 'store' as const },
    })),
  );
}

/**
 * The error to throw for one that ended the reading of a pile set: that the pile set was expired and deleted, if it was.
 * @param pileSetName undefined: the pile set that the error names, if any.
 */
export function explainedByExpiry(error: unknown, snapshot: StoreSnapshot, pileSetName?: string): unknown {
  if (!(error instanceof PileshufError) || error.kind === 'aborted') return error;
  const name = pileSetName ?? error.pileSetName;
  if (name === undefined || isStillStored(snapshot, name)) return error;
  const { directory, manifest } = snapshot;
  const explained = storeError(
    `records of state ${manifest.number} of the pile store ${directory} were expired and deleted while they were read; start anew, and give later garbage collections a longer \`graceMilliseconds\``,
  );
  addCleanupErrors(explained, error.cleanupErrors);
  return explained;
}

export function explainingExpiry<T>(snapshot: StoreSnapshot, pileSetName: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw explainedByExpiry(error, snapshot, pileSetName);
  }
}

/** Returns whether the store still has the pile set, or has taken it out but not begun to delete it. */
function isStillStored(snapshot: StoreSnapshot, name: string): boolean {
  try {
    const { commits, removed } = readNewestManifest(snapshot.directory);
    if (commits.some(({ pileSets }) => pileSets.some((pileSet) => pileSet.name === name))) return true;
    if (!removed.some(({ pileSets }) => pileSets.includes(name))) return false;
    // The manifest names it until its files are gone, and the index goes first.
    return statPath(indexFilePath(layoutOf(snapshot, UNGATED, false), name), 'store') !== undefined;
  } catch {
    // The error of the reader says what is wrong with the store.
    return true;
  }
}
