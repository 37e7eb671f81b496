/** The files of a job whose output is on disk: its job directory, temp data and staged output, from start to end. */
import { join } from 'node:path';
import {
  addCleanupErrors,
  InputError,
  PileshufError,
  StagedOutputError,
  setUnfinishedJob,
  UsageError,
  VerificationError,
  WrongTwiceError,
} from '../errors.js';
import { removeContents } from '../io/directories.js';
import { removeFile } from '../io/files.js';
import { nameExists } from '../io/paths.js';
import type { GateNumber, JobControl } from '../job-control.js';
import type { JobDirectory, JobFate } from '../job-directory/job-directory.js';
import { looksLikeLock } from '../job-directory/job-lock.js';
import { type JobManifest, replaceJobManifest, writeJobManifest } from '../job-directory/job-manifest.js';
import type { KeptNotes } from '../job-directory/notes.js';
import { finishedRangeNames } from '../job-directory/notes.js';
import { listCommittedSlices, revokePileSet, sliceOfPileSet } from '../job-directory/pile-set-commits.js';
import { type CommitJournal, readJournal, removeJournal } from '../output/commit-journal.js';
import { takeBack } from '../output/output-moves.js';
import { type OutputSummary, StagedOutput } from '../output/staged-output.js';
import type { KeptPileSets } from '../passes/committed-slices.js';
import type { KeptRanges } from '../passes/shuffle-pass.js';
import { pilesOfStripe, type RescatterTarget } from '../pile-sets/pile-layout.js';
import type { EarlierAttempt } from './earlier-attempt.js';
import type { FilesSite } from './site.js';
import type { TempDisks } from './temp-disks.js';
import type { KeptLayout } from './work-plan.js';

export interface JobFilesParts {
  readonly site: FilesSite;
  readonly directory: JobDirectory;
  readonly earlier: EarlierAttempt | undefined;
  readonly disks: TempDisks;
  readonly outputGate: GateNumber;
  readonly isResumable: boolean;
  /** Whether a later call can resume the job, if only to finish the moves of its outputs. */
  readonly mayResume: boolean;
  /** Undefined: between the passes, nothing on disk is of use to a later attempt. */
  readonly layout: KeptLayout | undefined;
  readonly keepTemp: boolean;
  readonly describe: (removesJobDirectory: boolean) => Promise<JobManifest>;
}

/** What of an earlier attempt is there for this one, and of this one for a later attempt. */
type KeptWork = KeptPileSets & KeptRanges & KeptNotes;

export class JobFiles {
  readonly kind = 'files';
  readonly piles: RescatterTarget;
  readonly output: StagedOutput;
  /** Undefined: nothing of the work outlives a job that fails. */
  readonly kept: KeptWork | undefined;
  readonly #parts: JobFilesParts;
  /** As decided so far. */
  #fate: JobFate;
  #mayHaveJournal: boolean;
  #manifest: JobManifest | undefined;

  constructor(parts: JobFilesParts) {
    const { site, directory, disks, outputGate, earlier } = parts;
    const { paths } = site;
    this.#parts = parts;
    this.#mayHaveJournal = earlier?.journal !== undefined;
    // An error must keep the work of an earlier attempt, and the journal that undoes its moves.
    this.#fate = directory.wasThere ? 'kept' : 'discarded';
    this.piles = { disks: disks.in(paths.dataDirectories), indexDirectory: paths.jobDirectory };
    this.output = new StagedOutput(site.output, paths, outputGate);
    this.kept = parts.layout && this.#keptWith(parts.layout);
  }

