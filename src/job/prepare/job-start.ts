/**
 * How a job with outputs on disk begins: from nothing, or where an earlier run of it stopped.
 */
import { join } from 'node:path';
import { addCleanupErrors, PileshufError, UsageError, VerificationError } from '../../errors.js';
import { nameExists } from '../../io/paths.js';
import { damagedFile } from '../../job-directory/damaged-file.js';
import { type FinishedRuns, type RunLimits, readFinishedRuns } from '../../job-directory/finished-runs.js';
import { JobDirectory } from '../../job-directory/job-directory.js';
import { dataDirectoryIn, JOURNAL_NAME } from '../../job-directory/job-paths.js';
import { type JobManifest, MANIFEST_NAME, readManifest } from '../../job-directory/manifest.js';
import { listCommittedSplits } from '../../job-directory/pile-set-commits.js';
import { type CommitJournal, readJournal } from '../../output/commit-journal.js';
import { formatOutputIdentity, outputIdentityOf } from '../../output/output-place.js';
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
 *   whether to, or it cannot be reached from here; ERR_JOB_LOCKED when a process is at it now.
 */
export async function findStart(request: JobRequest, places: FilesPlaces): Promise<JobStart> {
  const { paths } = places;
  const directory = new JobDirectory(paths);
  try {
    if (!directory.wasThere) return { kind: 'fresh', directory };
    const discards = request.force && !request.resume;
    requireWithinReach(directory, places, discards, request.onWarning);
    const { manifest, journal } = directory.hasJobDirectory ? readRecords(places, request, discards) : NO_RECORDS;
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

/**
 * Outputs may be staged for a job with other directories than this one's, or with directories on a disk that
 * is not there now.
 */
function requireWithinReach(
  directory: JobDirectory,
  { output, paths }: FilesPlaces,
  discards: boolean,
  onWarning: (line: string) => void,
): void {
  const owner = directory.readStagingOwner();
  if (owner === undefined) return;
  const isOther = owner.jobDirectory !== paths.jobDirectory;
  const isThere = isOther ? nameExists(owner.jobDirectory, 'temp') : hasManifest(directory, paths.jobDirectory);
  if (!owner.isResumable) {
    if (isOther && isThere) onWarning(`${owner.jobDirectory} was left by a job that was killed; remove it`);
    return;
  }
  if (isOther && isThere) {
    throw new UsageError(
      `an unfinished job of ${output.path} exists in ${owner.jobDirectory}: give the --temp-dir or --job-dir that it had, and --resume to go on or --force to discard it`,
      'ERR_JOB_UNFINISHED',
    );
  }
  if (isThere || discards || !(isOther || directory.hasStagedOutputs)) return;
  throw new UsageError(
    `the job directory ${owner.jobDirectory} of an unfinished job of ${output.path} is not there; check that its disk is mounted, or give --force without --resume to begin anew`,
    'ERR_JOB_UNFINISHED',
  );
}

function hasManifest(directory: JobDirectory, jobDirectory: string): boolean {
  return directory.hasJobDirectory && nameExists(join(jobDirectory, MANIFEST_NAME), 'temp');
}

/** What an earlier run noted, as far as it can be read. */
interface Records {
  readonly manifest: JobManifest | undefined;
  readonly journal: CommitJournal | undefined;
}

const NO_RECORDS: Records = { manifest: undefined, journal: undefined };

/**
 * @param discards whether damaged records do not matter.
 * @throws UsageError ERR_JOB_UNFINISHED when they are of another output: whoever runs that is to decide.
 */
function readRecords({ output, paths }: FilesPlaces, request: JobRequest, discards: boolean): Records {
  const { jobDirectory } = paths;
  const ifWhole = <T>(read: () => T): T | undefined => (discards ? readIfWhole(read) : read());
  const manifest = ifWhole(() => readManifestIfNeeded(jobDirectory, request));
  const journal = ifWhole(() => readJournal(jobDirectory));
  const isOther =
    (manifest !== undefined && identityIn(manifest) !== outputIdentityOf(output)) ||
    (journal !== undefined && journal.outputIdentity !== outputIdentityOf(output));
  // A name that is derived from this output holds no other job, unless somebody changed a file.
  if (!isOther || (discards && !paths.isNamed)) return { manifest, journal };
  throw new UsageError(
    `${jobDirectory} holds an unfinished job of another output, ${manifest?.output ?? journal?.outputIdentity}: go on with that one, or discard it, with its own command, or name another --job-dir`,
    'ERR_JOB_UNFINISHED',
  );
}

function identityIn({ output, shards, shardPrefix }: JobManifest): string {
  return formatOutputIdentity(shards === null ? 'file' : 'shards', output, shards === null ? '' : shardPrefix);
}

function readIfWhole<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof PileshufError) return undefined;
    throw error;
  }
}

/** Where the former job had other disks: a path that a file names is nothing to remove by. */
function warnOfLeftData(
  manifest: JobManifest | undefined,
  { paths }: FilesPlaces,
  onWarning: (line: string) => void,
): void {
  for (const [disk, tempDir] of manifest?.tempDirs.entries() ?? []) {
    const left = dataDirectoryIn(tempDir, paths, disk);
    if (paths.dataDirectories.includes(left)) continue;
    if (nameExists(left, 'temp')) onWarning(`temp data of the job that was discarded is left in ${left}; remove it`);
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
