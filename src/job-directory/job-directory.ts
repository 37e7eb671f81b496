/**
 * The directories of a job whose outputs lie on disk, held by this process: made, found again, cleared and
 * removed. `job-paths.ts` says what lies where.
 */
import { join } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import { syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { listNames, nameExists } from '../io/paths.js';
import {
  ensurePrivateDirectory,
  makeOwnDirectory,
  removeDirectory,
  removeIfEmpty,
  requirePrivate,
} from '../io/private-directory.js';
import { isNameOfAttempt } from '../io/small-file.js';
import { acquireJobLock, isLockName, type JobLock } from './job-lock.js';
import type { JobPaths } from './job-paths.js';
import { MANIFEST_NAME } from './manifest.js';

/** What a job writes into its job directory, beside locks and attempts. */
const OWN_NAME = /^(manifest|finished|done-\d{6,}|disk-\d+|[a-z0-9-]+\.index)$/;

export class JobDirectory {
  readonly paths: JobPaths;
  readonly #lock: JobLock;

  private constructor(paths: JobPaths) {
    this.paths = paths;
    this.#lock = acquireJobLock(paths.jobDirectory);
  }

  /**
   * Takes hold of the job directory when there is one.
   * @throws UsageError ERR_JOB_LOCKED when another process holds it; SystemError ERR_TEMP_DIR when it is
   *   no directory for this job alone.
   */
  static find(paths: JobPaths): JobDirectory | undefined {
    const { jobDirectory, isNamed } = paths;
    if (!nameExists(jobDirectory, 'temp')) return undefined;
    requirePrivate(jobDirectory, isNamed ? 'anyone' : 'owner');
    const foreign = listNames(jobDirectory, 'temp').find((name) => !isOwnName(name));
    if (foreign !== undefined) {
      throw new SystemError(
        'ERR_TEMP_DIR',
        `cannot use the directory ${jobDirectory}: it holds ${foreign}, which is not from a job; name one that is empty or does not exist`,
      );
    }
    return new JobDirectory(paths);
  }

  /** Makes one where there is none, and takes hold of it. @throws UsageError ERR_JOB_LOCKED */
  static make(paths: JobPaths): JobDirectory {
    if (makeOwnDirectory(paths.jobDirectory)) return new JobDirectory(paths);
    throw new UsageError(
      `another job of the same output began at the same time: ${paths.jobDirectory} exists; wait for it or stop it`,
      'ERR_JOB_LOCKED',
    );
  }

  /** Makes those of its directories that are missing, and refuses those that are not for it alone. */
  makeDirectories(): void {
    for (const directory of [...this.paths.dataDirectories, this.paths.stagingDirectory]) {
      ensurePrivateDirectory(directory);
    }
  }

  /** Whether something of a job is there besides the lock. */
  get isEmpty(): boolean {
    return listNames(this.paths.jobDirectory, 'temp').every(isLockName);
  }

  /** Removes all but the lock, the manifest first: what is left then is nobody's. */
  async clear(): Promise<void> {
    const { jobDirectory, dataDirectories } = this.paths;
    removeFile(join(jobDirectory, MANIFEST_NAME), 'temp');
    await syncDirectory(jobDirectory, 'temp');
    for (const directory of dataDirectories) removeDirectory(directory);
    for (const name of listNames(jobDirectory, 'temp')) {
      if (/^disk-\d+$/.test(name)) removeDirectory(join(jobDirectory, name));
      else if (!isLockName(name)) removeFile(join(jobDirectory, name), 'temp');
    }
  }

  /** Removes it with all that is in it, and lets go of it. */
  async remove(): Promise<void> {
    await this.clear();
    this.release();
    removeIfEmpty(this.paths.jobDirectory);
  }

  /** Lets go of it. Safe to call twice. */
  release(): void {
    this.#lock.release();
  }
}

function isOwnName(name: string): boolean {
  return OWN_NAME.test(name) || isLockName(name) || isNameOfAttempt(name);
}
