/**
 * Why a pile set of a snapshot cannot be read any more: it may have been expired, and deleted when the grace was over,
 * while somebody still read the snapshot.
 */
import { addCleanupErrors, PileshufError, UsageError } from '../errors.js';
import { UNGATED } from '../io/job-control.js';
import { statPath } from '../io/paths.js';
import { indexFilePath } from '../pile-store/store-layout.js';
import { readNewestManifest } from './manifest.js';
import { layoutOf, type StoreSnapshot } from './store-snapshot.js';

/**
 * What to throw in place of `error`, which ended the reading of a pile set: that it was expired and deleted, when it was;
 * else the error.
 * @param pileSetName undefined: the one that the error names, if any.
 */
export function explainedByExpiry(error: unknown, snapshot: StoreSnapshot, pileSetName?: string): unknown {
  if (!(error instanceof PileshufError) || error.kind === 'aborted') return error;
  const name = pileSetName ?? error.pileSetName;
  if (name === undefined || isKept(snapshot, name)) return error;
  const { directory, manifest } = snapshot;
  const explained = new UsageError(
    `what the pile store ${directory} had in its state ${manifest.number} was expired and deleted while it was read; begin with the present state, and give pileshuf gc a longer \`graceMilliseconds\``,
    'ERR_STORE',
  );
  addCleanupErrors(explained, error.cleanupErrors);
  return explained;
}

/** Reads of a pile set, and explains what they throw. */
export function explainingExpiry<T>(snapshot: StoreSnapshot, pileSetName: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw explainedByExpiry(error, snapshot, pileSetName);
  }
}

/** Whether the store still has the pile set, or has taken it out and not begun to delete it. */
function isKept(snapshot: StoreSnapshot, name: string): boolean {
  try {
    const { commits, removed } = readNewestManifest(snapshot.directory);
    if (commits.some(({ pileSets }) => pileSets.some((pileSet) => pileSet.name === name))) return true;
    if (!removed.some(({ pileSets }) => pileSets.includes(name))) return false;
    // It is struck out there when its files are gone, of which the index goes first.
    return statPath(indexFilePath(layoutOf(snapshot, UNGATED, false), name), 'store') !== undefined;
  } catch {
    // What is wrong with the store is told by the error that is to be explained.
    return true;
  }
}
