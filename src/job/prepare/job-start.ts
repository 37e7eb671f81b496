/**
 * How a job with outputs on disk begins: from nothing, or where an earlier run of it stopped.
 */
import { join } from 'node:path';
import { addCleanupErrors, PileshufError, UsageError, VerificationError } from '../../errors.js';
import { nameExists } from '../../io/paths.js';
import { damagedFile } from '../../job-directory/damaged-file.js';
import { type FinishedRuns, type RunLimits, readFinishedRuns } from '../../job-directory/finished-runs.js';
import { JobDirectory } from '../../job-directory/job-directory.js';
import { JOURNAL_NAME } from '../../job-directory/job-paths.js';
import { type JobManifest, MANIFEST_NAME, readManifest } from '../../job-directory/manifest.js';
import { listCommittedSplits } from '../../job-directory/pile-set-commits.js';
import { type CommitJournal, readJournal } from '../../output/commit-journal.js';
import { MOST_SHARDS } from '../../plan/shard-cuts.js';
import type { FilesPlaces } from './job-places.js';
import type { JobRequest } from './job-request.js';

export type JobStart =
  /** What there is of an earlier run is to be discarded. */
  { readonly kind: 'fresh'; readonly directory: JobDirectory } | Continuation;

export interface Continuation {
  readonly kind: 'continue';
  readonly directory: JobDirectory;
  readonly manifest: JobManifest;
  /** Defined: all was written, and the outputs have begun to move. */
  readonly journal: CommitJournal | undefined;
  readonly finished: FinishedRuns;
}

/**
 * Finds what an earlier run left, and takes hold of it; the caller releases `directory`.
 * @throws UsageError ERR_JOB_UNFINISHED when a job was left that may be gone on with, and nobody said
 *   whether to; ERR_JOB_LOCKED when a process is at it now.
 */
export async function findStart(request: JobRequest, { output, paths }: FilesPlaces): Promise<JobStart> {
  const directory = new JobDirectory(paths);
  try {
    if (!directory.wasThere || (request.force && !request.resume)) return { kind: 'fresh', directory };
    const { otherOwner } = directory;
    if (otherOwner !== undefined) {
      throw new UsageError(
        `an unfinished job of ${output.path} exists in ${otherOwner}: give the --temp-dir or --job-dir that it had, and --resume, to go on, or --force to discard it`,
        'ERR_JOB_UNFINISHED',
      );
    }
    const manifest = directory.hasJobDirectory ? readManifestIfNeeded(paths.jobDirectory, request) : undefined;
    const journal = manifest === undefined ? undefined : readJournal(paths.jobDirectory);
    // What a job left that was killed and not resumable is of no use to anybody.
    if (manifest === undefined || (!manifest.isResumable && journal === undefined)) {
      await directory.clear();
      return { kind: 'fresh', directory };
    }
    if (!request.resume) {
      throw new UsageError(
        `an unfinished or kept job of ${manifest.output} exists in ${paths.jobDirectory}: give --resume to go on, or --force to discard it`,
        'ERR_JOB_UNFINISHED',
      );
    }
    const finished =
      journal === undefined ? readFinishedRuns(paths.jobDirectory, limitsOf(manifest)) : { runs: [], recordCount: 0 };
    return { kind: 'continue', directory, manifest, journal, finished };
  } catch (error) {
    return thenRelease(error, directory);
  }
}

/** What records of finished runs must not go beyond. */
function limitsOf({ layout, shards }: JobManifest): RunLimits {
  const mostShards = shards === null ? 1 : shards.by === 'count' ? Math.min(shards.amount, MOST_SHARDS) : MOST_SHARDS;
  return { pileCount: layout?.pileCount ?? 0, mostShards };
}

/** Throws `error`, whatever becomes of the release. */
function thenRelease(error: unknown, directory: JobDirectory): never {
  try {
    directory.release();
  } catch (failure) {
    if (error instanceof PileshufError) addCleanupErrors(error, [failure]);
  }
  throw error;
}

/**
 * A manifest that is missing or damaged matters only where there is work that it told of.
 * @throws VerificationError
 */
function readManifestIfNeeded(jobDirectory: string, request: JobRequest): JobManifest | undefined {
  const hasWork = listCommittedSplits(jobDirectory).length > 0;
  try {
    const manifest = readManifest(jobDirectory);
    // A journal alone is what a run leaves that is killed when all is done and removed.
    if (manifest === undefined && hasWork) throw damagedFile(join(jobDirectory, MANIFEST_NAME), 'it is missing');
    return manifest;
  } catch (error) {
    const isNeeded = hasWork || nameExists(join(jobDirectory, JOURNAL_NAME), 'temp');
    if (isNeeded || !(error instanceof VerificationError)) throw error;
    request.onWarning(`${error.message}; nothing had been done, and the job begins anew`);
    return undefined;
  }
}
