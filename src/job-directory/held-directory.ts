/**
 * Private directories that one job at a time may use, held by a lock (job-lock.ts): directories of a known name, which
 * outlive a job that can be resumed, and temp directories of a unique name, which do not. A temp directory whose lock is
 * left over belonged to a killed job; the next job there removes it.
 */
import { join } from 'node:path';
import { afterFailure, type Release, thenAlways } from '../cleanup.js';
import { PileshufError, UsageError } from '../errors.js';
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
import { acquireJobLock, findJobHolder, type JobLock, looksLikeLock, refuseHeld } from './job-lock.js';

/** Of a directory that is only looked at. */
const NO_LOCK: JobLock = { takenOver: [], release() {} };

export class HeldDirectory {
  readonly path: string;
  readonly #readers: 'owner' | 'anyone';
  #lock: JobLock | undefined;

  /** @param readers the users who may look into it. */
  constructor(path: string, readers: 'owner' | 'anyone') {
    this.path = path;
    this.#readers = readers;
  }

  get isHeld(): boolean {
    return this.#lock !== undefined;
  }

  /**
   * Takes hold of the directory if it exists.
   * @throws UsageError ERR_JOB_LOCKED when another job holds it; SystemError ERR_TEMP_DIR when another user could have
   *   put something into it.
   */
  holdIfThere(): void {
    if (!nameExists(this.path, 'temp')) return;
    requirePrivate(this.path, this.#readers);
    this.#lock = acquireJobLock(this.path);
  }

  /** The same for a look that changes nothing: nobody else is kept from the directory, and it never goes. */
  lookIfThere(): void {
    if (!nameExists(this.path, 'temp')) return;
    requirePrivate(this.path, this.#readers);
    refuseHeld(this.path);
    this.#lock = NO_LOCK;
  }

  /** Makes the directory and takes hold of it, unless it is held. @returns whether it was made. @throws UsageError ERR_JOB_LOCKED */
  makeIfMissing(purpose: DirectoryPurpose): boolean {
    if (this.isHeld) return false;
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

  /** Gives the directory up, and removes it when it is empty. A second call does nothing. */
  release(staysWhenEmpty = false): void {
    const lock = this.#lock;
    if (lock === undefined) return;
    this.#lock = undefined;
    lock.release();
    if (!staysWhenEmpty && lock !== NO_LOCK) removeIfEmpty(this.path);
  }
}

const TEMP_NAME_START = '.pileshuf-';
const HOUR_MILLISECONDS = 3_600_000;
const TEMP_NAME = /^\.pileshuf-[A-Za-z0-9]{6}$/;

/** Makes a temp directory of a unique name in `parent`. @param releases gets its removal. */
export function makePrivateTempDirectory(parent: string, releases: Release[]): string {
  const directory = makePrivateDirectory(parent, TEMP_NAME_START, 'temp');
  const lock = lockNew(directory);
  const release = () => {
    lock.release();
    removeIfEmpty(directory);
  };
  releases.push(() => thenAlways(() => removeContents(directory, looksLikeLock), release));
  return directory;
}

function lockNew(directory: string): JobLock {
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
export function removeLeftOverTempDirectories(parent: string): void {
  ifPossible(() => {
    for (const name of listNames(parent, 'temp')) {
      if (TEMP_NAME.test(name)) ifPossible(() => removeIfLeftOver(join(parent, name)));
    }
  });
}

/** The lock goes after all else: what a kill leaves is told from the directory of a job. */
function removeIfLeftOver(directory: string): void {
  requirePrivate(directory);
  if (listNames(directory, 'temp').some(looksLikeLock)) {
    if (findJobHolder(directory) !== undefined) return;
    removeContents(directory, looksLikeLock);
    removeDirectory(directory);
    return;
  }
  // One without a lock may have been made a moment ago.
  const madeAt = Number(lstatPath(directory, 'temp')?.mtimeMs ?? Number.POSITIVE_INFINITY);
  if (madeAt < Date.now() - HOUR_MILLISECONDS) removeIfEmpty(directory);
}

function ifPossible(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof PileshufError)) throw error;
  }
}
