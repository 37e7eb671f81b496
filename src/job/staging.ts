/**
 * Owns the files of a job from their opening to their commit: its job directory, its temp data and its staged output, or
 * its stream. When the job fails, decides whether they stay for a later attempt.
 */
import { join } from 'node:path';
import {
  AbortError,
  addCleanupErrors,
  counted,
  InputError,
  PileshufError,
  StagedOutputError,
  setUnfinishedJob,
  UsageError,
  VerificationError,
  WrongTwiceError,
} from '../errors.js';
import { releasingAll } from '../floor/cleanup.js';
import { type GateNumber, type JobControl, UNGATED } from '../floor/job-control.js';
import { finalEnds } from '../formats/stored-ends.js';
import { removeContents } from '../io/directories.js';
import { type OpenFile, openOwnForRead, removeFile } from '../io/files.js';
import { nameExists } from '../io/paths.js';
import type { JobDirectory, JobFate } from '../job-directory/job-directory.js';
import { looksLikeLock } from '../job-directory/job-lock.js';
import { type JobManifest, replaceJobManifest, writeJobManifest } from '../job-directory/job-manifest.js';
import { type CheckpointNotes, rangesNoteNames } from '../job-directory/notes.js';
import { listCommittedSlices, revokePileSet, sliceOfPileSet } from '../job-directory/pile-set-commits.js';
import { reserveFile } from '../machine/open-file-limit.js';
import { pilesOfStripe, type RescatterTarget } from '../piles/pile-layout.js';
import { type CommitJournal, readJournal, removeJournal } from '../places/outputs/commit-journal.js';
import { closeStream, openStream } from '../places/outputs/output-stream.js';
import { type OutputSummary, StagedOutput } from '../places/outputs/staged-output.js';
import { writeToStream } from '../sinks/appended-shards.js';
import type { OutputLayout } from '../sinks/output-layout.js';
import { type OutputTarget, recordBytesOf, type StreamTarget } from '../sinks/output-target.js';
import type { ShuffleSpec } from '../spec.js';
import type { ShuffledOutput, WrittenOutput } from '../stages/between-passes.js';
import type { OutputDecision } from '../stages/chain.js';
import type { CheckpointPileSets } from '../stages/committed-slices.js';
import type { CheckpointRanges } from '../stages/shuffle-ranges.js';
import { type EarlierAttempt, knownOutput, type LockedPlaces } from './earlier-attempt.js';
import { noteFinished } from './finished-job.js';
import type { JobScope } from './job.js';
import { type DescribedJob, describeJob, finishedJob } from './job-description.js';
import type { StreamPlaces } from './job-places.js';
import type { JobProgress } from './job-progress.js';
import type { Callbacks, ResumeRequest } from './request.js';
import { type ReportedOutput, reportOutput, summaryOf } from './split-report.js';
import type { TempDisks } from './temp-disks.js';
import type { NotedLayout } from './work-plan.js';

export interface Staging {
  readonly piles: RescatterTarget;
  /**
   * The work that outlives the process. Undefined: if the job fails, nothing of its work is of use to a later attempt.
   */
  readonly checkpoint: Checkpoint | undefined;
  /** @returns where tasks write. */
  begin(layout: OutputLayout, control: JobControl): Promise<OutputTarget>;
  /** Completes, verifies and commits the output. @returns the final paths of the shards; none for one output. */
  commit(output: WrittenOutput, summary: OutputSummary, control: JobControl): Promise<readonly string[]>;
  /** Saves a record of the job, which has succeeded, if a later call may ask to resume it. */
  noteFinished(report: object): Promise<void>;
  /** Decides, before anything is removed, what stays. @returns the error with which the job ends. */
  failed(error: unknown, warn: JobScope['warn']): Promise<unknown>;
  succeeded(): Promise<void>;
}

/** The work of an earlier attempt that this one finds, and that of this one for a later attempt. */
type Checkpoint = CheckpointPileSets & CheckpointRanges & CheckpointNotes;

/** Its temp data lies in private directories. Nothing is left of it, and what was written cannot be taken back. */
export class StreamStaging implements Staging {
  readonly checkpoint = undefined;
  readonly piles: RescatterTarget;
  readonly #file: OpenFile;
  #isOpen = true;

  constructor(file: OpenFile, disks: RescatterTarget['disks']) {
    this.#file = file;
    this.piles = { disks, indexDirectory: disks[0]?.directory ?? '' };
  }

