/**
 * How a job with outputs on disk begins: from nothing, or where an earlier run of it stopped.
 */
import { UsageError } from '../errors.js';
import { nameExists } from '../io/paths.js';
import { type FinishedRuns, readFinishedRuns } from '../job-directory/finished-runs.js';
import { JobDirectory } from '../job-directory/job-directory.js';
import { type JobManifest, readManifest } from '../job-directory/manifest.js';
import { type CommitJournal, readJournal } from '../output/commit-journal.js';
import type { FilesPlaces } from './job-places.js';
import type { JobRequest } from './job-request.js';

export type JobStart =
  /** `directory`: what is in it is to be discarded; undefined: there is none. */
  | { readonly kind: 'fresh'; readonly directory: JobDirectory | undefined }
  | Continuation;

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
export function findStart(request: JobRequest, { output, paths }: FilesPlaces): JobStart {
  const directory = JobDirectory.find(paths);
  if (directory === undefined) {
    if (!request.force && nameExists(paths.stagingDirectory, 'output')) throw strayStaging(output.path, paths);
    return { kind: 'fresh', directory: undefined };
  }
  try {
    if (request.force && !request.resume) return { kind: 'fresh', directory };
    const manifest = readManifest(paths.jobDirectory);
    if (manifest === undefined) return { kind: 'fresh', directory };
    const journal = readJournal(paths.stagingDirectory);
    // What a killed job left that was not resumable is of no use to anybody.
    if (!manifest.isResumable && journal === undefined) return { kind: 'fresh', directory };
    if (!request.resume) {
      throw new UsageError(
        `an unfinished job of ${manifest.output} exists in ${paths.jobDirectory}: give --resume to go on, or --force to discard it`,
        'ERR_JOB_UNFINISHED',
      );
    }
    return { kind: 'continue', directory, manifest, journal, finished: readFinishedRuns(paths.jobDirectory) };
  } catch (error) {
    directory.release();
    throw error;
  }
}
