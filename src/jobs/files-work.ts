/**
 * What a job makes on disk whose output is on disk: found again or made before it begins, kept or removed when
 * it ends.
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
import { removeContents } from '../io/directories.js';
import { removeFile } from '../io/files.js';
import { nameExists } from '../io/paths.js';
import type { JobControl } from '../job-control.js';
import { type FinishedRanges, finishedRangeNames } from '../job-directory/finished-ranges.js';
import type { JobDirectory, JobFate } from '../job-directory/job-directory.js';
import { looksLikeLock } from '../job-directory/job-lock.js';
import { type JobManifest, replaceJobManifest, writeJobManifest } from '../job-directory/job-manifest.js';
import { listCommittedSlices, revokePileSet, sliceOfPileSet } from '../job-directory/pile-set-commits.js';
import { type CommitJournal, readJournal, removeJournal } from '../output/commit-journal.js';
import { takeBack } from '../output/output-moves.js';
import { type OutputSummary, StagedOutput } from '../output/staged-output.js';
import type { KeptWork } from '../passes/job-context.js';
import { pilesOfStripe, type TempPlace } from '../pile-sets/pile-layout.js';
import { describeJob } from './describe-job.js';
import type { FilesPlaces } from './job-places.js';
import type { WorkLayout } from './job-plan.js';
import type { Continuation, JobStart } from './job-start.js';
import type { JobWork } from './job-work.js';
import type { PreparedJob } from './prepare-job.js';

export class FilesWork implements JobWork {
  readonly tempPlaces: readonly TempPlace[];
  readonly indexDirectory: string;
  readonly kept: KeptWork | undefined;
  readonly #prepared: PreparedJob;
  readonly #places: FilesPlaces;
  readonly #directory: JobDirectory;
  /** What is gone on with. */
  readonly #before: Continuation | undefined;
  readonly output: StagedOutput;
  /** What becomes of the directory when the job ends, as far as is decided. */
  #fate: JobFate;
  #manifest: JobManifest | undefined;

  constructor(prepared: PreparedJob, places: FilesPlaces, start: JobStart) {
    const { plan, request, tempPlaces, outputGate } = prepared;
    const { paths } = places;
    this.#prepared = prepared;
    this.#places = places;
    this.#directory = start.directory;
    this.#before = prepared.before;
    // No error may lose the work of an earlier attempt, nor the journal that undoes its moves.
    this.#fate = this.#directory.wasThere ? 'kept' : 'discarded';
    this.tempPlaces = tempPlaces.in(paths.dataDirectories);
    this.indexDirectory = paths.jobDirectory;
    this.output = new StagedOutput(places.output, paths, outputGate);
    const { layout } = plan;
    const finished = this.#finishedBefore;
    this.kept =
      layout === undefined
        ? undefined
        : {
            output: this.output,
            finished,
            isRemoved: stripesWithout(finished.ranges, layout),
            keepsStripes: request.keepTemp,
          };
  }

  /** Makes or finds again what the job needs on disk. */
  async open(): Promise<void> {
    try {
      await (this.#before === undefined ? this.#beginAnew() : this.#goOn(this.#before));
    } catch (error) {
      if (this.#before !== undefined) this.#keep(error);
      throw error;
    }
  }

  /** Makes the output durable, then visible. @returns the final paths of the shards. */
  async commit(summary: OutputSummary, control: JobControl): Promise<readonly string[]> {
    const { isResumable } = this.#prepared.plan;
    const moves = await this.output.prepareCommit(summary, control);
    if (isResumable || !moves.isOneMove) {
      if (!isResumable) await this.#makeResumable();
      await this.output.noteMoves(moves);
    }
    return this.output.commitMoves(moves);
  }

  /** Several moves can be finished, or taken back, by a later attempt that finds the directory, whatever happens. */
  async #makeResumable(): Promise<void> {
    if (this.#manifest !== undefined) await replaceJobManifest(this.#places.paths.jobDirectory, this.#manifest);
    await this.#directory.syncNames();
  }

  /** Ends the use of the directory; nothing that the job has there may be open. */
  end(): Promise<void> {
    return this.#directory.end(this.#fate);
  }

  finishMoves(journal: CommitJournal): Promise<readonly string[]> {
    return this.output.finish(journal);
  }

  async failed(error: unknown): Promise<void> {
    if (await isWorthKeeping(error, this.#places.paths.jobDirectory, this.kept !== undefined)) this.#keep(error);
    else this.#fate = 'discarded';
  }

  async succeeded(): Promise<void> {
    const { keepTemp } = this.#prepared.request;
    this.#fate = keepTemp ? 'kept' : 'completed';
    if (keepTemp) await this.#removeRecordsOfOutputs();
  }

  get #finishedBefore(): FinishedRanges {
    return this.#before?.finished ?? { ranges: [], recordCount: 0 };
  }

  /** Discards what there is of an earlier run. */
  async #beginAnew(): Promise<void> {
    const { request, inputs, inputIds, plan } = this.#prepared;
    const { output, paths } = this.#places;
    const directory = this.#directory;
    if (directory.wasThere) {
      const journal = directory.hasJobDirectory ? readJournalIfWhole(paths.jobDirectory) : undefined;
      if (journal !== undefined) await takeBack(output, paths, journal);
      await directory.clear();
    }
    this.#fate = 'discarded';
    await directory.makeDirectories(plan.isResumable);
    const manifest = await describeJob(request, inputs, inputIds, plan, this.#places, directory.removesJobDirectory);
    this.#manifest = manifest;
    await writeJobManifest(paths.jobDirectory, manifest);
  }

  async #goOn(before: Continuation): Promise<void> {
    const { jobDirectory } = this.#places.paths;
    this.#manifest = before.manifest;
    const { ranges } = before.finished;
    const hasTempData = ranges.length > 0 || listCommittedSlices(jobDirectory).length > 0;
    if (before.journal === undefined && hasTempData) this.#directory.requireDataDirectories();
    await this.#directory.makeDirectories(this.#prepared.plan.isResumable);
    if (before.journal === undefined) this.output.requireStaged(ranges.flatMap((range) => range.regions));
  }

  #keep(error: unknown): void {
    this.#fate = 'kept';
    const { jobDirectory } = this.#places.paths;
    if (error instanceof PileshufError && !isSameAgain(error)) setUnfinishedJob(error, { directory: jobDirectory });
  }

  /** The outputs that they tell of are staged no longer. */
  async #removeRecordsOfOutputs(): Promise<void> {
    const { jobDirectory, stagingDirectory } = this.#places.paths;
    for (const name of finishedRangeNames(jobDirectory).reverse()) removeFile(join(jobDirectory, name), 'temp');
    await removeJournal(jobDirectory);
    removeContents(stagingDirectory, looksLikeLock);
  }
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
  ranges: readonly { readonly first: number; readonly end: number }[],
  layout: WorkLayout,
): (stripe: number) => boolean {
  const isFinished = new Uint8Array(layout.pileCount);
  for (const { first, end } of ranges) isFinished.fill(1, first, end);
  return (stripe) => {
    const { first, end } = pilesOfStripe(layout, stripe);
    return !isFinished.subarray(first, end).includes(0);
  };
}

/** @param keepsPileSets whether there may be some that are committed. */
async function isWorthKeeping(error: unknown, jobDirectory: string, keepsPileSets: boolean): Promise<boolean> {
  try {
    if (!nameExists(jobDirectory, 'temp')) return false;
    if (readJournal(jobDirectory) !== undefined || error instanceof StagedOutputError) return true;
    if (!keepsPileSets || isForGood(error)) return false;
    const damaged = error instanceof PileshufError ? error.pileSetName : undefined;
    const slice = damaged === undefined ? undefined : sliceOfPileSet(damaged);
    if (slice !== undefined) await revokePileSet(jobDirectory, slice);
    return listCommittedSlices(jobDirectory).length > 0;
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
