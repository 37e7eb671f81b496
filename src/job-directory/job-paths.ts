/**
 * Says where a job with outputs on disk stores what a later attempt needs, what its files are called, and whether a
 * directory holds only such files. The names are derived from the output, so the same command finds them again.
 *
 *     TEMP_0/.pileshuf-ID.job/      locks, manifest, indexes, cuts, head, records of finished ranges   or --job-dir DIR
 *     TEMP_i/.pileshuf-ID.disk-i/   data files of the stripes                                   or DIR/disk-0
 *     OUTPUT/../.pileshuf-ID.out/   staged outputs, locks, and a note of the job directory
 *     OUTPUT/../.pileshuf-ID.ended  the last records, while all else is removed
 */
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import { isAttemptName, readHead } from '../io/atomic-files.js';
import { listNames, lstatPath } from '../io/paths.js';
import { FIRST_BYTES_OF_SEALED_FILES, kindOfSealed, LONGEST_FIRST_LINE_BYTES } from '../io/sealed-file.js';
import { FIRST_BYTES_OF_INDEXES } from '../piles/pile-set-index.js';
import { looksLikeLock } from './job-lock.js';

/** The file of the planned moves of the outputs in the job directory, while they move. */
export const JOURNAL_NAME = 'commit';
/** The directory of the former files that the outputs replace, in the staging directory, while they move. */
export const ASIDE_NAME = 'replaced';
/** The note in the staging directory that the job has ended, until it gets its name beside the outputs. */
export const ENDED_NAME = 'ended';

export interface JobPaths {
  readonly id: string;
  readonly jobDirectory: string;
  /** True if the user named the job directory; else its name is derived. */
  readonly isNamed: boolean;
  /** One for each temp disk. */
  readonly dataDirectories: readonly string[];
  readonly stagingDirectory: string;
  /** The file, or the directory of shards. */
  readonly outputPath: string;
}

export interface JobPlacement {
  /** Differs from that of any other job: the real path of its output, and the prefix of its shards. */
  readonly outputIdentity: string;
  readonly outputPath: string;
  /** The existing directory in which the output is staged. */
  readonly stagingParent: string;
  readonly tempDirs: readonly string[];
  readonly jobDir: string | undefined;
  /** True if temp data lies in the job directory, too. */
  readonly hasDataInJobDir: boolean;
}

export function deriveJobPaths(placement: JobPlacement): JobPaths {
  const { outputIdentity, outputPath, stagingParent, tempDirs, jobDir } = placement;
  const id = idOf(jobDir ?? outputIdentity);
  const jobDirectory = jobDir ?? join(tempDirs[0] ?? stagingParent, `.pileshuf-${id}.job`);
  return {
    id,
    jobDirectory,
    isNamed: jobDir !== undefined,
    dataDirectories: tempDirs.map((directory, disk) =>
      placement.hasDataInJobDir ? join(jobDirectory, `disk-${disk}`) : dataDirectoryIn(directory, { id }, disk),
    ),
    // Named after the output alone: jobs of one output meet here, wherever their job directories are.
    stagingDirectory: stagingDirectoryIn(stagingParent, outputIdentity),
    outputPath,
  };
}

/** Returns the directory for a job's data on a temp disk, in a temp directory that other jobs may use too. */
export function dataDirectoryIn(tempDir: string, { id }: Pick<JobPaths, 'id'>, disk: number): string {
  return join(tempDir, `.pileshuf-${id}.disk-${disk}`);
}

export function stagingDirectoryIn(parent: string, outputIdentity: string): string {
  return join(parent, `.pileshuf-${idOf(outputIdentity)}.out`);
}

/** Returns the path of the note beside the staging directory, see `writeEndedNote`. */
export function endedNotePath({ stagingDirectory }: JobPaths): string {
  return stagingDirectory.replace(/out$/, ENDED_NAME);
}

/** Returns an id that all jobs of an output have in common, wherever their job directories are. */
export function idOfOutput({ stagingDirectory }: JobPaths): string {
  return basename(stagingDirectory, '.out').slice('.pileshuf-'.length);
}

function idOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The files of a job in its job directory, beside locks and attempts at files. */
const JOB_FILE_NAME = /^(manifest|member-\d+|commit|cuts|distinct|head|splits|done-\d{6,}|disk-\d+|[a-z0-9-]+\.index)$/;
/** The records by which a later attempt knows that the outputs have their names. */
const FINAL_RECORD_NAME = /^(manifest|member-\d+|commit)$/;
/** A data directory in a job directory that the user named. */
const DATA_DIRECTORY_NAME = /^disk-\d+$/;
const DATA_FILE_NAME = /^[a-z0-9-]+\.\d+\.pile$/;

