/**
 * The directories of a job whose outputs lie on disk, held by this process: made, found again, cleared and
 * removed. `job-paths.ts` says what lies where.
 */
import { dirname, join } from 'node:path';
import { addCleanupErrors, PileshufError, SystemError } from '../errors.js';
import { syncDirectory, syncFile } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { listNames, lstatPath, nameExists } from '../io/paths.js';
import { ensurePrivateDirectory, removeContents, removeDirectory } from '../io/private-directory.js';
import { isNameOfAttempt } from '../io/small-file.js';
import { finishedRunNames } from './finished-runs.js';
import { HeldDirectory } from './held-directory.js';
import { ASIDE_NAME, JOURNAL_NAME, type JobPaths } from './job-paths.js';
import { looksLikeLock } from './lock-name.js';
import { MANIFEST_NAME } from './manifest.js';
import { noteStagingOwner, OWNER_NAME, readStagingOwner } from './staging-owner.js';

/** What a job writes into its job directory, beside locks and attempts. */
const OWN_NAME = /^(manifest|commit|done-\d{6,}|disk-\d+|[a-z0-9-]+\.index)$/;
/** A data directory in a job directory that the user named. */
const DATA_DIRECTORY_NAME = /^disk-\d+$/;
const DATA_FILE_NAME = /^[a-z0-9-]+\.\d+\.pile$/;

export class JobDirectory {
  readonly paths: JobPaths;
  readonly #job: HeldDirectory;
  readonly #staging: HeldDirectory;
  /** Whether there was a job directory or outputs staged, when it was looked for. */
  readonly wasThere: boolean;
  /** Of what is found nothing is known. */
  #isDurable = true;
  #isKept = false;
  #dropsFormerFiles = false;
  /** A data directory in which others could do something while it is being removed. */
  #refused: string | undefined;

