/**
 * What a job makes on disk before it begins: directories for its temp data, found again or made, and its
 * output. And what becomes of them when it ends.
 */
import { join } from 'node:path';
import {
  addCleanupErrors,
  InputError,
  PileshufError,
  StagedOutputError,
  setUnfinishedJob,
  UsageError,
  VerificationError,
} from '../errors.js';
import { removeFile } from '../io/files.js';
import { removeContents } from '../io/private-directory.js';
import { finishedRunNames } from '../job-directory/finished-runs.js';
import type { JobDirectory } from '../job-directory/job-directory.js';
import { looksLikeLock } from '../job-directory/lock-name.js';
import { type JobManifest, replaceManifest, writeManifest } from '../job-directory/manifest.js';
import { listCommittedSplits, revokePileSet, splitOfPileSet } from '../job-directory/pile-set-commits.js';
import { type CommitJournal, readJournal, removeJournal } from '../output/commit-journal.js';
import type { JobOutput } from '../output/job-output.js';
import { takeBack } from '../output/output-moves.js';
import { StagedOutput } from '../output/staged-output.js';
import { StreamOutput } from '../output/stream-output.js';
import { pilesOfStripe, type TempPlace } from '../pile-store/store-layout.js';
import type { Release } from '../release-all.js';
import type { KeptWork } from './passes/job-context.js';
import { describeJob } from './prepare/describe-job.js';
import type { FilesPlaces, StreamPlaces } from './prepare/job-places.js';
import type { WorkLayout } from './prepare/job-plan.js';
import type { Continuation, JobStart } from './prepare/job-start.js';
import type { PreparedJob } from './prepare/prepare-job.js';

export interface JobWork {
  readonly tempPlaces: readonly TempPlace[];
  readonly indexDirectory: string;
  readonly output: JobOutput;
  /** Undefined: nothing outlives the job. */
  readonly kept: KeptWork | undefined;
  /** Ends what an earlier run had begun to move. @returns the final paths of the shards. */
  finishMoves(journal: CommitJournal): Promise<readonly string[]>;
  /** Decides, before anything is removed, whether what was done stays, for a run that goes on. */
  failed(error: unknown): Promise<void>;
  /** The outputs are where they belong. */
  succeeded(): Promise<void>;
}

export function openWork(prepared: PreparedJob, releases: Release[]): Promise<JobWork> {
  const { site } = prepared;
  return site.kind === 'stream'
    ? openStreamWork(prepared, site.places, releases)
    : openFilesWork(prepared, site.places, site.start, releases);
}

async function openStreamWork(prepared: PreparedJob, places: StreamPlaces, releases: Release[]): Promise<JobWork> {
  const tempPlaces = prepared.tempPlaces.makePrivate(releases);
  const output = await StreamOutput.open(places.output.path, prepared.control);
  releases.push(() => output.release());
  return {
    tempPlaces,
    indexDirectory: tempPlaces[0]?.directory ?? '',
    output,
    kept: undefined,
    finishMoves: async () => [],
    failed: async () => {},
    succeeded: async () => {},
  };
}

