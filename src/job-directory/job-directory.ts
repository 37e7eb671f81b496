/**
 * The directories of a job whose outputs are on disk, held by this process. `job-paths.ts` says which file is where;
 * `end` decides what becomes of all of it.
 */
import { dirname, join } from 'node:path';
import { addCleanupErrors, PileshufError, START_ANEW_ADVICE, SystemError, VerificationError } from '../errors.js';
import { ifPossible, thenAlwaysAsync } from '../floor/cleanup.js';
import { createWhole, isAttemptName, readSmallFile, replaceDurably } from '../io/atomic-files.js';
import { ensurePrivateDirectory, removeContents, removeDirectory } from '../io/directories.js';
import { removeFile } from '../io/files.js';
import { fileName, list, object, text } from '../io/json-shape.js';
import { isSameEntry, listNames, nameExists } from '../io/paths.js';
import { moveIntoPlace, syncPath } from '../io/rename-and-sync.js';
import { SealedFormat } from '../io/sealed-format.js';
import { looksLikeLock } from './job-lock.js';
import {
  type JobManifest,
  MOST_MANIFEST_BYTES,
  readStagingOwner,
  STAGING_OWNER_NAME,
  type StagingOwner,
  writeStagingOwner,
} from './job-manifest.js';
import {
  ASIDE_NAME,
  ENDED_NAME,
  endedNotePath,
  isDataDirectoryName,
  isFinalRecordName,
  isJobFileName,
  type JobPaths,
  requireOnlyJobFiles,
} from './job-paths.js';
import { LockedDirectory } from './locked-directory.js';
import { rangesNoteNames } from './notes.js';

/**
 * The fate of the directories of a job when it ends:
 *
 *     preserved   everything stays for a later attempt, which resumes the job (or for the user who asked for `--keep-temp`)
 *     discarded   everything is removed; if former files that made way for outputs were not put back, they stay, and
 *                 `end` throws
 *     completed   the outputs have their final names: everything is removed, the former files too
 *
 * A job that may fail at any moment has a fate from its beginning: `preserved` as soon as there is the work of an earlier
 * attempt (`existedBefore`), since no error may lose that; else `discarded`.
 */
export type JobFate = 'preserved' | 'discarded' | 'completed';

type DiscardStaged = (stagingDirectory: string) => Promise<void> | undefined;

export class JobDirectory {
  readonly paths: JobPaths;
  readonly #job: LockedDirectory;
  readonly #staging: LockedDirectory;
  /** True if an earlier attempt had left a job directory or a staging directory. */
  readonly existedBefore: boolean;
  readonly #isDryRun: boolean;
  readonly #discardStaged: DiscardStaged | undefined;
  /**
   * True if the directories may survive a power failure. Nothing is known of existing ones, so they count as durable.
   */
  #isDurable = true;
  #removesJobDirectory: boolean;
  /** A data directory that other users could change while it is removed. */
  #refusedDirectory: string | undefined;

