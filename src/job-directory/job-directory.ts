/**
 * The directories of a job whose outputs lie on disk, held by this process: made, found again, cleared and
 * removed. `job-paths.ts` says what lies where.
 */
import { dirname, join } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import { syncDirectory } from '../io/durable.js';
import { createTempFile, removeFile, withFile, writeAt } from '../io/files.js';
import { listNames, lstatPath, nameExists } from '../io/paths.js';
import {
  ensurePrivateDirectory,
  makeOwnDirectory,
  removeDirectory,
  removeIfEmpty,
  requirePrivate,
} from '../io/private-directory.js';
import { isNameOfAttempt, readSmallFile } from '../io/small-file.js';
import { finishedRunNames } from './finished-runs.js';
import { acquireJobLock, type JobLock } from './job-lock.js';
import { ASIDE_NAME, JOURNAL_NAME, type JobPaths } from './job-paths.js';
import { looksLikeLock } from './lock-name.js';
import { MANIFEST_NAME } from './manifest.js';

/** In the staging directory: the path of the job directory. */
const OWNER_NAME = 'job';
const LONGEST_PATH_BYTES = 2 ** 16;
/** What a job writes into its job directory, beside locks and attempts. */
const OWN_NAME = /^(manifest|commit|done-\d{6,}|disk-\d+|[a-z0-9-]+\.index)$/;
/** A data directory in a job directory that the user named. */
const DATA_DIRECTORY_NAME = /^disk-\d+$/;
const DATA_FILE_NAME = /^[a-z0-9-]+\.\d+\.pile$/;

