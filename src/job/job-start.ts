/**
 * How a job with outputs on disk begins: from nothing, or where an earlier run of it stopped.
 */
import { join } from 'node:path';
import { UsageError, VerificationError } from '../errors.js';
import { nameExists } from '../io/paths.js';
import { requirePrivate } from '../io/private-directory.js';
import { type FinishedRuns, readFinishedRuns } from '../job-directory/finished-runs.js';
import { JobDirectory, readStagingOwner } from '../job-directory/job-directory.js';
import { findJobHolder } from '../job-directory/job-lock.js';
import { JOURNAL_NAME, type JobPaths } from '../job-directory/job-paths.js';
import { type JobManifest, readManifest } from '../job-directory/manifest.js';
import { listCommittedSplits } from '../job-directory/pile-set-commits.js';
import { type CommitJournal, readJournal } from '../output/commit-journal.js';
import type { FilesPlaces } from './job-places.js';
import type { JobRequest } from './job-request.js';

export type JobStart =
  /** `directory`: what is in it is to be discarded; undefined: there is none. */
  { readonly kind: 'fresh'; readonly directory: JobDirectory | undefined } | Continuation;

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
  const directory = JobDirectory.find(paths);
  if (directory === undefined) {
    refuseStagingOfOthers(request, output.path, paths);
    return { kind: 'fresh', directory };
  }
  try {
    if (request.force && !request.resume) return { kind: 'fresh', directory };
    const manifest = readManifestIfNeeded(paths.jobDirectory, request);
    const journal = manifest === undefined ? undefined : readJournal(paths.jobDirectory);
    // What a job left that was killed and not resumable is of no use to anybody.
    if (manifest === undefined || (!manifest.isResumable && journal === undefined)) {
      if (paths.isNamed) await directory.clear();
      else await directory.end();
      return { kind: 'fresh', directory: paths.isNamed ? directory : undefined };
    }
    if (!request.resume) {
      throw new UsageError(
        `an unfinished or kept job of ${manifest.output} exists in ${paths.jobDirectory}: give --resume to go on, or --force to discard it`,
        'ERR_JOB_UNFINISHED',
      );
    }
    const finished = journal === undefined ? readFinishedRuns(paths.jobDirectory) : { runs: [], recordCount: 0 };
    return { kind: 'continue', directory, manifest, journal, finished };
  } catch (error) {
    directory.release();
    throw error;
  }
}

/** A manifest that is damaged matters only where there is work that it tells of. */
function readManifestIfNeeded(jobDirectory: string, request: JobRequest): JobManifest | undefined {
  try {
    return readManifest(jobDirectory);
  } catch (error) {
    const isNeeded =
      listCommittedSplits(jobDirectory).length > 0 || nameExists(join(jobDirectory, JOURNAL_NAME), 'temp');
    if (isNeeded || !(error instanceof VerificationError)) throw error;
    request.onWarning(`${error.message}; nothing had been done, and the job begins anew`);
    return undefined;
  }
}

/**
 * Outputs are staged here, and there is no job directory where this run would have one: that run had
 * other temp directories, or they were emptied since.
 */
function refuseStagingOfOthers(request: JobRequest, output: string, { stagingDirectory }: JobPaths): void {
  if (!nameExists(stagingDirectory, 'output')) return;
  requirePrivate(stagingDirectory);
  const directory = readStagingOwner(stagingDirectory);
  if (directory === undefined || !nameExists(directory, 'temp')) return;
  const holder = findJobHolder(directory);
  if (holder !== undefined) {
    throw new UsageError(
      `another job of ${output} is under way, held by process ${holder.pid} on ${holder.host}; wait for it or stop it`,
      'ERR_JOB_LOCKED',
    );
  }
  if (request.force && !request.resume) return;
  throw new UsageError(
    `an unfinished job of ${output} exists in ${directory}: give the temp directories that it had, and --resume to go on, or --force to discard it`,
    'ERR_JOB_UNFINISHED',
  );
}
