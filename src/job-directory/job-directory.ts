/**
 * The directories of a job whose outputs lie on disk, held by this process: made, found again, cleared and
 * removed. `job-paths.ts` says what lies where.
 */
import { dirname, join } from 'node:path';
import { SystemError } from '../errors.js';
import { syncDirectory, syncFile } from '../io/durable.js';
import { isSameEntry, listNames, nameExists } from '../io/paths.js';
import { ensurePrivateDirectory, removeContents, removeDirectory } from '../io/private-directory.js';
import { finishedRunNames } from './finished-runs.js';
import { HeldDirectory } from './held-directory.js';
import { ASIDE_NAME, JOURNAL_NAME, type JobPaths } from './job-paths.js';
import { looksLikeLock } from './lock-name.js';
import { MANIFEST_NAME } from './manifest.js';
import { isNameOfDataDirectory, isOwnName, requireNothingForeign } from './own-names.js';
import { Removal } from './removal.js';
import { noteStagingOwner, OWNER_NAME, readStagingOwner, type StagingOwner } from './staging-owner.js';

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
  /** Whether a job directory that is empty in the end goes, too. */
  #removesJobDirectory: boolean;
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
    this.#removesJobDirectory = !paths.isNamed;
    this.#job = new HeldDirectory(paths.jobDirectory, paths.isNamed ? 'anyone' : 'owner');
    this.#staging = new HeldDirectory(paths.stagingDirectory, 'owner');
    try {
      this.#job.holdIfThere();
      if (this.#job.isHeld) requireNothingForeign(paths.jobDirectory, paths.isNamed);
      this.#staging.holdIfThere();
    } catch (error) {
      this.#job.release(!this.#removesJobDirectory);
      throw error;
    }
    this.wasThere = this.#job.isHeld || this.#staging.isHeld;
  }

  /** Whether there is a job directory. */
  get hasJobDirectory(): boolean {
    return this.#job.isHeld;
  }

  /** The job whose outputs are staged where those of this one would be: this one, or one with other directories. */
  readStagingOwner(): StagingOwner | undefined {
    return this.#staging.isHeld ? readStagingOwner(this.paths.stagingDirectory) : undefined;
  }

  /** Whether something is staged. */
  get hasStagedOutputs(): boolean {
    if (!this.#staging.isHeld) return false;
    const { stagingDirectory } = this.paths;
    return listNames(stagingDirectory, 'output').some((name) => !looksLikeLock(name) && name !== OWNER_NAME);
  }

  /** Whether it was a job, this run or an earlier one, that made the job directory, and that removes it. */
  get removesJobDirectory(): boolean {
    return this.#removesJobDirectory;
  }

  set removesJobDirectory(removesJobDirectory: boolean) {
    this.#removesJobDirectory = removesJobDirectory;
  }

  /**
   * Makes its directories where they are missing, and refuses those that are not for it alone.
   * @param isDurable whether they, and their removal, are to survive a power failure.
   */
  async makeDirectories(isDurable: boolean): Promise<void> {
    this.#isDurable = isDurable;
    const { jobDirectory, isNamed, dataDirectories, stagingDirectory } = this.paths;
    if (this.#job.makeIfMissing(isNamed ? 'job' : 'temp')) this.#removesJobDirectory = true;
    // Outputs that are staged for a job directory that is not there would be taken for those of another job.
    if (isDurable) await syncDirectory(dirname(jobDirectory), 'temp');
    this.#staging.makeIfMissing('output');
    noteStagingOwner(stagingDirectory, { jobDirectory, isResumable: isDurable });
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
      `the directory ${missing} of the unfinished job is not there; check that its disk is mounted, or give \`force\` without \`resume\` to begin anew`,
    );
  }

  /** Waits until the names of all its directories, and what is in them, would survive a power failure. */
  async syncNames(): Promise<void> {
    const { jobDirectory, dataDirectories, stagingDirectory } = this.paths;
    const parents = [jobDirectory, ...dataDirectories].map((path) => dirname(path));
    for (const directory of new Set([jobDirectory, ...parents])) await syncDirectory(directory, 'temp');
    // Behind that: outputs that say that they can be gone on with are looked for in a job directory that is there.
    noteStagingOwner(stagingDirectory, { jobDirectory, isResumable: true });
    await syncFile(join(stagingDirectory, OWNER_NAME), 'output');
    for (const directory of [stagingDirectory, dirname(stagingDirectory)]) await syncDirectory(directory, 'output');
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
      this.#job.release(this.#isKept || !this.#removesJobDirectory);
    }
  }

  /**
   * Removes all that is in it but the locks, as much as can be removed, and nothing where another job came
   * first. The manifest goes last, and of a job that can be gone on with only when all else is gone, so that a run
   * that is killed here, or fails, leaves what the next one knows how to remove.
   * @throws SystemError for the first thing that cannot be removed, the others attached; or when a killed
   *   run left former shards there, which are nobody's to remove.
   */
  async clear(): Promise<void> {
    if (this.#staging.isHeld && !this.#dropsFormerFiles) requireNoFormerFiles(this.paths);
    const removal = new Removal(this.#isDurable);
    // What tells of outputs and pile sets that are no longer there would be believed.
    const steps = [
      () => this.#removeRecords(removal),
      () => this.#removeStaged(removal),
      () => this.#removeData(removal),
    ];
    for (const step of steps) {
      await step();
      // A job that can be gone on with is left as if it had been killed here, so that it still can be.
      if (removal.hasFailed && this.#isDurable) break;
    }
    if (removal.hasFailed && this.#isDurable) this.#tellOfRest(removal);
    removal.finish();
  }

  #tellOfRest(removal: Removal): void {
    const { jobDirectory, stagingDirectory, dataDirectories } = this.paths;
    // Of those that are held, empty ones go when they are released.
    const isLeft = (directory: string) =>
      nameExists(directory, 'temp') &&
      (dataDirectories.includes(directory) || !listNames(directory, 'temp').every(looksLikeLock));
    for (const directory of new Set([jobDirectory, stagingDirectory, ...dataDirectories])) {
      removal.attempt(() => {
        if (!isLeft(directory)) return;
        throw new SystemError('ERR_IO', `${directory} is left, since not all of the job could be removed`);
      });
    }
  }

  async #removeStaged(removal: Removal): Promise<void> {
    if (!this.#staging.isHeld) return;
    const { stagingDirectory } = this.paths;
    removal.attempt(() => removeContents(stagingDirectory, looksLikeLock));
    await removal.sync([stagingDirectory]);
  }

  async #removeRecords(removal: Removal): Promise<void> {
    if (!this.#job.isHeld) return;
    const { jobDirectory } = this.paths;
    // The last goes first: there is no gap.
    removal.files(jobDirectory, removal.attempt(() => finishedRunNames(jobDirectory).reverse()) ?? []);
    const isLast = (name: string) => name === MANIFEST_NAME || name === JOURNAL_NAME;
    const isOther = (name: string) => !looksLikeLock(name) && !isNameOfDataDirectory(name) && !isLast(name);
    removal.files(jobDirectory, this.#ownNames(removal).filter(isOther));
    await removal.sync([jobDirectory]);
  }

  async #removeData(removal: Removal): Promise<void> {
    if (!this.#job.isHeld) return;
    const { jobDirectory } = this.paths;
    const dataDirectories = this.paths.dataDirectories.filter((path) => path !== this.#refused);
    // Also where an earlier run put its data in here, and this one would not.
    const inside = this.#ownNames(removal).filter(isNameOfDataDirectory);
    for (const directory of new Set([...dataDirectories, ...inside.map((name) => join(jobDirectory, name))])) {
      removal.attempt(() => removeDirectory(directory));
    }
    await removal.sync(dataDirectories.map((path) => dirname(path)).filter((path) => path !== jobDirectory));
    // They tell of what could not be removed.
    if (removal.hasFailed && this.#isDurable) return;
    removal.files(jobDirectory, [MANIFEST_NAME, JOURNAL_NAME]);
    await removal.sync([jobDirectory]);
  }

  #ownNames(removal: Removal): readonly string[] {
    return removal.attempt(() => listNames(this.paths.jobDirectory, 'temp').filter(isOwnName)) ?? [];
  }

  /** Lets go of it, whatever is there. Safe to call twice. */
  release(): void {
    this.#staging.release();
    this.#job.release(!this.#removesJobDirectory);
  }
}

function requireNoFormerFiles({ stagingDirectory, outputPath }: JobPaths): void {
  const aside = join(stagingDirectory, ASIDE_NAME);
  if (!nameExists(aside, 'output')) return;
  const wasPutBack = (name: string) => isSameEntry(join(aside, name), join(outputPath, name), 'output');
  if (listNames(aside, 'output').every(wasPutBack)) return;
  throw new SystemError(
    'ERR_IO',
    `${aside} holds files that a job had moved out of the way before it was killed; move them back or remove them`,
  );
}