export class JobDirectory {
  readonly paths: JobPaths;
  readonly #lock: JobLock;
  /** Of what is found nothing is known. */
  #isDurable = true;
  #isKept = false;

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
    const foreign = findForeignName(jobDirectory);
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
    if (makeOwnDirectory(paths.jobDirectory, paths.isNamed ? 'job' : 'temp')) {
      try {
        return new JobDirectory(paths);
      } catch (error) {
        removeIfEmpty(paths.jobDirectory);
        throw error;
      }
    }
    throw new UsageError(
      `another job of the same output began at the same time: ${paths.jobDirectory} exists; wait for it or stop it`,
      'ERR_JOB_LOCKED',
    );
  }

  /**
   * Makes those of its directories that are missing, and refuses those that are not for it alone.
   * @param isDurable whether they, and their removal, are to survive a power failure.
   */
  async makeDirectories(isDurable: boolean): Promise<void> {
    this.#isDurable = isDurable;
    const { jobDirectory, dataDirectories, stagingDirectory } = this.paths;
    for (const directory of dataDirectories) ensurePrivateDirectory(directory, 'temp');
    ensurePrivateDirectory(stagingDirectory, 'output');
    noteStagingOwner(stagingDirectory, jobDirectory);
    if (!isDurable) return;
    // The job directory itself: what an earlier run put there may have got its name and not kept it yet.
    for (const named of new Set([
      jobDirectory,
      ...[jobDirectory, stagingDirectory, ...dataDirectories].map((path) => dirname(path)),
    ])) {
      await syncDirectory(named, 'temp');
    }
  }

  /** Says whether `end` is to leave everything where it is, for a run that goes on; at first it is not. */
  set isKept(isKept: boolean) {
    this.#isKept = isKept;
  }

  /** Removes all of it, unless it is to be kept, and lets go of it. */
  async end(): Promise<void> {
    try {
      if (!this.#isKept) await this.clear();
    } finally {
      this.release();
      if (!this.#isKept) removeIfEmpty(this.paths.jobDirectory);
    }
  }

  /**
   * Removes all but the directory itself and its lock, as much as can be removed. The manifest goes last, so
   * that a run that is killed here leaves what the next one knows how to remove.
   * @throws SystemError, or AggregateError for several, when something cannot be removed; or when a killed
   *   run left former shards there, which are nobody's to remove.
   */
  async clear(): Promise<void> {
    const { jobDirectory, dataDirectories, stagingDirectory } = this.paths;
    requireNoFormerFiles(stagingDirectory);
    const failures: unknown[] = [];
    const attempt = async (step: () => void | Promise<void>) => {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    };
    const remove = async (names: readonly string[]) => {
      for (const name of names) await attempt(() => void removeFile(join(jobDirectory, name), 'temp'));
    };
    const sync = async (directories: readonly string[]) => {
      for (const directory of this.#isDurable ? new Set(directories) : []) {
        await attempt(() => syncDirectory(directory, 'temp'));
      }
    };
    // Records of outputs that are no longer there would be believed. The last goes first: there is no gap.
    await remove(finishedRunNames(jobDirectory).reverse());
    await sync([jobDirectory]);
    const names = listNames(jobDirectory, 'temp').filter(isOwnName);
    // Also where an earlier run put its data in here, and this one would not.
    const dataDirectoriesInside = names.filter(isNameOfDataDirectory).map((name) => join(jobDirectory, name));
    const directories = new Set([stagingDirectory, ...dataDirectories, ...dataDirectoriesInside]);
    for (const directory of directories) await attempt(() => removeDirectory(directory));
    await sync([...directories].map((directory) => dirname(directory)));
    const last = [MANIFEST_NAME, JOURNAL_NAME];
    const isOther = (name: string) => !looksLikeLock(name) && !isNameOfDataDirectory(name) && !last.includes(name);
    await remove(names.filter(isOther));
    await remove(last);
    await sync([jobDirectory]);
    if (failures.length > 1) throw new AggregateError(failures);
    for (const failure of failures) throw failure;
  }

  /** Lets go of it. Safe to call twice. */
  release(): void {
    this.#lock.release();
  }
}

/** Whoever finds outputs staged, and no job directory where it looks for one, reads here where it is. */
function noteStagingOwner(stagingDirectory: string, jobDirectory: string): void {
  const path = join(stagingDirectory, OWNER_NAME);
  if (nameExists(path, 'output')) return;
  const bytes = Buffer.from(jobDirectory);
  withFile(createTempFile(path), (file) => writeAt(file, bytes, 0, bytes.byteLength, 0));
}

/** The job directory of the job that staged outputs there; undefined when it is not known. */
export function readStagingOwner(stagingDirectory: string): string | undefined {
  const bytes = readSmallFile(join(stagingDirectory, OWNER_NAME), 'output', LONGEST_PATH_BYTES);
  return bytes === undefined || bytes.byteLength === 0 ? undefined : Buffer.from(bytes).toString();
}

function requireNoFormerFiles(stagingDirectory: string): void {
  const aside = join(stagingDirectory, ASIDE_NAME);
  if (!nameExists(aside, 'output')) return;
  // Those with another name were put back.
  if (listNames(aside, 'output').every((name) => (lstatPath(join(aside, name), 'output')?.nlink ?? 2n) > 1n)) return;
  throw new SystemError(
    'ERR_IO',
    `${aside} holds files that a job had moved out of the way before it was killed; move them back or remove them`,
  );
}

/** Something that no job puts into its job directory, where a user may have named one that has another use. */
function findForeignName(jobDirectory: string): string | undefined {
  for (const name of listNames(jobDirectory, 'temp')) {
    if (!isOwnName(name)) return name;
    if (!isNameOfDataDirectory(name)) continue;
    const foreign = listNames(join(jobDirectory, name), 'temp').find((file) => !DATA_FILE_NAME.test(file));
    if (foreign !== undefined) return join(name, foreign);
  }
  return undefined;
}

function isOwnName(name: string): boolean {
  return OWN_NAME.test(name) || looksLikeLock(name) || isNameOfAttempt(name);
}

function isNameOfDataDirectory(name: string): boolean {
  return DATA_DIRECTORY_NAME.test(name);
}