  /**
   * Locks the job directory and the staging directory, if they exist. All jobs of one output share the staging
   * directory, wherever their job directories are.
   * @param isDryRun changes and locks nothing; the caller must not make directories.
   * @param discard what must be done before staged outputs are removed.
   */
  constructor(paths: JobPaths, isDryRun = false, discard?: DiscardStaged) {
    this.paths = paths;
    this.#discardStaged = discard;
    this.#isDryRun = isDryRun;
    this.#removesJobDirectory = !paths.isNamed;
    this.#job = new LockedDirectory(paths.jobDirectory, paths.isNamed ? 'anyone' : 'owner');
    this.#staging = new LockedDirectory(paths.stagingDirectory, 'owner');
    try {
      lockOrCheck(this.#job, isDryRun);
      lockOrCheck(this.#staging, isDryRun);
      const owner = ifPossible(() => this.readStagingOwner());
      const isNoted = owner?.jobDirectory === paths.jobDirectory;
      if (this.#job.isLocked) requireOnlyJobFiles(paths.jobDirectory, paths.isNamed && !isNoted);
      if (!isDryRun) this.#restoreRecords();
      if (isNoted && owner.removesJobDirectory === true) this.#removesJobDirectory = true;
    } catch (error) {
      this.#staging.release();
      this.#job.release(!this.#removesJobDirectory);
      throw error;
    }
    this.existedBefore = this.#job.isLocked || this.#staging.isLocked;
  }

  /** Puts back the records that an attempt had removed, if it was killed when its outputs had their names. */
  #restoreRecords(): void {
    const records = readEndedNote(this.paths);
    if (records === undefined) return;
    const { jobDirectory, isNamed } = this.paths;
    this.#job.makeAndLock(isNamed ? 'job' : 'temp');
    restoreRecords(records, jobDirectory);
  }

  get hasJobDirectory(): boolean {
    return this.#job.isLocked;
  }

  /** The job that staged the outputs in the staging directory: this one, or one with another job directory. */
  readStagingOwner(): StagingOwner | undefined {
    return this.#staging.isLocked ? readStagingOwner(this.paths.stagingDirectory) : undefined;
  }

  get hasStagedOutputs(): boolean {
    if (!this.#staging.isLocked) return false;
    const { stagingDirectory } = this.paths;
    const isOutput = (name: string) => !looksLikeLock(name) && !isAttemptName(name) && name !== STAGING_OWNER_NAME;
    return listNames(stagingDirectory, 'output').some(isOutput);
  }

  /** Says whether the job made its directory. Undefined if that stays, or has the derived name and always goes. */
  get #removesNamed(): true | undefined {
    return this.paths.isNamed && this.#removesJobDirectory ? true : undefined;
  }

  /**
   * Returns whether a job made the job directory, and so removes it at the end; false for a directory that the user had
   * made.
   */
  get removesJobDirectory(): boolean {
    return this.#removesJobDirectory;
  }

  adoptManifest({ removesJobDirectory }: Pick<JobManifest, 'removesJobDirectory'>): void {
    this.#removesJobDirectory = removesJobDirectory;
  }

  /** @param isDurable whether the directories, and their removal, survive a power failure. */
  async makeDirectories(isDurable: boolean): Promise<void> {
    this.#isDurable = isDurable;
    const { jobDirectory, isNamed, dataDirectories, stagingDirectory } = this.paths;
    const isThere = this.#job.isLocked;
    this.#removesJobDirectory ||= !isThere;
    const owner = { jobDirectory, removesJobDirectory: this.#removesNamed };
    this.#staging.makeAndLock('output');
    // First, so that what a killed attempt leaves is known to be its own.
    writeStagingOwner(stagingDirectory, { ...owner, isResumable: isThere && isDurable });
    this.#job.makeAndLock(isNamed ? 'job' : 'temp');
    // Before the outputs: outputs staged for a job directory that does not exist look like those of another job.
    if (isDurable) await syncPath(dirname(jobDirectory), 'temp');
    writeStagingOwner(stagingDirectory, { ...owner, isResumable: isDurable });
    for (const directory of dataDirectories) this.#ensureDataDirectory(directory);
    if (isDurable) await this.syncNames();
  }

  #ensureDataDirectory(directory: string): void {
    try {
      ensurePrivateDirectory(directory, 'temp');
    } catch (error) {
      this.#refusedDirectory = directory;
      throw error;
    }
  }

  requireDataDirectories(): void {
    const missing = this.paths.dataDirectories.find((directory) => !nameExists(directory, 'temp'));
    if (missing === undefined) return;
    throw new SystemError(
      'ERR_TEMP_DIR',
      `the directory ${missing} of the unfinished job does not exist; check that its disk is mounted, or ${START_ANEW_ADVICE}`,
    );
  }

  /** Waits until the directories, and the names in them, would survive a power failure. */
  async syncNames(): Promise<void> {
    const { jobDirectory, dataDirectories, stagingDirectory } = this.paths;
    const parents = [jobDirectory, ...dataDirectories].map((path) => dirname(path));
    for (const directory of new Set([jobDirectory, ...parents])) await syncPath(directory, 'temp');
    // After that: a note that says `isResumable` must not outlive its job directory.
    const owner = { jobDirectory, removesJobDirectory: this.#removesNamed };
    writeStagingOwner(stagingDirectory, { ...owner, isResumable: true });
    await syncPath(join(stagingDirectory, STAGING_OWNER_NAME), 'output');
    for (const directory of [stagingDirectory, dirname(stagingDirectory)]) await syncPath(directory, 'output');
    this.#isDurable = true;
  }

  /**
   * Ends the job's use of its directories as `fate` says, and gives them up. The job calls this after everything else
   * that it has open is closed. Another call does nothing.
   */
  async end(fate: JobFate): Promise<void> {
    const isPreserved = fate === 'preserved';
    const isComplete = fate === 'completed';
    const release = () => {
      this.#staging.release();
      this.#job.release(isPreserved || !this.#removesJobDirectory);
    };
    let isRemoved = false;
    const remove = async () => {
      if (isComplete && this.#isDurable && this.#job.isLocked) await writeEndedNote(this.paths);
      if (isPreserved) return;
      await this.#removeAll(isComplete);
      isRemoved = true;
    };
    // Also when a lock cannot be given up: the note is of no use without the rest. While the rest may come back after a
    // power failure, the note tells what it is.
    const removeNote = async () => {
      if (isRemoved)
        await thenAlwaysAsync(
          () => this.#syncParents(isComplete),
          () => removeEndedNote(this.paths),
        );
    };
    await thenAlwaysAsync(() => thenAlwaysAsync(remove, release), removeNote);
  }

  /** Waits until a power failure would not bring removed directories back. */
  async #syncParents(hasNote: boolean): Promise<void> {
    if (!hasNote || !this.#isDurable) return;
    const { jobDirectory, stagingDirectory } = this.paths;
    await syncPath(dirname(jobDirectory), 'temp');
    await syncPath(dirname(stagingDirectory), 'output');
  }

  /**
   * Removes what an earlier attempt left, so that the job can start anew in the same directories, which stay held. A
   * look removes nothing.
   */
  async clear(): Promise<void> {
    await this.#removeAll(false);
    if (!this.#isDryRun) removeEndedNote(this.paths);
  }

  /**
   * Removes all but the locks, as much as can be removed, and nothing in a directory that another job holds. The last
   * records go last, and those of a resumable job only when all else is gone: if the process is killed here, or a step
   * fails, the next job knows what to remove. Throws if a killed attempt left former shards, which no job may remove.
   */
  async #removeAll(isComplete: boolean): Promise<void> {
    if (this.#staging.isLocked && !isComplete) requireNoFormerFiles(this.paths);
    if (this.#isDryRun) return;
    const removal = new Removal(this.#isDurable);
    // Records first: a later attempt would believe those of outputs and pile sets that are gone.
    const steps = [
      () => this.#removeRecords(removal),
      () => this.#removeStaged(removal, isComplete),
      () => this.#removeData(removal),
    ];
    for (const step of steps) {
      await step();
      // A resumable job stays as if it had been killed here, so that it can still be resumed.
      if (removal.hasFailed && this.#isDurable) break;
    }
    if (removal.hasFailed && this.#isDurable) this.#reportRemaining(removal);
    removal.finish();
  }

  #reportRemaining(removal: Removal): void {
    const { jobDirectory, stagingDirectory, dataDirectories } = this.paths;
    const whole = [...dataDirectories, endedNotePath(this.paths)];
    // An empty held directory goes when it is released.
    const isLeft = (path: string) =>
      nameExists(path, 'temp') && (whole.includes(path) || !listNames(path, 'temp').every(looksLikeLock));
    for (const path of new Set([jobDirectory, stagingDirectory, ...whole])) {
      removal.attempt(() => {
        if (!isLeft(path)) return;
        throw new SystemError('ERR_IO', `${path} remains, because not all of the job could be removed`);
      });
    }
  }

  async #removeStaged(removal: Removal, isComplete: boolean): Promise<void> {
    if (!this.#staging.isLocked) return;
    const { stagingDirectory } = this.paths;
    const aborted = isComplete ? undefined : this.#discardStaged?.(stagingDirectory);
    await aborted?.catch((error: unknown) => {
      removal.attempt(() => {
        throw error;
      });
    });
    removal.attempt(() => removeContents(stagingDirectory, looksLikeLock));
    await removal.sync([stagingDirectory]);
  }

  async #removeRecords(removal: Removal): Promise<void> {
    if (!this.#job.isLocked) return;
    const { jobDirectory } = this.paths;
    // The last goes first, so that the rest has no gap.
    removal.files(jobDirectory, removal.attempt(() => rangesNoteNames(jobDirectory).reverse()) ?? []);
    const isOther = (name: string) => !looksLikeLock(name) && !isDataDirectoryName(name) && !isFinalRecordName(name);
    removal.files(jobDirectory, this.#ownNames(removal).filter(isOther));
    await removal.sync([jobDirectory]);
  }

  async #removeData(removal: Removal): Promise<void> {
    if (!this.#job.isLocked) return;
    const { jobDirectory } = this.paths;
    const dataDirectories = this.paths.dataDirectories.filter((path) => path !== this.#refusedDirectory);
    // An earlier attempt may have stored its data in here, where this one does not.
    const inside = this.#ownNames(removal).filter(isDataDirectoryName);
    for (const directory of new Set([...dataDirectories, ...inside.map((name) => join(jobDirectory, name))])) {
      removal.attempt(() => removeDirectory(directory));
    }
    await removal.sync(dataDirectories.map((path) => dirname(path)).filter((path) => path !== jobDirectory));
    // These name what could not be removed.
    if (removal.hasFailed && this.#isDurable) return;
    removal.files(jobDirectory, this.#ownNames(removal).filter(isFinalRecordName));
    await removal.sync([jobDirectory]);
  }

  #ownNames(removal: Removal): readonly string[] {
    return removal.attempt(() => listNames(this.paths.jobDirectory, 'temp').filter(isJobFileName)) ?? [];
  }

  /** Gives the directories up and removes nothing but empty ones: for a job that has not begun. A second call does nothing. */
  release(): void {
    this.#staging.release();
    this.#job.release(!this.#removesJobDirectory);
  }
}

function lockOrCheck(directory: LockedDirectory, isDryRun: boolean): void {
  if (isDryRun) directory.checkIfExists();
  else directory.lockIfExists();
}

function requireNoFormerFiles({ stagingDirectory, outputPath }: JobPaths): void {
  const aside = join(stagingDirectory, ASIDE_NAME);
  if (!nameExists(aside, 'output')) return;
  const wasPutBack = (name: string) => isSameEntry(join(aside, name), join(outputPath, name), 'output');
  if (listNames(aside, 'output').every(wasPutBack)) return;
  throw new SystemError(
    'ERR_IO',
    `${aside} holds former files that a killed job had moved out of the way; move them back or remove them`,
  );
}

class Removal {
  readonly #isDurable: boolean;
  readonly #failures: unknown[] = [];

  constructor(isDurable: boolean) {
    this.#isDurable = isDurable;
  }

  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  attempt<T>(step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      this.#add(error);
      return undefined;
    }
  }

  /** Steps that need the same may fail in the same way: that is told once. */
  #add(failure: unknown): void {
    if (!this.#failures.some((earlier) => String(earlier) === String(failure))) this.#failures.push(failure);
  }

  files(directory: string, names: readonly string[]): void {
    for (const name of names) this.attempt(() => removeFile(join(directory, name), 'temp'));
  }

  /** Makes the removals from these directories survive a power failure. */
  async sync(directories: readonly string[]): Promise<void> {
    for (const directory of this.#isDurable ? new Set(directories) : []) {
      try {
        await syncPath(directory, 'temp');
      } catch (error) {
        this.#add(error);
      }
    }
  }

  /** Throws the first failure, with the others attached. */
  finish(): void {
    const [first, ...others] = this.#failures;
    if (first === undefined) return;
    if (first instanceof PileshufError) addCleanupErrors(first, others);
    throw first;
  }
}

/**
 * The note of a job whose outputs have their final names: its last records, beside the outputs, while the job removes all
 * else that it has. The removal of this file is the last step of the job. If the process is killed before, the next attempt
 * puts the records back, and ends the job as if the kill had come before their removal.
 */
const endedNote = new SealedFormat({
  kind: 'ended',
  version: 2,
  mostBytes: MOST_MANIFEST_BYTES,
  role: 'output',
  shape: object({ records: list(object({ name: fileName, base64: text })) }),
});

/** Files of the job directory, as they were. */
type FinalRecords = readonly { readonly name: string; readonly base64: string }[];

async function writeEndedNote(paths: JobPaths): Promise<void> {
  const { jobDirectory, stagingDirectory } = paths;
  try {
    const records = listNames(jobDirectory, 'temp')
      .filter(isFinalRecordName)
      .map((name) => {
        const bytes = readSmallFile(join(jobDirectory, name), 'temp', MOST_MANIFEST_BYTES) ?? new Uint8Array();
        return { name, base64: Buffer.from(bytes).toString('base64') };
      });
    // What a kill leaves of the attempt lies in the staging directory, where it is found.
    await replaceDurably(stagingDirectory, ENDED_NAME, endedNote.seal({ records }));
    moveIntoPlace(join(stagingDirectory, ENDED_NAME), endedNotePath(paths));
    await syncPath(dirname(stagingDirectory), 'output');
  } catch (error) {
    // It matters only if the process is killed in the next moments.
    if (!(error instanceof PileshufError)) throw error;
  }
}

/** Undefined when there is no note, or a damaged one, which is of no use and goes. */
function readEndedNote(paths: JobPaths): FinalRecords | undefined {
  try {
    return endedNote.read(endedNotePath(paths))?.records;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    removeEndedNote(paths);
    return undefined;
  }
}

function restoreRecords(records: FinalRecords, jobDirectory: string): void {
  for (const { name, base64 } of records) {
    const path = join(jobDirectory, name);
    removeFile(path, 'temp');
    createWhole(path, Buffer.from(base64, 'base64'), 'temp');
  }
}

function removeEndedNote(paths: JobPaths): void {
  removeFile(endedNotePath(paths), 'output');
}
