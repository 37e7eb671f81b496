/**
 * Deletes what a store no longer needs: pile sets that were removed from it, files of attempts that did not end with a
 * commit, and old manifests.
 *
 * It first writes into a manifest that it gives the pile sets up, deletes them, and then strikes them out there. An attempt
 * whose owner cannot be seen from here may still run: when it commits, it finds in the state that its pile sets are given
 * up or gone (`commitToStore`). If the collector is killed in the middle, the next one does the rest.
 *
 * It judges the owners of attempts before it reads the manifest. An attempt that had ended by then commits no more: those
 * of its pile sets that the manifest does not name are left over. An attempt without a mark has ended with a commit
 * (`store-attempt.ts`): what the manifest does not name then belongs to a lost state, and is left alone.
 */
import { join } from 'node:path';
import { AbortError } from '../errors.js';
import { UNGATED } from '../floor/job-control.js';
import { yieldAndCheckAbort, yieldAndCheckAbortAt } from '../floor/pause.js';
import { isAttemptName } from '../io/atomic-files.js';
import { removeFile } from '../io/files.js';
import { listNames, statPath } from '../io/paths.js';
import { syncPath } from '../io/rename-and-sync.js';
import { pileSetFiles } from '../piles/pile-layout.js';
import { commitManifest } from './commit-manifest.js';
import {
  type FoundAttempt,
  listAttempts,
  summarizeUnowned,
  type UnownedPileSets,
  unownedAmong,
} from './store-attempt.js';
import { manifestDirectoryOf, manifestPath, pileSetDirectoryOf } from './store-files.js';
import {
  findNewestManifest,
  listManifests,
  pileSetsNamedBy,
  readNewestManifest,
  requirePresent,
  type StoreManifest,
} from './store-manifest.js';
import { layoutOf, type StoreSnapshot } from './store-snapshot.js';

/** Readers of a former state may need what was removed; attempts that cannot be judged may still be running. */
export const DEFAULT_GRACE_MILLISECONDS = 24 * 3600 * 1000;
/** The time after which whoever makes a manifest or the settings has made it. */
const ATTEMPT_MILLISECONDS = 3600 * 1000;

export interface CollectedGarbage {
  readonly pileSets: number;
  /** Bytes of their files. */
  readonly bytes: number;
  readonly manifests: number;
  /** The pile sets that are left alone because a lost manifest may have named them. */
  readonly unowned: UnownedPileSets;
}

/**
 * @param snapshot of the store, however old.
 * @param graceMilliseconds how long removed pile sets stay, and attempts that cannot be judged.
 * @param giveUpLost whether the store continues from its newest manifest if that of a later state is lost, and pile sets that
 *   belong to no state and to no writer are deleted.
 */
export async function collectGarbage(
  snapshot: StoreSnapshot,
  graceMilliseconds = DEFAULT_GRACE_MILLISECONDS,
  signal?: AbortSignal,
  giveUpLost = false,
): Promise<CollectedGarbage> {
  try {
    return await collect(snapshot, Date.now() - graceMilliseconds, signal, giveUpLost);
  } catch (error) {
    throw error instanceof AbortError ? new AbortError(error.cause, 'garbage') : error;
  }
}

async function collect(
  snapshot: StoreSnapshot,
  before: number,
  signal: AbortSignal | undefined,
  giveUpLost: boolean,
): Promise<CollectedGarbage> {
  const { directory } = snapshot;
  const pileSetDirectory = pileSetDirectoryOf(directory);
  const attempts = await listAttempts(pileSetDirectory, signal);
  const newest = findNewestManifest(directory);
  const named = pileSetsNamedBy(giveUpLost ? newest.manifest : requirePresent(newest, directory));
  const leftOver: FoundAttempt[] = [];
  for (const [i, attempt] of attempts.entries()) {
    await yieldAndCheckAbortAt(i, signal);
    if (isLeftOver(attempt, named, before)) leftOver.push(attempt);
  }
  const unowned = unownedAmong(attempts, named);
  const ofLeftOver = leftOver.flatMap(({ files }) => [...files.keys()]);
  const deleted = await markForDeletion(
    snapshot,
    giveUpLost ? [...ofLeftOver, ...unowned.keys()] : ofLeftOver,
    before,
    giveUpLost,
  );
  let bytes = 0;
  for (const name of deleted) {
    await yieldAndCheckAbort(signal);
    bytes += deletePileSet(snapshot, name);
  }
  // A file that came back after a power failure would belong to nobody.
  if (deleted.length > 0) await syncPath(pileSetDirectory, 'store');
  for (const { mark } of leftOver) if (mark !== undefined) removeFile(mark, 'store');
  await recordDeletion(snapshot, new Set(deleted), before);
  const manifests = await deleteManifests(directory, signal);
  deleteAttemptsAtFiles(directory, Math.min(before, Date.now() - ATTEMPT_MILLISECONDS));
  return { pileSets: deleted.length, bytes, manifests, unowned: summarizeUnowned(giveUpLost ? new Map() : unowned) };
}

