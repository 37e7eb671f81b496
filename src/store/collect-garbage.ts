/**
 * Deletes what a store does not need any more: pile sets that were removed from it, what attempts left that did not come
 * to their end, and old manifests.
 *
 * What is deleted is given up first, in a manifest that says so, and struck out there when it is gone. So an attempt
 * whose owner could not be seen from here, and that comes back, finds in the state that it commits on that its pile sets
 * are given up, or that they are gone (`commitToStore`). And whoever is killed in the middle leaves what the next one
 * goes on with.
 *
 * The owners of attempts are judged before the manifest is read: one that had ended by then will not commit any more, so
 * what the manifest does not name of it was left over.
 */
import { join } from 'node:path';
import { AbortedError } from '../errors.js';
import { removeFile } from '../io/files.js';
import { listNames, statPath } from '../io/paths.js';
import { isNameOfAttempt } from '../io/small-file.js';
import { UNGATED } from '../job-control.js';
import { identifyOwner, judgeOwnerAmongHosts, type OwnerState } from '../machine/file-owner.js';
import { hearSignals, hearSignalsAt } from '../pause.js';
import { pileSetFiles } from '../pile-sets/pile-layout.js';
import { ownerOfAttempt, pileSetOfFile } from './attempt.js';
import { commitManifest, type StateChange } from './commit-manifest.js';
import { listManifests, pileSetsNamedBy, readNewestManifest, type StoreManifest } from './manifest.js';
import { manifestDirectoryOf, nameOfManifest, pileSetDirectoryOf } from './store-files.js';
import { layoutOf, type StoreSnapshot } from './store-snapshot.js';

/** What was removed is kept for so long, for those who read a former state; what nobody can judge, too. */
export const DEFAULT_GRACE_MILLISECONDS = 24 * 3600 * 1000;
/** Whoever makes a manifest, or the settings, has made it by then. */
const ATTEMPT_MILLISECONDS = 3600 * 1000;

export interface CollectedGarbage {
  readonly pileSets: number;
  /** Bytes of their files. */
  readonly bytes: number;
  readonly manifests: number;
}

/**
 * @param snapshot of the store, however old.
 * @param graceMilliseconds how long what was removed is kept, and attempts that nobody can judge.
 * @throws AbortedError when the signal stops it.
 */
export async function collectGarbage(
  snapshot: StoreSnapshot,
  graceMilliseconds = DEFAULT_GRACE_MILLISECONDS,
  signal?: AbortSignal,
): Promise<CollectedGarbage> {
  try {
    return await collect(snapshot, Date.now() - graceMilliseconds, signal);
  } catch (error) {
    throw error instanceof AbortedError ? new AbortedError('garbage') : error;
  }
}

async function collect(
  snapshot: StoreSnapshot,
  before: number,
  signal: AbortSignal | undefined,
): Promise<CollectedGarbage> {
  const attempts = await listAttempts(pileSetDirectoryOf(snapshot.directory), signal);
  const named = pileSetsNamedBy(readNewestManifest(snapshot.directory));
  const leftOver: SeenAttempt[] = [];
  for (const [i, attempt] of attempts.entries()) {
    await hearSignalsAt(i, signal);
    if (isLeftOver(attempt, named, before)) leftOver.push(attempt);
  }
  const deleted = await giveUp(
    snapshot,
    leftOver.flatMap(({ files }) => [...files.keys()]),
    before,
  );
  let bytes = 0;
  for (const name of deleted) {
    await hearSignals(signal);
    bytes += deletePileSet(snapshot, name);
  }
  for (const { marks } of leftOver) for (const mark of marks) removeFile(mark, 'store');
  await strikeOut(snapshot, new Set(deleted), before);
  const manifests = await deleteManifests(snapshot.directory, signal);
  deleteAttemptsAtFiles(snapshot.directory, Math.min(before, Date.now() - ATTEMPT_MILLISECONDS));
  return { pileSets: deleted.length, bytes, manifests };
}

/** An attempt of which there are files. */
interface SeenAttempt {
  /** Of the pile sets that it made, by their names. */
  readonly files: Map<string, string[]>;
  /** Files that say who is at it. */
  readonly marks: string[];
  owner: OwnerState;
}

