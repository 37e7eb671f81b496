/** The place of a job's output, and the files of an earlier attempt there: the job resumes or discards it, or makes the caller choose. */
import { join } from 'node:path';
import { START_ANEW_ADVICE, UsageError, VerificationError } from '../errors.js';
import { ifPossible, type Release } from '../floor/cleanup.js';
import { nameExists } from '../io/paths.js';
import { damagedFileError } from '../io/sealed-file.js';
import { JobDirectory } from '../job-directory/job-directory.js';
import { type JobManifest, MANIFEST_NAME, readJobManifest } from '../job-directory/job-manifest.js';
import { dataDirectoryIn, idOfOutput, JOURNAL_NAME } from '../job-directory/job-paths.js';
import {
  type FinishedRanges,
  type FoundNotes,
  type RangeLimits,
  readFinishedRanges,
  readNotes,
} from '../job-directory/notes.js';
import { listCommittedSlices } from '../job-directory/pile-set-commits.js';
import type { ShuffleReport } from '../options/reports.js';
import { type CommitJournal, readJournal } from '../places/outputs/commit-journal.js';
import { formatOutputIdentity, outputIdentityOf } from '../places/outputs/destination.js';
import { MOST_SHARDS } from '../plan/shard-cuts.js';
import { recordBytesOf } from '../sinks/output-target.js';
import { nameSome } from '../values/format-numbers.js';
import { type KnownOutput, refusalOrEnd } from './finished-job.js';
import { type ComparedJob, jobWithSeed, type ManifestOfShuffle, requireSameJob } from './job-description.js';
import type { FilePlaces, JobPlaces, StreamPlaces } from './job-places.js';
import { type Callbacks, type OutputRequest, prefixesOf, type ResumeRequest } from './request.js';
import { warnOfOtherShards } from './split-report.js';

/** The work that an earlier attempt left for this one. */
export interface EarlierAttempt {
  readonly manifest: JobManifest;
  /** Defined: the whole output is written, and its move into place has started. */
  readonly journal: CommitJournal | undefined;
  readonly finished: FinishedRanges;
  /** The notes of what it decided between its passes. */
  readonly notes: FoundNotes;
}

/** Places of files that the job holds. */
export type LockedPlaces = FilePlaces & { readonly directory: JobDirectory };

type StartRequest = Pick<OutputRequest & ResumeRequest & Callbacks, 'force' | 'resume' | 'mayResume' | 'onWarning'>;

interface ClaimedPlace {
  readonly places: StreamPlaces | LockedPlaces;
  readonly earlier: EarlierAttempt | undefined;
  /** The manifest of the job that is resumed, also if nothing is left of its work. */
  readonly manifest: ManifestOfShuffle | undefined;
}

/**
 * Takes hold of the place of an output, and of the work of an earlier attempt at the same job.
 * @param compared must be the job of the earlier attempt; undefined: no later call can resume the job.
 * @param isDryRun whether this changes nothing, and locks nothing.
 */
export async function lockPlaces(
  request: OutputRequest & ResumeRequest & Callbacks,
  chosen: JobPlaces,
  compared: ComparedJob | undefined,
  releases: Release[],
  isDryRun = false,
): Promise<ClaimedPlace> {
  if (chosen.kind === 'stream') return { places: chosen, earlier: undefined, manifest: undefined };
  const { place } = chosen;
  const directory = new JobDirectory(chosen.paths, isDryRun, (staging) => place.discardStaged?.(staging));
  releases.push(() => directory.release());
  const found = await findEarlier(request, chosen, directory);
  const manifest =
    found && compared && (await requireSameJob(found.manifest, compared, chosen, hasBegunOutput(found, directory)));
  const earlier = found && manifest && hasWorkOnDisk(found) ? { ...found, manifest } : undefined;
  if (earlier?.journal === undefined) {
    const { output = '', resume } = request;
    try {
      await place.requireReplaceable(output, compared?.inputs ?? [], isDryRun);
    } catch (error) {
      if (!resume || isDryRun || compared === undefined) throw error;
      throw await refusalOrEnd(error, knownOutput(chosen), (seed) => jobWithSeed(compared, seed));
    }
    warnOfOtherShards(request, place);
  }
  return { places: { ...chosen, directory }, earlier, manifest };
}

