/**
 * How a job with outputs on disk begins: from nothing, or where an earlier run of it stopped.
 */
import { addCleanupErrors, PileshufError, UsageError } from '../../errors.js';
import { type FinishedRuns, type RunLimits, readFinishedRuns } from '../../job-directory/finished-runs.js';
import { JobDirectory } from '../../job-directory/job-directory.js';
import type { JobManifest } from '../../job-directory/manifest.js';
import type { CommitJournal } from '../../output/commit-journal.js';
import { MOST_SHARDS } from '../../plan/shard-cuts.js';
import { NO_RECORDS, readFormerRecords, requireWithinReach, warnOfLeftData } from './former-job.js';
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

/** What was only in memory when the earlier run ended is gone, but for outputs that were moving. */
export function hasWorkOnDisk({ manifest, journal }: Continuation): boolean {
  return manifest.layout !== null || journal !== undefined;
}

/**
 * Finds what an earlier run left, and takes hold of it; the caller releases `directory`.
 * @throws UsageError ERR_JOB_UNFINISHED when a job was left that may be gone on with, and nobody said
 *   whether to, or it cannot be reached from here; ERR_JOB_LOCKED when a process is at it now.
 */
export async function findStart(request: JobRequest, places: FilesPlaces): Promise<JobStart> {
  const { paths } = places;
  const directory = new JobDirectory(paths);
  try {
    if (!directory.wasThere) return { kind: 'fresh', directory };
    const discards = request.force && !request.resume;
    requireWithinReach(directory, places, discards, request.onWarning);
    const { manifest, journal } = directory.hasJobDirectory ? readFormerRecords(places, request, discards) : NO_RECORDS;
    if (manifest !== undefined) directory.removesJobDirectory = manifest.removesJobDirectory;
    if (discards) {
      warnOfLeftData(manifest, places, request.onWarning);
      return { kind: 'fresh', directory };
    }
    // What a job left that was killed and not resumable is of no use to anybody.
    if (manifest === undefined || (!manifest.isResumable && journal === undefined)) {
      warnOfLeftData(manifest, places, request.onWarning);
      await directory.clear();
      return { kind: 'fresh', directory };
    }
    if (!request.resume) {
      throw new UsageError(
        `an unfinished or kept job of ${manifest.output} exists in ${paths.jobDirectory}: give \`resume\` to go on, or \`force\` to discard it`,
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

/** Throws `error`, whatever becomes of the release. */
function thenRelease(error: unknown, directory: JobDirectory): never {
  try {
    directory.release();
  } catch (failure) {
    if (error instanceof PileshufError) addCleanupErrors(error, [failure]);
  }
  throw error;
}

/** What records of finished runs must not go beyond. */
function limitsOf({ layout, shards }: JobManifest): RunLimits {
  const mostShards = shards === null ? 1 : shards.by === 'count' ? Math.min(shards.amount, MOST_SHARDS) : MOST_SHARDS;
  return { pileCount: layout?.pileCount ?? 0, mostShards };
}