/** All attempts that left a file, those that were committed long ago included, which have no mark. */
async function listAttempts(directory: string, signal: AbortSignal | undefined): Promise<SeenAttempt[]> {
  const own = identifyOwner();
  const attempts = new Map<string, SeenAttempt>();
  const attemptOf = (name: string): SeenAttempt => {
    const attempt = attempts.get(name) ?? { files: new Map(), marks: [], owner: 'unknowable' };
    attempts.set(name, attempt);
    return attempt;
  };
  for (const [i, name] of listNames(directory, 'store').entries()) {
    await hearSignalsAt(i, signal);
    const file = pileSetOfFile(name);
    if (file === undefined) continue;
    const { files } = attemptOf(file.attempt);
    files.set(file.pileSet, [...(files.get(file.pileSet) ?? []), join(directory, name)]);
  }
  // Listed once more: a mark is made before the files that it stands for, so none that still counts is missed.
  for (const [i, name] of listNames(directory, 'store').entries()) {
    await hearSignalsAt(i, signal);
    const owner = ownerOfAttempt(name);
    if (owner === undefined) continue;
    const attempt = attemptOf(owner.token);
    attempt.marks.push(join(directory, name));
    attempt.owner = judgeOwnerAmongHosts(owner, own);
  }
  return [...attempts.values()];
}

/** @param before what was written then, by nobody knows whom, was left over. */
function isLeftOver({ files, marks, owner }: SeenAttempt, named: ReadonlySet<string>, before: number): boolean {
  if (owner !== 'unknowable') return owner === 'left over';
  const unnamed = [...files].flatMap(([pileSet, paths]) => (named.has(pileSet) ? [] : paths));
  return [...unnamed, ...marks].length > 0 && [...unnamed, ...marks].every((path) => changedAt(path) <= before);
}

/** When a file was last written to; one that is gone, long ago. */
function changedAt(path: string): number {
  return Number(statPath(path, 'store')?.mtimeMs ?? 0);
}

/**
 * Writes down that these pile sets are given up, those among them that the store does not have.
 * @returns what is to be deleted: they, and what was removed long enough ago.
 */
async function giveUp(snapshot: StoreSnapshot, pileSets: readonly string[], before: number): Promise<string[]> {
  let given: readonly string[] = [];
  const { removed } = await commitManifest(snapshot, (state) => {
    const named = pileSetsNamedBy(state);
    given = pileSets.filter((name) => !named.has(name));
    if (given.length === 0) return undefined;
    return { ...changeless(state), removed: [...state.removed, { time: Date.now(), pileSets: given }] };
  });
  const old = removed.filter(({ time }) => time <= before).flatMap((entry) => entry.pileSets);
  return [...new Set([...given, ...old])];
}

function changeless({ commits, removed, oldest }: StoreManifest): StateChange {
  return { commits, removed, oldest };
}

/** @returns bytes that are free now. */
function deletePileSet(snapshot: StoreSnapshot, name: string): number {
  return pileSetFiles(layoutOf(snapshot, UNGATED, false), name).reduce((sum, path) => {
    const byteLength = Number(statPath(path, 'store')?.size ?? 0);
    return removeFile(path, 'store') ? sum + byteLength : sum;
  }, 0);
}

/** Writes down that these pile sets are deleted, and which manifests nobody needs. */
async function strikeOut(snapshot: StoreSnapshot, deleted: ReadonlySet<string>, before: number): Promise<void> {
  await commitManifest(snapshot, (state) => {
    const removed = state.removed
      .map(({ time, pileSets }) => ({ time, pileSets: pileSets.filter((name) => !deleted.has(name)) }))
      .filter(({ pileSets }) => pileSets.length > 0);
    const oldest = oldestNeeded(snapshot.directory, state.oldest, before);
    // That of the last collection alone is not worth another one.
    return deleted.size === 0 && oldest - state.oldest < 2 ? undefined : { ...changeless(state), removed, oldest };
  });
}

/** The last manifest that was the state before then: whoever began to read later reads this one, or one after it. */
function oldestNeeded(storeDirectory: string, oldest: number, before: number): number {
  const isOldEnough = (number: number) =>
    changedAt(join(manifestDirectoryOf(storeDirectory), nameOfManifest(number))) <= before;
  return listManifests(storeDirectory).findLast((number) => number > oldest && isOldEnough(number)) ?? oldest;
}

/** @returns how many. */
async function deleteManifests(storeDirectory: string, signal: AbortSignal | undefined): Promise<number> {
  const { oldest } = readNewestManifest(storeDirectory);
  const old = listManifests(storeDirectory).filter((number) => number < oldest);
  for (const [i, number] of old.entries()) {
    await hearSignalsAt(i, signal);
    removeFile(join(manifestDirectoryOf(storeDirectory), nameOfManifest(number)), 'store');
  }
  return old.length;
}

/** What is left of manifests and settings that were not made. */
function deleteAttemptsAtFiles(storeDirectory: string, before: number): void {
  for (const directory of [storeDirectory, manifestDirectoryOf(storeDirectory)]) {
    for (const name of listNames(directory, 'store')) {
      const path = join(directory, name);
      if (isNameOfAttempt(name) && changedAt(path) <= before) removeFile(path, 'store');
    }
  }
}
