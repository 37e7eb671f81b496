/**
 * What an earlier run of a job, or of another job, left where this one is to take place: whether it can be reached,
 * and what it says of itself.
 */
import { join } from 'node:path';
import { PileshufError, UsageError, VerificationError } from '../../errors.js';
import { nameExists } from '../../io/paths.js';
import type { JobDirectory } from '../../job-directory/job-directory.js';
import { dataDirectoryIn, JOURNAL_NAME } from '../../job-directory/job-paths.js';
import { type JobManifest, MANIFEST_NAME, readManifest } from '../../job-directory/manifest.js';
import { listCommittedSplits } from '../../job-directory/pile-set-commits.js';
import { type CommitJournal, readJournal } from '../../output/commit-journal.js';
import { formatOutputIdentity, outputIdentityOf } from '../../output/output-place.js';
import { damagedFile } from '../../sealed-json/damaged-file.js';
import type { FilesPlaces } from './job-places.js';
import type { JobRequest } from './job-request.js';

/**
 * Outputs may be staged for a job with other directories than this one's, or with directories on a disk that
 * is not there now.
 */
export function requireWithinReach(
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
      `an unfinished job of ${output.path} exists in ${owner.jobDirectory}: give the \`tempDirs\` or \`jobDir\` that it had, and \`resume\` to go on or \`force\` to discard it`,
      'ERR_JOB_UNFINISHED',
    );
  }
  if (isThere || discards || !(isOther || directory.hasStagedOutputs)) return;
  throw new UsageError(
    `the job directory ${owner.jobDirectory} of an unfinished job of ${output.path} is not there; check that its disk is mounted, or give \`force\` without \`resume\` to begin anew`,
    'ERR_JOB_UNFINISHED',
  );
}

function hasManifest(directory: JobDirectory, jobDirectory: string): boolean {
  return directory.hasJobDirectory && nameExists(join(jobDirectory, MANIFEST_NAME), 'temp');
}

/** What an earlier run noted, as far as it can be read. */
export interface FormerRecords {
  readonly manifest: JobManifest | undefined;
  readonly journal: CommitJournal | undefined;
}

export const NO_RECORDS: FormerRecords = { manifest: undefined, journal: undefined };

/**
 * @param discards whether damaged records do not matter.
 * @throws UsageError ERR_JOB_UNFINISHED when they are of another output: whoever runs that is to decide.
 */
export function readFormerRecords(
  { output, paths }: FilesPlaces,
  request: JobRequest,
  discards: boolean,
): FormerRecords {
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
    `${jobDirectory} holds an unfinished job of another output, ${manifest?.output ?? journal?.outputIdentity}: go on with that one, or discard it, with its own command, or name another \`jobDir\``,
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
export function warnOfLeftData(
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
