/**
 * A private directory that one job at a time may use, as this job holds it.
 */
import { UsageError } from '../errors.js';
import { type DirectoryPurpose, makeOwnDirectory, removeIfEmpty, requirePrivate } from '../io/directories.js';
import { nameExists } from '../io/paths.js';
import { acquireJobLock, type JobLock } from './job-lock.js';

export class HeldDirectory {
  readonly path: string;
  readonly #readers: 'owner' | 'anyone';
  #lock: JobLock | undefined;

  /** @param readers who may look into it. */
  constructor(path: string, readers: 'owner' | 'anyone') {
    this.path = path;
    this.#readers = readers;
  }

  get isHeld(): boolean {
    return this.#lock !== undefined;
  }

  /**
   * Takes hold of it when it is there.
   * @throws UsageError ERR_JOB_LOCKED when another job holds it; SystemError ERR_TEMP_DIR when others than
   *   this user could have put something into it.
   */
  holdIfThere(): void {
    if (!nameExists(this.path, 'temp')) return;
    requirePrivate(this.path, this.#readers);
    this.#lock = acquireJobLock(this.path);
  }

  /** Makes it, and takes hold of it, unless it is held. @returns whether it was made. @throws UsageError ERR_JOB_LOCKED */
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

  /** Lets go of it, and removes it when nothing is in it. Safe to call twice. */
  release(staysWhenEmpty = false): void {
    const lock = this.#lock;
    if (lock === undefined) return;
    this.#lock = undefined;
    lock.release();
    if (!staysWhenEmpty) removeIfEmpty(this.path);
  }
}