export function isJobFileName(name: string): boolean {
  return JOB_FILE_NAME.test(name) || looksLikeLock(name) || isAttemptName(name);
}

export function isFinalRecordName(name: string): boolean {
  return FINAL_RECORD_NAME.test(name);
}

/** Matches the names of directories of jobs, and of temp directories of one job. */
const DIRECTORY_NAME = /^\.pileshuf-([0-9a-f]{16}\.(job|out|disk-\d+)|[A-Za-z0-9]{6})$/;
/** Matches the names that a job puts into its staging directory, beside locks. */
const STAGED_NAME = /^(owner|ended|member-\d+|marker|shards|replaced|\d+\.(part|upload))$/;

/** Returns whether a job may call a directory so; it removes the directory when it ends. */
export function isJobDirectoryName(name: string): boolean {
  return DIRECTORY_NAME.test(name);
}

/** Returns whether a directory is one that a job made for itself: by its name, and by all names in it. */
export function isJobDirectory(name: string, namesInside: readonly string[]): boolean {
  const isOwn = (inside: string) => isJobFileName(inside) || DATA_FILE_NAME.test(inside) || STAGED_NAME.test(inside);
  return isJobDirectoryName(name) && namesInside.length > 0 && namesInside.every(isOwn);
}

export function isDataDirectoryName(name: string): boolean {
  return DATA_DIRECTORY_NAME.test(name);
}

/**
 * Refuses a directory where tasks of several machines work, or have worked, and one that holds something that perhaps
 * no job has put there.
 * @param mayBeForeign whether only the user named the directory, and no job has noted it. It may have another use then,
 *   and a file in it that is called `manifest`: names alone prove nothing.
 */
export function requireOnlyJobFiles(jobDirectory: string, mayBeForeign: boolean): void {
  requireNoClusterJob(jobDirectory);
  const foreign = findForeignName(jobDirectory, mayBeForeign);
  if (foreign === undefined) return;
  const damage = isJobFileName(foreign) ? 'is damaged, or ' : '';
  throw new SystemError(
    'ERR_TEMP_DIR',
    `cannot use the directory ${jobDirectory}: it holds ${foreign}, which ${damage}is not from a job; name one that is empty or does not exist`,
  );
}

/**
 * The files that a job of tasks has in its directory, and those that stay when it is committed: the names, and the
 * kinds.
 */
export const CLUSTER_PLAN_FILE = { name: 'plan', kind: 'cluster-plan' } as const;
export const CLUSTER_COMMITTED_FILE = { name: 'committed', kind: 'cluster-committed' } as const;

export function requireNoClusterJob(jobDirectory: string): void {
  const isThere = ({ name, kind }: typeof CLUSTER_PLAN_FILE | typeof CLUSTER_COMMITTED_FILE) => {
    const path = join(jobDirectory, name);
    if (lstatPath(path, 'temp')?.isFile() !== true) return false;
    return kindOfSealed(readHead(path, 'temp', LONGEST_FIRST_LINE_BYTES)) === kind;
  };
  if (isThere(CLUSTER_COMMITTED_FILE))
    throw new UsageError(
      `the job directory ${jobDirectory} is that of a cluster job which is committed; remove it, or name another with \`jobDir\``,
    );
  if (isThere(CLUSTER_PLAN_FILE))
    throw new UsageError(
      `the job directory ${jobDirectory} holds the plan of a cluster job; run its tasks (\`clusterStatus\` shows them), or remove the directory, or name another with \`jobDir\``,
    );
}

function findForeignName(jobDirectory: string, mayBeForeign: boolean): string | undefined {
  const names = listNames(jobDirectory, 'temp');
  const files: string[] = [];
  for (const name of names) {
    if (!isJobFileName(name)) return name;
    if (isDataDirectoryName(name)) {
      const inside = listDirectory(join(jobDirectory, name));
      const foreign = inside.find((file) => !DATA_FILE_NAME.test(file));
      if (foreign !== undefined) return join(name, foreign);
      files.push(...inside.map((file) => join(name, file)));
    } else if (!looksLikeLock(name) && !isAttemptName(name)) files.push(name);
  }
  // Before a job writes one of these files, it puts only locks, attempts at files and empty directories there.
  return !mayBeForeign || names.some((name) => isJobFile(join(jobDirectory, name))) ? undefined : files[0];
}

function listDirectory(path: string): string[] {
  return lstatPath(path, 'temp')?.isDirectory() === true ? listNames(path, 'temp') : [];
}

function isJobFile(path: string): boolean {
  if (lstatPath(path, 'temp')?.isFile() !== true) return false;
  return [FIRST_BYTES_OF_SEALED_FILES, FIRST_BYTES_OF_INDEXES].some((first) =>
    readHead(path, 'temp', first.byteLength).equals(first),
  );
}