async function openFilesWork(
  prepared: PreparedJob,
  places: FilesPlaces,
  start: JobStart,
  releases: Release[],
): Promise<JobWork> {
  const { plan, request } = prepared;
  const { paths } = places;
  const { jobDirectory } = paths;
  const { directory } = start;
  const before = start.kind === 'continue' && hasWorkOnDisk(start) ? start : undefined;
  // Whatever goes wrong, the work of an earlier run is not lost by it.
  directory.isKept = before !== undefined;
  releases.push(() => directory.end());
  const goOn = (error: unknown) => {
    directory.isKept = true;
    if (error instanceof PileshufError && !isSameAgain(error)) setUnfinishedJob(error, { directory: jobDirectory });
  };
  const manifest = await describeJob(prepared.request, prepared.inputs, prepared.plan, places);
  const output = new StagedOutput(places.output, paths, prepared.outputGate, {
    isResumable: plan.isResumable,
    beforeMoves: async () => {
      await replaceManifest(jobDirectory, manifest);
      await directory.syncNames();
    },
  });
  const finished = before?.finished ?? { runs: [], recordCount: 0 };
  try {
    if (before === undefined) await beginAnew(places, directory, manifest);
    else {
      if (before.journal === undefined) directory.requireDataDirectories();
      await directory.makeDirectories(plan.isResumable);
    }
    if (before?.journal === undefined) output.requireStaged(finished.runs.flatMap((run) => run.regions));
  } catch (error) {
    if (before !== undefined) goOn(error);
    throw error;
  }
  const { layout } = plan;
  const kept: KeptWork | undefined =
    layout === undefined
      ? undefined
      : { finished, isRemoved: stripesWithout(finished.runs, layout), keepsStripes: request.keepTemp };
  return {
    tempPlaces: prepared.tempPlaces.in(paths.dataDirectories),
    indexDirectory: jobDirectory,
    output,
    kept,
    finishMoves: (journal) => output.finish(journal),
    failed: async (error) => {
      if (await isWorthKeeping(error, jobDirectory, kept !== undefined)) goOn(error);
      else directory.isKept = false;
    },
    succeeded: async () => {
      directory.isKept = request.keepTemp;
      directory.dropsFormerFiles = true;
      if (!request.keepTemp) return;
      // The outputs that these tell of are no longer staged.
      for (const name of finishedRunNames(jobDirectory).reverse()) removeFile(join(jobDirectory, name), 'temp');
      await removeJournal(jobDirectory);
      removeContents(paths.stagingDirectory, looksLikeLock);
    },
  };
}

/** What was only in memory when the earlier run ended is gone, but for outputs that were moving. */
function hasWorkOnDisk({ manifest, journal }: Continuation): boolean {
  return manifest.layout !== null || journal !== undefined;
}

/** Discards what there is of an earlier run. */
async function beginAnew(places: FilesPlaces, directory: JobDirectory, manifest: JobManifest): Promise<void> {
  const { jobDirectory } = places.paths;
  if (directory.wasThere) {
    const journal = directory.hasJobDirectory ? readJournalIfWhole(jobDirectory) : undefined;
    if (journal !== undefined) await takeBack(places.output, places.paths, journal);
    await directory.clear();
  }
  await directory.makeDirectories(manifest.isResumable);
  await writeManifest(jobDirectory, manifest);
}

function readJournalIfWhole(jobDirectory: string): CommitJournal | undefined {
  try {
    return readJournal(jobDirectory);
  } catch (error) {
    if (error instanceof VerificationError || error instanceof UsageError) return undefined;
    throw error;
  }
}

/** Tells of each stripe whether all of its piles are finished. */
function stripesWithout(
  runs: readonly { readonly first: number; readonly end: number }[],
  layout: WorkLayout,
): (stripe: number) => boolean {
  const isFinished = new Uint8Array(layout.pileCount);
  for (const { first, end } of runs) isFinished.fill(1, first, end);
  return (stripe) => {
    const { first, end } = pilesOfStripe(layout, stripe);
    return !isFinished.subarray(first, end).includes(0);
  };
}

/** @param keepsPileSets whether there may be some that are committed. */
async function isWorthKeeping(error: unknown, jobDirectory: string, keepsPileSets: boolean): Promise<boolean> {
  try {
    if (readJournal(jobDirectory) !== undefined || error instanceof StagedOutputError) return true;
    if (!keepsPileSets || isForGood(error)) return false;
    const damaged = error instanceof PileshufError ? error.pileSetName : undefined;
    const split = damaged === undefined ? undefined : splitOfPileSet(damaged);
    if (split !== undefined) await revokePileSet(jobDirectory, split);
    return listCommittedSplits(jobDirectory).length > 0;
  } catch (failure) {
    // What cannot be looked at now may be whole: better kept than lost.
    if (error instanceof PileshufError) addCleanupErrors(error, [failure]);
    return true;
  }
}

/**
 * Whether a job that ended so can never be gone on with: it would not be the same inputs, or what it has is not
 * to be trusted, and nobody knows which part of it.
 */
function isForGood(error: unknown): boolean {
  return (error instanceof InputError && error.code === 'ERR_INPUT_CHANGED') || isSameAgain(error);
}

/** Whether a run that goes on would find the same wrong again, because nothing is made again for it. */
function isSameAgain(error: unknown): boolean {
  return error instanceof VerificationError && error.pileSetName === undefined;
}