  #keptWith(layout: KeptLayout): KeptWork {
    const { earlier, site } = this.#parts;
    const finished = earlier?.finished ?? { ranges: [], recordCount: 0 };
    return {
      jobDirectory: site.paths.jobDirectory,
      isStripeDone: stripesOf(finished.ranges, layout),
      finished,
      output: this.output,
      hasFinishedRanges: finished.recordCount > 0,
      found: (name) => earlier?.notes[name],
    };
  }

  async open(): Promise<void> {
    const { earlier } = this.#parts;
    if (earlier === undefined) return this.#startAnew();
    try {
      await this.#resume(earlier);
    } catch (error) {
      this.#keepAndTell(error);
      throw error;
    }
  }

  /** Makes the output durable, then visible. Returns the final paths of the shards; none for one output. */
  async commit(summary: OutputSummary, control: JobControl): Promise<readonly string[]> {
    const { isResumable } = this.#parts;
    const moves = await this.output.prepareCommit(summary, control);
    if (isResumable || !moves.isOneMove) {
      if (!isResumable) await this.#makeResumable();
      this.#mayHaveJournal = true;
      await this.output.noteMoves(moves);
    }
    return this.output.commitMoves(moves);
  }

  /** A later attempt must be able to finish or undo several moves: it needs the manifest and the names. */
  async #makeResumable(): Promise<void> {
    const { site, directory } = this.#parts;
    if (this.#manifest !== undefined) await replaceJobManifest(site.paths.jobDirectory, this.#manifest);
    await directory.syncNames();
  }

  /** Decides, before anything is removed, whether the work stays. `warn` hears of what stays but cannot be resumed. */
  async failed(error: unknown, warn: (error: unknown) => void): Promise<void> {
    const { site, mayResume } = this.#parts;
    const isKept = this.kept !== undefined;
    const mayHaveWork = this.#mayHaveJournal || isKept || error instanceof StagedOutputError;
    if (!mayHaveWork || !(await isWorthKeeping(error, site.paths.jobDirectory, isKept))) this.#fate = 'discarded';
    else if (mayResume) this.#keepAndTell(error);
    else {
      this.#fate = 'kept';
      const { jobDirectory, stagingDirectory } = site.paths;
      warn(
        `${jobDirectory} and ${stagingDirectory} remain, because outputs had begun to move; \`force\` replaces them`,
      );
    }
  }

  async succeeded(): Promise<void> {
    const { keepTemp } = this.#parts;
    this.#fate = keepTemp ? 'kept' : 'completed';
    if (keepTemp) await this.#removeRecordsOfOutput();
  }

  /** The job must have closed all its files in the directory. */
  end(): Promise<void> {
    return this.#parts.directory.end(this.#fate);
  }

  async #startAnew(): Promise<void> {
    const { site, directory, isResumable, describe } = this.#parts;
    const { output, paths } = site;
    if (directory.wasThere) {
      const journal = directory.hasJobDirectory ? readJournalIfWhole(paths.jobDirectory) : undefined;
      if (journal !== undefined) await takeBack(output, paths, journal);
      await directory.clear();
    }
    this.#fate = 'discarded';
    await directory.makeDirectories(isResumable);
    this.#manifest = await describe(directory.removesJobDirectory);
    await writeJobManifest(paths.jobDirectory, this.#manifest);
  }

  async #resume({ manifest, journal, finished }: EarlierAttempt): Promise<void> {
    const { site, directory, isResumable } = this.#parts;
    this.#manifest = manifest;
    const { ranges } = finished;
    const hasTempData = ranges.length > 0 || listCommittedSlices(site.paths.jobDirectory).length > 0;
    if (journal === undefined && hasTempData) directory.requireDataDirectories();
    await directory.makeDirectories(isResumable);
    // The manifest may have other cuts now.
    if (journal === undefined) await replaceJobManifest(site.paths.jobDirectory, manifest);
    if (journal === undefined) this.output.requireStaged(ranges.flatMap((range) => range.regions));
  }

  #keepAndTell(error: unknown): void {
    this.#fate = 'kept';
    const { jobDirectory } = this.#parts.site.paths;
    if (error instanceof PileshufError && !wouldFailAgain(error)) setUnfinishedJob(error, { directory: jobDirectory });
  }

  /** The outputs that these records describe have left the staging directory. */
  async #removeRecordsOfOutput(): Promise<void> {
    const { jobDirectory, stagingDirectory } = this.#parts.site.paths;
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

/** Returns a function that tells whether all piles of a stripe are finished. */
function stripesOf(
  ranges: readonly { readonly first: number; readonly end: number }[],
  layout: KeptLayout,
): (stripe: number) => boolean {
  const isFinished = new Uint8Array(layout.pileCount);
  for (const { first, end } of ranges) isFinished.fill(1, first, end);
  return (stripe) => {
    const { first, end } = pilesOfStripe(layout, stripe);
    return !isFinished.subarray(first, end).includes(0);
  };
}

async function isWorthKeeping(error: unknown, jobDirectory: string, mayHavePileSets: boolean): Promise<boolean> {
  try {
    if (!nameExists(jobDirectory, 'temp')) return false;
    if (readJournal(jobDirectory) !== undefined || error instanceof StagedOutputError) return true;
    if (!mayHavePileSets || canNeverResume(error)) return false;
    const damaged = error instanceof PileshufError ? error.pileSetName : undefined;
    const slice = damaged === undefined ? undefined : sliceOfPileSet(damaged);
    if (slice !== undefined) await revokePileSet(jobDirectory, slice);
    return listCommittedSlices(jobDirectory).length > 0;
  } catch (failure) {
    // A file that cannot be read now may be whole: keep it.
    if (error instanceof PileshufError) addCleanupErrors(error, [failure]);
    return true;
  }
}

/** Whether the inputs have changed or must be changed, or an unknown part of the work is wrong. */
export function canNeverResume(error: unknown): boolean {
  const isOfInputs = error instanceof InputError && INPUTS_MUST_CHANGE.has(error.code);
  return isOfInputs || wouldFailAgain(error);
}

const INPUTS_MUST_CHANGE: ReadonlySet<string> = new Set([
  'ERR_INPUT_CHANGED',
  'ERR_SAMPLE_KEY_REPEATED',
  'ERR_TOO_FEW_RECORDS',
  'ERR_FIELD_MISSING',
  'ERR_COUNTS_DIFFER',
  'ERR_NAMES_DIFFER',
]);

/**
 * Whether a later attempt would fail in the same way, because it would reuse all of the work. A pile that was wrong twice may
 * come out right with other memory, or on another machine.
 */
function wouldFailAgain(error: unknown): boolean {
  return error instanceof VerificationError && error.pileSetName === undefined && !(error instanceof WrongTwiceError);
}
