/**
 * Where a job with outputs on disk keeps what it needs to go on after it was killed. The names are
 * derived from the output, so that the next run of the same command finds them.
 *
 *     TEMP_0/.pileshuf-ID.job/      locks, manifest, indexes, records of finished runs    or --job-dir DIR
 *     TEMP_i/.pileshuf-ID.disk-i/   data files of the stripes                             or DIR/disk-0
 *     OUTPUT/../.pileshuf-ID.out/   staged outputs, and the journal of their moves; inside of OUTPUT when
 *                                   that is a directory that exists
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** In the job directory: what the outputs' moves are to be, while they move. */
export const JOURNAL_NAME = 'commit';
/** In the staging directory: former files that make way, while outputs move. */
export const ASIDE_NAME = 'replaced';

export interface JobPaths {
  readonly jobDirectory: string;
  /** Whether the user named it; else its name is derived. */
  readonly isNamed: boolean;
  /** One a temp disk. */
  readonly dataDirectories: readonly string[];
  readonly stagingDirectory: string;
}

export interface JobPlacement {
  /** What tells this job from others: the real path of its output, and the prefix of its shards. */
  readonly outputIdentity: string;
  /** Existing directory in which the output appears. */
  readonly outputDirectory: string;
  readonly tempDirs: readonly string[];
  /** Absolute; undefined: derived. */
  readonly jobDir: string | undefined;
  /** Whether temp data lies in the job directory, too. */
  readonly keepsDataInJobDir: boolean;
}

export function deriveJobPaths(placement: JobPlacement): JobPaths {
  const { outputIdentity, outputDirectory, tempDirs, jobDir } = placement;
  const id = createHash('sha256')
    .update(jobDir ?? outputIdentity)
    .digest('hex')
    .slice(0, 16);
  const name = `.pileshuf-${id}`;
  const jobDirectory = jobDir ?? join(tempDirs[0] ?? outputDirectory, `${name}.job`);
  return {
    jobDirectory,
    isNamed: jobDir !== undefined,
    dataDirectories: tempDirs.map((directory, disk) =>
      placement.keepsDataInJobDir ? join(jobDirectory, `disk-${disk}`) : join(directory, `${name}.disk-${disk}`),
    ),
    stagingDirectory: join(outputDirectory, `${name}.out`),
  };
}