export function knownOutput({ place, paths }: FilePlaces): KnownOutput {
  return { id: idOfOutput(paths), lines: () => place.describeFiles() };
}

/** Returns whether the attempt left work on disk: piles, or an output that was moving. Piles in memory are gone. */
function hasWorkOnDisk({ manifest, journal }: EarlierAttempt): boolean {
  return manifest.layout !== null || journal !== undefined;
}

/** Returns whether a part of the output may have been written, or is noted to begin somewhere. */
function hasBegunOutput({ journal, notes, finished }: EarlierAttempt, directory: JobDirectory): boolean {
  return journal !== undefined || notes.cuts !== undefined || finished.noteCount > 0 || directory.hasStagedOutputs;
}

/** @param pileSets how many of them the earlier attempt had committed. */
export function resumedWork(earlier: EarlierAttempt | undefined, pileSets: number): ShuffleReport['resumed'] {
  if (earlier === undefined) return undefined;
  return { pileSets, outputBytes: recordBytesOf(earlier.finished.ranges.flatMap((range) => range.regions)) };
}

/**
 * @param directory of the job, held.
 * @returns undefined: the job starts anew, and discards the files of an earlier attempt.
 */
export async function findEarlier(
  request: StartRequest,
  places: FilePlaces,
  directory: JobDirectory,
): Promise<EarlierAttempt | undefined> {
  const { jobDirectory } = places.paths;
  if (!directory.existedBefore) return undefined;
  const discards = request.force && !request.resume;
  requireWithinReach(directory, places, discards, request.onWarning);
  const { manifest, journal } = directory.hasJobDirectory ? readRecords(places, request, discards) : NO_RECORDS;
  if (manifest !== undefined) directory.adoptManifest(manifest);
  // A killed job that cannot be resumed is of no use.
  const isUseless = manifest === undefined || (!manifest.isResumable && journal === undefined);
  if (discards || isUseless) {
    warnOfLeftData(manifest, places, request.onWarning);
    if (!discards) await directory.clear();
    return undefined;
  }
  if (!request.resume) {
    const advice = request.mayResume
      ? 'give `resume` to resume it, or `force` to discard it'
      : 'give `force` to discard it';
    throw new UsageError(
      `an unfinished or kept job of ${manifest.output} exists in ${jobDirectory}: ${advice}`,
      'ERR_JOB_UNFINISHED',
    );
  }
  if (journal !== undefined) return { manifest, journal, finished: NOTHING_FINISHED, notes: {} };
  const limits = limitsOf(manifest);
  const finished = readFinishedRanges(jobDirectory, limits);
  return { manifest, journal, finished, notes: readNotes(jobDirectory, limits) };
}

const NOTHING_FINISHED: FinishedRanges = { ranges: [], noteCount: 0 };

/** Bounds for the numbers in the records of finished ranges and in the note of cuts. */
function limitsOf({ layout, spec: { cut } }: JobManifest): RangeLimits {
  const { shards } = cut;
  const mostShards =
    shards === undefined
      ? 1
      : shards.by === 'count' && !('each' in cut && cut.each !== undefined)
        ? Math.min(shards.shardCount, MOST_SHARDS)
        : MOST_SHARDS;
  return { pileCount: layout?.pileCount ?? 0, mostShards };
}

export const OTHER_JOB_ADVICE =
  'give the `tempDirs` or `jobDir` of that job, and `resume` to resume it or `force` to discard it';