  async begin({ ends, recordBytes, ...layout }: OutputLayout, control: JobControl): Promise<StreamTarget> {
    await writeToStream(this.#file, ends.headerOf(recordBytes), control);
    const { fd, path } = this.#file;
    const { cuts, compression, rows, units } = layout;
    const place = { fd, path, gate: UNGATED, descriptions: units && this.#descriptionsPath };
    return { kind: 'stream', cuts, headerBytes: ends.headerBytes, compression, rows, units, ...place };
  }

  get #descriptionsPath(): string {
    return join(this.piles.indexDirectory, 'descriptions');
  }

  async commit(
    { layout: { ends, recordBytes }, regions }: WrittenOutput,
    _summary: OutputSummary,
    control: JobControl,
  ): Promise<readonly string[]> {
    const byteLength = regions.reduce((most, { end }) => Math.max(most, ends.headerBytes + end), ends.headerBytes);
    const open = () => openOwnForRead(this.#descriptionsPath, 'temp');
    const content = { path: this.#file.path, byteLength, recordBytes, open };
    for (const piece of finalEnds(ends, [content]).trailerOf(content)) await writeToStream(this.#file, piece, control);
    const written = recordBytesOf(regions);
    if (written !== recordBytes)
      throw new VerificationError(
        `${counted(written, 'byte')} were written to ${this.#file.path}, expected ${recordBytes}`,
      );
    // A device may tell only now that it has lost bytes, and then the job must not end well.
    this.close();
    return [];
  }

  /** Does nothing after the first call. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeStream(this.#file);
  }

  async failed(error: unknown): Promise<unknown> {
    return error instanceof AbortError ? new AbortError(error.cause, 'incomplete') : error;
  }

  async noteFinished(): Promise<void> {}

  async succeeded(): Promise<void> {}
}

interface StagedJob extends DescribedJob {
  readonly request: DescribedJob['request'] &
    Pick<ResumeRequest, 'mayResume' | 'keepTemp' | 'resume'> &
    Pick<Callbacks, 'onWarning' | 'signal'>;
  readonly places: StreamPlaces | LockedPlaces;
  readonly earlier: EarlierAttempt | undefined;
  readonly disks: TempDisks;
  readonly outputGate: GateNumber;
  readonly control: JobControl;
}

type FilesJob = StagedJob & { readonly places: LockedPlaces };

/** The job directory, temp data and staged output. */
export class FilesStaging implements Staging {
  readonly piles: RescatterTarget;
  readonly checkpoint: Checkpoint | undefined;
  readonly #job: FilesJob;
  readonly #directory: JobDirectory;
  readonly #output: StagedOutput;
  /** The fate as decided so far. */
  #fate: JobFate;
  #mayHaveJournal: boolean;
  #manifest: JobManifest | undefined;

  constructor(job: FilesJob) {
    const { places, disks, outputGate, earlier, plan } = job;
    const { paths, directory } = places;
    this.#job = job;
    this.#directory = directory;
    this.#mayHaveJournal = earlier?.journal !== undefined;
    // An error must preserve the work of an earlier attempt, and the journal that undoes its moves.
    this.#fate = directory.existedBefore ? 'preserved' : 'discarded';
    this.piles = { disks: disks.in(paths.dataDirectories), indexDirectory: paths.jobDirectory };
    this.#output = new StagedOutput(places.place, paths, outputGate, plan.layout !== undefined);
    this.checkpoint = plan.layout && this.#checkpointOf(plan.layout);
  }

  #checkpointOf(layout: NotedLayout): Checkpoint {
    const { earlier } = this.#job;
    const finished = earlier?.finished ?? { ranges: [], noteCount: 0 };
    return {
      jobDirectory: this.#directory.paths.jobDirectory,
      isStripeDone: stripesOf(finished.ranges, layout),
      finished,
      output: this.#output,
      hasFinishedRanges: finished.noteCount > 0,
      read: (name) => earlier?.notes[name],
    };
  }

  async open(): Promise<void> {
    const { earlier, places, request } = this.#job;
    // An attempt that was killed at its first step has no directory.
    if (this.#directory.existedBefore || request.resume)
      await places.place.discardStray?.(places.paths.stagingDirectory, request.onWarning);
    if (earlier === undefined) return this.#startAnew();
    try {
      await this.#resume(earlier);
    } catch (error) {
      this.#preserveAndTell(error);
      throw error;
    }
  }

  async begin(layout: OutputLayout): Promise<OutputTarget> {
    const finished = this.checkpoint?.finished.ranges ?? [];
    return this.#output.begin(
      layout,
      finished.flatMap((range) => range.regions),
    );
  }

  /** Makes the output durable, then visible. */
  async commit(
    { layout, regions }: WrittenOutput,
    summary: OutputSummary,
    control: JobControl,
  ): Promise<readonly string[]> {
    await this.#output.complete(layout, regions, control);
    this.#output.verify(layout, regions);
    const journal = await this.#output.prepareCommit(summary, control);
    const { isResumable } = this.#job.plan;
    if (isResumable || !this.#job.places.place.isPublishedAtOnce) {
      if (!isResumable) await this.#makeResumable();
      this.#mayHaveJournal = true;
      await this.#output.journalMoves(journal);
    }
    return this.#whileAppearing(() => this.#output.commitMoves(journal));
  }

  /** Output that begins to appear cannot be taken back: a signal stops nothing, and a line tells what is waited for. */
  async #whileAppearing<T>(move: () => Promise<T>): Promise<T> {
    const { places, request } = this.#job;
    const { interruptWarning } = places.place;
    const tell = () => {
      if (interruptWarning !== undefined) request.onWarning(interruptWarning);
    };
    request.signal?.addEventListener('abort', tell);
    try {
      return await move();
    } finally {
      request.signal?.removeEventListener('abort', tell);
    }
  }

  /** Finishes the moves that a killed attempt had begun. */
  finish(journal: CommitJournal): Promise<readonly string[]> {
    return this.#whileAppearing(() => this.#output.finishMoves(journal));
  }

  /** A later attempt must be able to finish or undo several moves: it needs the manifest and the names. */
  async #makeResumable(): Promise<void> {
    const { jobDirectory } = this.#directory.paths;
    if (this.#manifest !== undefined) await replaceJobManifest(jobDirectory, this.#manifest);
    await this.#directory.syncNames();
  }

  async failed(error: unknown, warn: JobScope['warn']): Promise<unknown> {
    const { jobDirectory, stagingDirectory } = this.#directory.paths;
    const outlivesJob = this.checkpoint !== undefined;
    const mayHaveWork = this.#mayHaveJournal || outlivesJob || error instanceof StagedOutputError;
    if (
      this.#job.places.place.wasRolledBack === true ||
      !mayHaveWork ||
      !(await isWorthResuming(error, jobDirectory, outlivesJob))
    )
      this.#fate = 'discarded';
    else if (this.#job.request.mayResume) this.#preserveAndTell(error);
    else {
      this.#fate = 'preserved';
      warn(
        `${jobDirectory} and ${stagingDirectory} remain, because outputs had begun to move; \`force\` replaces them`,
      );
    }
    return error;
  }

  async noteFinished(report: object): Promise<void> {
    const { inputIds, inputs, spec, isResumable = false } = this.#manifest ?? {};
    const { places } = this.#job;
    if (!isResumable || inputs === undefined || spec === undefined || !('read' in spec)) return;
    const job = finishedJob({ spec, inputs, inputIds: inputIds ?? null });
    await noteFinished(knownOutput(places), spec.key.seed, job, report);
  }

  async succeeded(): Promise<void> {
    const { keepTemp } = this.#job.request;
    this.#fate = keepTemp ? 'preserved' : 'completed';
    if (keepTemp) await this.#removeRecordsOfOutput();
  }

  /** The job must have closed all its files in the directory. */
  end(): Promise<void> {
    return this.#directory.end(this.#fate);
  }

  async #startAnew(): Promise<void> {
    const { places, plan } = this.#job;
    const { place, paths } = places;
    const directory = this.#directory;
    if (directory.existedBefore) {
      const journal = directory.hasJobDirectory ? readJournalIfWhole(paths.jobDirectory) : undefined;
      if (journal !== undefined) await place.rollBack?.(paths, journal);
      await directory.clear();
    }
    this.#fate = 'discarded';
    await directory.makeDirectories(plan.isResumable);
    this.#manifest = await describeJob(this.#job, places, directory.removesJobDirectory);
    await writeJobManifest(paths.jobDirectory, this.#manifest);
  }

  async #resume({ manifest, journal, finished }: EarlierAttempt): Promise<void> {
    const directory = this.#directory;
    const { jobDirectory } = directory.paths;
    this.#manifest = manifest;
    const { ranges } = finished;
    const hasTempData = ranges.length > 0 || listCommittedSlices(jobDirectory).length > 0;
    if (journal === undefined && hasTempData) directory.requireDataDirectories();
    await directory.makeDirectories(this.#job.plan.isResumable);
    if (journal !== undefined) return;
    // The manifest may have other cuts now.
    await replaceJobManifest(jobDirectory, manifest);
    this.#output.requireStaged(ranges.flatMap((range) => range.regions));
  }

  #preserveAndTell(error: unknown): void {
    this.#fate = 'preserved';
    const { jobDirectory } = this.#directory.paths;
    if (error instanceof PileshufError && !wouldFailAgain(error)) setUnfinishedJob(error, { directory: jobDirectory });
  }

  /** The outputs that these records describe have left the staging directory. */
  async #removeRecordsOfOutput(): Promise<void> {
    const { jobDirectory, stagingDirectory } = this.#directory.paths;
    for (const name of rangesNoteNames(jobDirectory).reverse()) removeFile(join(jobDirectory, name), 'temp');
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
  layout: NotedLayout,
): (stripe: number) => boolean {
  const isFinished = new Uint8Array(layout.pileCount);
  for (const { first, end } of ranges) isFinished.fill(1, first, end);
  return (stripe) => {
    const { first, end } = pilesOfStripe(layout, stripe);
    return !isFinished.subarray(first, end).includes(0);
  };
}

async function isWorthResuming(error: unknown, jobDirectory: string, mayHavePileSets: boolean): Promise<boolean> {
  try {
    if (!nameExists(jobDirectory, 'temp')) return false;
    if (readJournal(jobDirectory) !== undefined || error instanceof StagedOutputError) return true;
    if (!mayHavePileSets || canNeverResume(error)) return false;
    const damaged = error instanceof PileshufError ? error.pileSetName : undefined;
    const slice = damaged === undefined ? undefined : sliceOfPileSet(damaged);
    if (slice !== undefined) await revokePileSet(jobDirectory, slice);
    return listCommittedSlices(jobDirectory).length > 0;
  } catch (failure) {
    // A file that cannot be read now may be whole: it stays.
    if (error instanceof PileshufError) addCleanupErrors(error, [failure]);
    return true;
  }
}

/** Returns whether the inputs have changed or must be changed, or an unknown part of the work is wrong. */
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
 * Returns whether a later attempt would fail in the same way, because it would reuse all of the work. A pile that was
 * wrong twice may come out right with other memory, or on another machine.
 */
function wouldFailAgain(error: unknown): boolean {
  return error instanceof VerificationError && error.pileSetName === undefined && !(error instanceof WrongTwiceError);
}

export async function openStaging(job: StagedJob, { releases }: JobScope): Promise<FilesStaging | StreamStaging> {
  const { places, disks, control } = job;
  if (places.kind === 'stream') {
    const own = disks.makePrivate(releases);
    const file = await openStream(places.output.path, control);
    const staging = new StreamStaging(file, own);
    releases.push(() => staging.close());
    return staging;
  }
  // The directory of the output may hold a million other files.
  if (places.tempChoice === 'tempDirs' || places.tempChoice === 'TMPDIR') disks.removeLeftOver();
  const staging = new FilesStaging({ ...job, places });
  releases.push(() => staging.end());
  await staging.open();
  return staging;
}

/**
 * Does the work of a job, then ends its staging. The threads end first, because they have files open and may still write.
 */
export async function runStaged<T>(
  staging: Staging,
  { warn }: JobScope,
  work: (scope: JobScope) => Promise<T>,
): Promise<T> {
  const workWithSpareFile = (releases: JobScope['releases']) => {
    releases.push(reserveFile());
    return work({ releases, warn });
  };
  const result = await releasingAll(workWithSpareFile, warn).catch(async (thrown: unknown) => {
    throw await staging.failed(thrown, warn);
  });
  // The output is in place: failing to remove a temp file must not fail the job.
  await staging.succeeded().catch(warn);
  return result;
}

export interface Committed {
  readonly output: ReportedOutput;
  readonly seconds: number;
}

/** Completes, verifies and commits the output. @param spec see `summaryOf`. */
export async function commitOutput(
  staging: Staging,
  output: ShuffledOutput,
  decided: Pick<OutputDecision, 'threads' | 'output'>,
  spec: ShuffleSpec | undefined,
  progress: JobProgress,
): Promise<Committed> {
  const summary = summaryOf(output.written, output, decided, spec);
  const commit = () => staging.commit(output, summary, progress.control);
  const { value: shards, seconds } = await progress.during('commit', undefined, commit);
  return { output: reportOutput(summary, shards), seconds };
}
