/**
 * Private directories that one job at a time may use, held by a lock (job-lock.ts): directories of a known name, which
 * outlive a job that can be resumed, and temp directories of a name of their own, which do not. A temp directory whose lock
 * is left over belonged to a killed job; the next job there removes it. A task may run on another host or in another
 * container, where nobody can know whether it lives: its scratch directory also goes once nothing in it has changed for
 * a day.
 */
import { join } from 'node:path';
import { UsageError } from '../errors.js';
import { afterFailure, ifPossible, type Release, thenAlways } from '../floor/cleanup.js';
import {
  type DirectoryPurpose,
  makeOwnDirectory,
  makePrivateDirectory,
  removeContents,
  removeDirectory,
  removeIfEmpty,
  requirePrivate,
} from '../io/directories.js';
import { listNames, lstatPath, nameExists } from '../io/paths.js';
import { acquireJobLock, findJobHolder, type JobLock, looksLikeLock, requireUnlocked } from './job-lock.js';

/** The lock of a directory that is only read. */
const NO_LOCK: JobLock = { staleHolders: [], release() {} };

export class LockedDirectory {
  readonly path: string;
  readonly #readers: 'owner' | 'anyone';
  #lock: JobLock | undefined;

  /** @param readers the users who may look into it. */
  constructor(path: string, readers: 'owner' | 'anyone') {
    this.path = path;
    this.#readers = readers;
  }

  get isLocked(): boolean {
    return this.#lock !== undefined;
  }

  lockIfExists(): void {
    if (!nameExists(this.path, 'temp')) return;
    requirePrivate(this.path, this.#readers);
    this.#lock = acquireJobLock(this.path);
  }

  /** Checks the directory and changes nothing: others may lock it, and it is never removed. */
  checkIfExists(): void {
    if (!nameExists(this.path, 'temp')) return;
    requirePrivate(this.path, this.#readers);
    requireUnlocked(this.path);
    this.#lock = NO_LOCK;
  }

  /** Makes and locks the directory, unless it is locked already. @returns whether it was made. */
  makeAndLock(purpose: DirectoryPurpose): boolean {
    if (this.isLocked) return false;
    if (!makeOwnDirectory(this.path, purpose)) {
      throw new UsageError(
        `another job of the same output began at the same time: ${this.path} exists; wait for it or stop it`,
        'ERR_JOB_LOCKED',
      );
    }
    try {
      this.#lock = acquireJobLock(this.path);
    } catch (error) {
      removeIfEmpty(this.path);
      throw error;
    }
    return true;
  }

  /** Releases the lock, and removes the directory if it is empty. A second call does nothing. */
  release(leavesEmpty = false): void {
    const lock = this.#lock;
    if (lock === undefined) return;
    this.#lock = undefined;
    lock.release();
    if (!leavesEmpty && lock !== NO_LOCK) removeIfEmpty(this.path);
  }
}

const TEMP_NAME_START = '.pileshuf-';
const SCRATCH_NAME_START = '.pileshuf-task-';
const TEMP_NAME = /^\.pileshuf-(?<task>task-)?[A-Za-z0-9]{6}$/;
const HOUR_MILLISECONDS = 3_600_000;
const SCRATCH_MILLISECONDS = 24 * HOUR_MILLISECONDS;

/** @param releases gets the removal of the directory. */
export function makePrivateTempDirectory(parent: string, releases: Release[]): string {
  return makeTempDirectory(parent, TEMP_NAME_START, releases);
}

/** Makes a directory for a task of several machines, which may be killed where nobody can see that. */
export function makeScratchDirectory(parent: string, releases: Release[]): string {
  return makeTempDirectory(parent, SCRATCH_NAME_START, releases);
}

function makeTempDirectory(parent: string, nameStart: string, releases: Release[]): string {
  const directory = makePrivateDirectory(parent, nameStart, 'temp');
  const lock = lockNewDirectory(directory);
  const release = () => {
    lock.release();
    removeIfEmpty(directory);
  };
  releases.push(() => thenAlways(() => removeContents(directory, looksLikeLock), release));
  return directory;
}

function lockNewDirectory(directory: string): JobLock {
  try {
    return acquireJobLock(directory);
  } catch (error) {
    throw afterFailure(error, () => removeIfEmpty(directory));
  }
}

/**
 * Removes from `parent` the temp directories of this user whose jobs were killed. A directory that cannot be judged or
 * removed stays: it must not stop the job that begins.
 */
export function removeStaleTempDirectories(parent: string): void {
  ifPossible(() => {
    for (const name of listNames(parent, 'temp')) {
      const match = TEMP_NAME.exec(name);
      if (match !== null) ifPossible(() => removeIfStale(join(parent, name), match.groups?.['task'] !== undefined));
    }
  });
}

/**
 * The lock is removed last: without it, what a kill leaves would look like the directory of a job that has just begun.
 */
function removeIfStale(directory: string, isOfTask: boolean): void {
  requirePrivate(directory);
  const isLocked = listNames(directory, 'temp').some(looksLikeLock);
  const holder = isLocked ? findJobHolder(directory) : undefined;
  const isOld = isOfTask && holder?.state !== 'live' && isUnchangedFor(SCRATCH_MILLISECONDS, directory);
  if (isOld || (isLocked && holder === undefined)) {
    removeContents(directory, looksLikeLock);
    removeDirectory(directory);
  }
  if (isOld || isLocked) return;
  // A directory without a lock may have been made a moment ago.
  const madeAt = Number(lstatPath(directory, 'temp')?.mtimeMs ?? Number.POSITIVE_INFINITY);
  if (madeAt < Date.now() - HOUR_MILLISECONDS) removeIfEmpty(directory);
}

function isUnchangedFor(milliseconds: number, directory: string): boolean {
  const paths = [directory, ...listNames(directory, 'temp').map((name) => join(directory, name))];
  const since = Date.now() - milliseconds;
  return paths.every((path) => Number(lstatPath(path, 'temp')?.mtimeMs ?? 0) < since);
}