  /**
   * Takes hold of what is there of a job: its directory, and where its outputs are staged. Jobs of one output
   * meet at the second, wherever their directories are.
   * @throws UsageError ERR_JOB_LOCKED when another job holds one of them; SystemError ERR_TEMP_DIR when
   *   one is not for this job alone.
   */
  constructor(paths: JobPaths) {
    this.paths = paths;
    this.#job = new HeldDirectory(paths.jobDirectory, paths.isNamed ? 'anyone' : 'owner');
    this.#staging = new HeldDirectory(paths.stagingDirectory, 'owner');
    try {
      this.#job.holdIfThere();
      if (this.#job.isHeld) requireNothingForeign(paths.jobDirectory);
      this.#staging.holdIfThere();
    } catch (error) {
      this.#job.release(paths.isNamed);
      throw error;
    }
    this.wasThere = this.#job.isHeld || this.#staging.isHeld;
  }

  /** Whether there is a job directory. */
  get hasJobDirectory(): boolean {
    return this.#job.isHeld;
  }

  /** The job directory of another job, whose outputs are staged where those of this one would be. */
  get otherOwner(): string | undefined {
    if (!this.#staging.isHeld) return undefined;
    const owner = readStagingOwner(this.paths.stagingDirectory);
    return owner === this.paths.jobDirectory ? undefined : owner;
  }

  /**
   * Makes its directories where they are missing, and refuses those that are not for it alone.
   * @param isDurable whether they, and their removal, are to survive a power failure.
   */
  async makeDirectories(isDurable: boolean): Promise<void> {
    this.#isDurable = isDurable;
    const { jobDirectory, isNamed, dataDirectories, stagingDirectory } = this.paths;
    this.#job.makeIfMissing(isNamed ? 'job' : 'temp');
    // Outputs that are staged for a job directory that is not there would be taken for those of another job.
    if (isDurable) await syncDirectory(dirname(jobDirectory), 'temp');
    this.#staging.makeIfMissing('output');
    noteStagingOwner(stagingDirectory, jobDirectory);
    for (const directory of dataDirectories) this.#ensureDataDirectory(directory);
    if (isDurable) await this.syncNames();
  }

  #ensureDataDirectory(directory: string): void {
    try {
      ensurePrivateDirectory(directory, 'temp');
    } catch (error) {
      this.#refused = directory;
      throw error;
    }
  }

  /** @throws SystemError ERR_TEMP_DIR when one of them is gone, as when its disk is not mounted. */
  requireDataDirectories(): void {
    const missing = this.paths.dataDirectories.find((directory) => !nameExists(directory, 'temp'));
    if (missing === undefined) return;
    throw new SystemError(
      'ERR_TEMP_DIR',
      `the directory ${missing} of the unfinished job is not there; check that its disk is mounted, or give --force without --resume to begin anew`,
    );
  }

  /** Waits until the names of all its directories, and what is in them, would survive a power failure. */
  async syncNames(): Promise<void> {
    const { jobDirectory, dataDirectories, stagingDirectory } = this.paths;
    await syncFile(join(stagingDirectory, OWNER_NAME), 'output');
    for (const directory of [stagingDirectory, dirname(stagingDirectory)]) await syncDirectory(directory, 'output');
    const parents = [jobDirectory, ...dataDirectories].map((path) => dirname(path));
    for (const directory of new Set([jobDirectory, ...parents])) await syncDirectory(directory, 'temp');
    this.#isDurable = true;
  }

  /** Says whether `end` is to leave everything where it is, for a run that goes on; at first it is not. */
  set isKept(isKept: boolean) {
    this.#isKept = isKept;
  }

  /** Says that the outputs are complete, so that former files that made way may be removed. */
  set dropsFormerFiles(dropsFormerFiles: boolean) {
    this.#dropsFormerFiles = dropsFormerFiles;
  }

  /** Removes all of it, unless it is to be kept, and lets go of it. */
  async end(): Promise<void> {
    try {
      if (!this.#isKept) await this.clear();
    } finally {
      this.#staging.release();
      this.#job.release(this.#isKept);
    }
  }

  /**
   * Removes all that is in it but the locks, as much as can be removed, and nothing where another job came
   * first. The manifest goes last, so that a run that is killed here leaves what the next one knows how to
   * remove.
   * @throws SystemError for the first thing that cannot be removed, the others attached; or when a killed
   *   run left former shards there, which are nobody's to remove.
   */
  async clear(): Promise<void> {
    const { jobDirectory, stagingDirectory } = this.paths;
    const inJob = this.#job.isHeld ? [jobDirectory] : [];
    const inStaging = this.#staging.isHeld ? [stagingDirectory] : [];
    const dataDirectories = this.#job.isHeld ? this.paths.dataDirectories.filter((path) => path !== this.#refused) : [];
    if (this.#staging.isHeld && !this.#dropsFormerFiles) requireNoFormerFiles(stagingDirectory);
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
    if (this.#job.isHeld) await remove(finishedRunNames(jobDirectory).reverse());
    await sync(inJob);
    for (const directory of inStaging) await attempt(() => removeContents(directory, looksLikeLock));
    const names = inJob.flatMap((directory) => listNames(directory, 'temp')).filter(isOwnName);
    // Also where an earlier run put its data in here, and this one would not.
    const dataDirectoriesInside = names.filter(isNameOfDataDirectory).map((name) => join(jobDirectory, name));
    const dataDirectoriesAll = new Set([...dataDirectories, ...dataDirectoriesInside]);
    for (const directory of dataDirectoriesAll) await attempt(() => removeDirectory(directory));
    const parents = dataDirectories.map((directory) => dirname(directory)).filter((path) => path !== jobDirectory);
    await sync([...inStaging, ...parents]);
    const last = [MANIFEST_NAME, JOURNAL_NAME];
    const isOther = (name: string) => !looksLikeLock(name) && !isNameOfDataDirectory(name) && !last.includes(name);
    await remove(names.filter(isOther));
    await remove(inJob.length > 0 ? last : []);
    await sync(inJob);
    const [first, ...others] = failures;
    if (first === undefined) return;
    if (first instanceof PileshufError) addCleanupErrors(first, others);
    throw first;
  }

  /** Lets go of it, whatever is there. Safe to call twice. */
  release(): void {
    this.#staging.release();
    this.#job.release(this.paths.isNamed);
  }
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

/** Refuses a directory that has another use: a user may have named it. */
function requireNothingForeign(jobDirectory: string): void {
  const foreign = findForeignName(jobDirectory);
  if (foreign === undefined) return;
  throw new SystemError(
    'ERR_TEMP_DIR',
    `cannot use the directory ${jobDirectory}: it holds ${foreign}, which is not from a job; name one that is empty or does not exist`,
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