/** @param before files of unknown owners that were last written before then are left over. */
function isLeftOver({ files, mark, owner }: FoundAttempt, named: ReadonlySet<string>, before: number): boolean {
  if (owner !== 'unknowable') return owner === 'left over';
  const unnamed = [...files].flatMap(([pileSet, paths]) => (named.has(pileSet) ? [] : paths));
  return [...unnamed, ...(mark === undefined ? [] : [mark])].every((path) => modifiedMilliseconds(path) <= before);
}

/** 0 when the file is gone: then it is older than anything. */
function modifiedMilliseconds(path: string): number {
  return Number(statPath(path, 'store')?.mtimeMs ?? 0);
}

/**
 * Writes into a manifest that the store gives up those of these pile sets that it does not have.
 * @returns the pile sets to delete: these, and those that were removed long enough ago.
 */
async function markForDeletion(
  snapshot: StoreSnapshot,
  pileSets: readonly string[],
  before: number,
  giveUpLost: boolean,
): Promise<string[]> {
  let marked: readonly string[] = [];
  const change = (state: StoreManifest) => {
    const named = pileSetsNamedBy(state);
    marked = pileSets.filter((name) => !named.has(name));
    if (marked.length === 0) return undefined;
    return { removed: [...state.removed, { time: Date.now(), pileSets: marked }] };
  };
  const { removed } = await commitManifest(snapshot, change, giveUpLost);
  const old = removed.filter(({ time }) => time <= before).flatMap((entry) => entry.pileSets);
  return [...new Set([...marked, ...old])];
}

/** Returns the bytes that this frees. */
function deletePileSet(snapshot: StoreSnapshot, name: string): number {
  return pileSetFiles(layoutOf(snapshot, UNGATED, false), name).reduce((sum, path) => {
    const byteLength = Number(statPath(path, 'store')?.size ?? 0);
    return removeFile(path, 'store') ? sum + byteLength : sum;
  }, 0);
}

/** Writes into a manifest that these pile sets are deleted, and which manifests nobody needs any more. */
async function recordDeletion(snapshot: StoreSnapshot, deleted: ReadonlySet<string>, before: number): Promise<void> {
  await commitManifest(snapshot, (state) => {
    const removed = state.removed
      .map(({ time, pileSets }) => ({ time, pileSets: pileSets.filter((name) => !deleted.has(name)) }))
      .filter(({ pileSets }) => pileSets.length > 0);
    const oldest = oldestNeeded(snapshot.directory, state.oldest, before);
    // The manifest of the last collection alone is not worth another one.
    return deleted.size === 0 && oldest - state.oldest < 2 ? undefined : { removed, oldest };
  });
}

/** The last manifest that was made before then: whoever began to read later reads this one, or a later one. */
function oldestNeeded(storeDirectory: string, oldest: number, before: number): number {
  const isOldEnough = (number: number) => modifiedMilliseconds(manifestPath(storeDirectory, number)) <= before;
  return listManifests(storeDirectory).findLast((number) => number > oldest && isOldEnough(number)) ?? oldest;
}

async function deleteManifests(storeDirectory: string, signal: AbortSignal | undefined): Promise<number> {
  const { oldest } = readNewestManifest(storeDirectory);
  const old = listManifests(storeDirectory).filter((number) => number < oldest);
  for (const [i, number] of old.entries()) {
    await yieldAndCheckAbortAt(i, signal);
    removeFile(manifestPath(storeDirectory, number), 'store');
  }
  return old.length;
}

/** Deletes the remains of manifests and settings that were never finished. */
function deleteAttemptsAtFiles(storeDirectory: string, before: number): void {
  for (const directory of [storeDirectory, manifestDirectoryOf(storeDirectory)]) {
    for (const name of listNames(directory, 'store')) {
      const path = join(directory, name);
      if (isAttemptName(name) && modifiedMilliseconds(path) <= before) removeFile(path, 'store');
    }
  }
}