/** The output may be staged by a job with other directories, or with directories on a disk that is not mounted. */
function requireWithinReach(
  directory: JobDirectory,
  { output, paths }: FilePlaces,
  discards: boolean,
  onWarning: Callbacks['onWarning'],
): void {
  const owner = directory.readStagingOwner();
  if (owner === undefined) return;
  const isOther = owner.jobDirectory !== paths.jobDirectory;
  const isThere = isOther ? nameExists(owner.jobDirectory, 'temp') : hasManifest(directory, paths.jobDirectory);
  if (!owner.isResumable) {
    if (isOther && isThere) onWarning(`a killed job left ${owner.jobDirectory}; remove it`);
    return;
  }
  if (isOther && isThere) {
    throw new UsageError(
      `an unfinished job of ${output.path} exists in ${owner.jobDirectory}: ${OTHER_JOB_ADVICE}`,
      'ERR_JOB_UNFINISHED',
    );
  }
  if (isThere || discards || !(isOther || directory.hasStagedOutputs)) return;
  throw new UsageError(
    `the job directory ${owner.jobDirectory} of an unfinished job of ${output.path} is missing; check that its disk is mounted, or ${START_ANEW_ADVICE}`,
    'ERR_JOB_UNFINISHED',
  );
}

function hasManifest(directory: JobDirectory, jobDirectory: string): boolean {
  return directory.hasJobDirectory && nameExists(join(jobDirectory, MANIFEST_NAME), 'temp');
}

interface EarlierRecords {
  readonly manifest: JobManifest | undefined;
  readonly journal: CommitJournal | undefined;
}

const NO_RECORDS: EarlierRecords = { manifest: undefined, journal: undefined };

/** @param discards whether damaged records are ignored. */
function readRecords({ output, paths }: FilePlaces, request: StartRequest, discards: boolean): EarlierRecords {
  const { jobDirectory } = paths;
  const ifWhole = <T>(read: () => T): T | undefined => (discards ? ifPossible(read) : read());
  const manifest = ifWhole(() => readManifestIfNeeded(jobDirectory, request));
  const journal = ifWhole(() => readJournal(jobDirectory));
  const isOther =
    (manifest !== undefined && identityIn(manifest) !== outputIdentityOf(output)) ||
    (journal !== undefined && journal.outputIdentity !== outputIdentityOf(output));
  // A directory with a name derived from this output holds no other job, unless somebody changed a file.
  if (!isOther || (discards && !paths.isNamed)) return { manifest, journal };
  throw new UsageError(
    `${jobDirectory} holds an unfinished job of another output, ${manifest?.output ?? journal?.outputIdentity}: resume or discard that job with its own command, or name another \`jobDir\``,
    'ERR_JOB_UNFINISHED',
  );
}

function identityIn({ output, spec: { cut } }: JobManifest): string {
  return formatOutputIdentity(cut.shards === undefined ? 'file' : 'shards', output, prefixesOf(cut));
}

/** A missing or damaged manifest matters only if there is work that it describes. */
function readManifestIfNeeded(jobDirectory: string, request: StartRequest): JobManifest | undefined {
  const hasWork = listCommittedSlices(jobDirectory).length > 0;
  try {
    const manifest = readJobManifest(jobDirectory);
    // A job that is killed at its very end may leave only a journal.
    if (manifest === undefined && hasWork) throw damagedFileError(join(jobDirectory, MANIFEST_NAME), 'it is missing');
    return manifest;
  } catch (error) {
    const isNeeded = hasWork || nameExists(join(jobDirectory, JOURNAL_NAME), 'temp');
    if (isNeeded || !(error instanceof VerificationError)) throw error;
    const [damage] = error.message.split('; ');
    request.onWarning(`${damage}; nothing was done yet, and the job starts anew, with a new seed if it draws one`);
    return undefined;
  }
}

/** Temp data of the discarded job on other disks stays: a path in a file is not reason enough to delete data there. */
function warnOfLeftData(
  manifest: JobManifest | undefined,
  { paths }: FilePlaces,
  onWarning: Callbacks['onWarning'],
): void {
  const left = (manifest?.tempDirs ?? [])
    .map((tempDir, disk) => dataDirectoryIn(tempDir, paths, disk))
    .filter((path) => !paths.dataDirectories.includes(path) && nameExists(path, 'temp'));
  if (left.length > 0) onWarning(`temp data of the discarded job is left in ${nameSome(left)}; remove it`);
}
