/**
 * Where a job with outputs on disk keeps what it needs to go on after it was killed. The names are
 * derived from the output, so that the next run of the same command finds them.
 *
 *     TEMP_0/.pileshuf-ID.job/      locks, manifest, indexes, records of finished ranges    or --job-dir DIR
 *     TEMP_i/.pileshuf-ID.disk-i/   data files of the stripes                             or DIR/disk-0
 *     OUTPUT/../.pileshuf-ID.out/   staged outputs, locks, and a note of the job directory
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** In the job directory: what the outputs' moves are to be, while they move. */
export const JOURNAL_NAME = 'commit';
/** In the staging directory: former files that make way, while outputs move. */
export const ASIDE_NAME = 'replaced';

export interface JobPaths {
  /** Part of all names that are derived. */
  readonly id: string;
  readonly jobDirectory: string;
  /** Whether the user named it; else its name is derived. */
  readonly isNamed: boolean;
  /** One a temp disk. */
  readonly dataDirectories: readonly string[];
  readonly stagingDirectory: string;
  /** Of the file, or of the directory of shards. */
  readonly outputPath: string;
}

export interface JobPlacement {
  /** What tells this job from others: the real path of its output, and the prefix of its shards. */
  readonly outputIdentity: string;
  readonly outputPath: string;
  /** Existing directory in which the output appears. */
  readonly outputDirectory: string;
  readonly tempDirs: readonly string[];
  /** Absolute; undefined: derived. */
  readonly jobDir: string | undefined;
  /** Whether temp data lies in the job directory, too. */
  readonly keepsDataInJobDir: boolean;
}

export function deriveJobPaths(placement: JobPlacement): JobPaths {
  const { outputIdentity, outputPath, outputDirectory, tempDirs, jobDir } = placement;
  const id = idOf(jobDir ?? outputIdentity);
  const jobDirectory = jobDir ?? join(tempDirs[0] ?? outputDirectory, `.pileshuf-${id}.job`);
  return {
    id,
    jobDirectory,
    isNamed: jobDir !== undefined,
    dataDirectories: tempDirs.map((directory, disk) =>
      placement.keepsDataInJobDir ? join(jobDirectory, `disk-${disk}`) : dataDirectoryIn(directory, { id }, disk),
    ),
    // After the output alone: jobs of one output meet here, wherever their job directories are.
    stagingDirectory: stagingDirectoryIn(outputDirectory, outputIdentity),
    outputPath,
  };
}

/** Where a job keeps the data of a temp disk, in a temp directory that others may use, too. */
export function dataDirectoryIn(tempDir: string, { id }: Pick<JobPaths, 'id'>, disk: number): string {
  return join(tempDir, `.pileshuf-${id}.disk-${disk}`);
}

/** Where the outputs of all jobs of an output are staged. */
export function stagingDirectoryIn(outputDirectory: string, outputIdentity: string): string {
  return join(outputDirectory, `.pileshuf-${idOf(outputIdentity)}.out`);
}

function idOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
