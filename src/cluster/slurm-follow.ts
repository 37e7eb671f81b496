/**
 * Follows a job on Slurm to its end. The records in the job directory say what is done; the queue says only whether
 * anybody still works on the rest, and what became of tasks that could tell nothing.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nameSome, PileshufError, SystemError } from '../errors.js';
import { openForRead, readAt, versionOf, withFile } from '../io/files.js';
import type { ShuffleProgress } from '../jobs/options.js';
import { levelsWith, timedJob, usualDecoding, usualEncoding } from '../jobs/timed-job.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import { costsOfPass1, costsOfPass2, costsOfShuffle, type PhaseCost } from '../plan/phase-costs.js';
import { type ClusterPlan, readBackBy } from './cluster-plan.js';
import { type ClusterStatus, clusterStatus } from './cluster-status.js';
import { isCleanedUp } from './committed-job.js';
import { findPlan } from './open-job.js';
import { isActive, type QueuedTask, readQueue } from './slurm-calls.js';
import { resumeWords, type SlurmSubmission } from './slurm-job.js';
import { readSlurmNote } from './slurm-note.js';
import { logNameOf } from './slurm-script.js';
import { ARRAY_KINDS, type ArrayKind, type TaskKind } from './task-arrays.js';
import { Patience } from './until-visible.js';

export interface SlurmFollowOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ShuffleProgress) => void) | undefined;
  readonly onWarning?: ((line: string) => void) | undefined;
}

/** What the commit wrote. */
export type SlurmOutcome = NonNullable<ClusterStatus['output']>;

const FOLLOW_OPTIONS: OptionNames<SlurmFollowOptions> = { signal: true, onProgress: true, onWarning: true };

const FIRST_PAUSE_MILLISECONDS = 1000;
const LONGEST_PAUSE_MILLISECONDS = 10_000;
/** Looking takes at most this part of the time. */
const PAUSES_A_LOOK = 10;
/** A job may leave the queue and come back between two looks. */
const LOOKS_WITHOUT_JOBS = 2;
/** What a commit on another machine has done shows after this time at the latest. */
const VISIBLE_SECONDS = 60;
const LONGEST_LINE_BYTES = 4096;
/** Of a thread that reads a byte back. */
const READ_BACK_SECONDS = 1.2e-9;

/**
 * Waits until the output of the job is there.
 * @throws SystemError ERR_SLURM that tells which tasks failed and how; ABORT_ERR with the ids of the jobs, which go on.
 */
export async function followSlurm(
  submission: SlurmSubmission,
  options: SlurmFollowOptions = {},
): Promise<SlurmOutcome> {
  requireKnownOptions('followSlurm()', options, FOLLOW_OPTIONS);
  const { signal, onProgress = () => {}, onWarning = () => {} } = options;
  const { jobDir, jobs } = submission;
  const token = readSlurmNote(jobDir)?.token ?? '';
  const planned = await findPlan(jobDir, new Patience(0, undefined));
  const tell = planned === undefined ? () => {} : progressTeller(planned.plan, onProgress);
  const queue = new OwnQueue(token, submission, onWarning);
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(pause * 1.2, LONGEST_PAUSE_MILLISECONDS)) {
    const began = performance.now();
    const tasks = await queue.read();
    // After the queue: what ended before that look is seen now.
    const status = await clusterStatus(jobDir);
    if (status.output !== undefined && status.state === 'committed') return status.output;
    tell(status);
    if (queue.hasEnded) {
      const output = await outputOfCommit(jobDir, tasks, signal);
      if (output !== undefined) return output;
      throw failureOf(await clusterStatus(jobDir), tasks, submission);
    }
    const milliseconds = Math.max(pause, PAUSES_A_LOOK * (performance.now() - began));
    await sleep(milliseconds, undefined, { signal }).catch(() => {});
    if (signal?.aborted === true) throw stillRunning(jobs.map(({ id }) => id));
  }
}

/** The jobs of a submission in Slurm's queue. */
class OwnQueue {
  readonly #token: string;
  readonly #ids: ReadonlySet<string>;
  readonly #onWarning: (line: string) => void;
  readonly #told = new Set<string>();
  #looksWithoutJobs = 0;

  constructor(token: string, { jobs }: SlurmSubmission, onWarning: (line: string) => void) {
    this.#token = token;
    this.#ids = new Set(jobs.map(({ id }) => id));
    this.#onWarning = onWarning;
  }

  get hasEnded(): boolean {
    return this.#looksWithoutJobs >= LOOKS_WITHOUT_JOBS;
  }

  /** @returns undefined if Slurm does not answer now. */
  async read(): Promise<readonly QueuedTask[]> {
    try {
      const tasks = (await readQueue(this.#token)).filter(({ jobId }) => this.#ids.has(jobId));
      this.#looksWithoutJobs = tasks.some(isActive) ? 0 : this.#looksWithoutJobs + 1;
      for (const { kind, jobId, index, reason } of tasks.filter(isActive)) {
        const id = index === undefined ? jobId : `${jobId}_${index}`;
        const them = index === undefined && kind !== 'commit' ? 'them' : 'it';
        if (/held/i.test(reason))
          this.#tellOnce(`Slurm holds ${nameOf(kind, index)} (${reason}); scontrol release ${id} lets ${them} run`);
      }
      return tasks;
    } catch (error) {
      this.#tellOnce(`${error instanceof Error ? error.message : String(error)}; the jobs may go on, and this waits`);
      return [];
    }
  }

  #tellOnce(line: string): void {
    if (this.#told.has(line)) return;
    this.#told.add(line);
    this.#onWarning(line);
  }
}

/** Of a commit that has ended well, as Slurm says, and may not show here yet. */
async function outputOfCommit(
  jobDir: string,
  tasks: readonly QueuedTask[],
  signal: AbortSignal | undefined,
): Promise<SlurmOutcome | undefined> {
  if (!tasks.some(({ kind, state }) => kind === 'commit' && state === 'COMPLETED')) return undefined;
  const patience = new Patience(VISIBLE_SECONDS, signal);
  await patience.untilFound(jobDir, () => isCleanedUp(jobDir) || undefined);
  return (await clusterStatus(jobDir)).output;
}

function stillRunning(ids: readonly string[]): PileshufError {
  return new PileshufError(
    'aborted',
    'ABORT_ERR',
    `no longer waiting; jobs ${ids.join(', ')} stay in Slurm, and scancel ${ids.join(' ')} ends them`,
  );
}

function failureOf(status: ClusterStatus, tasks: readonly QueuedTask[], { jobDir, jobs, logDir }: SlurmSubmission) {
  const told = status.failed.map(({ kind, index, host, error }) => `${nameOf(kind, index)} on ${host}: ${error}`);
  const isTold = (kind: TaskKind, index: number | undefined) =>
    status.failed.some((each) => each.kind === kind && (kind === 'commit' || each.index === index));
  const silent = tasks
    .filter(({ kind, index, state, reason }) => !isTold(kind, index) && hasFailed(state, reason))
    .map(({ kind, index, node, state, reason }) => {
      const place = node === '' ? '' : ` on ${node}`;
      return `${nameOf(kind, index)}${place}: ${describeEnd(state, reason, logDir)}${lastLine(logDir, kind, index)}`;
    });
  const failures = [...told, ...silent];
  const ids = jobs.map(({ id }) => id).join(', ');
  const what =
    failures.length > 0
      ? `${failures.slice(0, MOST_FAILURES).join('; ')}${failures.length > MOST_FAILURES ? `; and ${failures.length - MOST_FAILURES} more` : ''}`
      : `Slurm has no job ${ids} any more, and ${describeLeft(status)}`;
  return new SystemError(
    'ERR_SLURM',
    `${what}; logs are in ${logDir}; ${resumeWords(jobDir)} submits what is not done`,
  );
}

const MOST_FAILURES = 3;

/** A task whose dependency failed is only its victim. */
function hasFailed(state: string, reason: string): boolean {
  return !['COMPLETED', 'REVOKED'].includes(state) && !/^Dependency/.test(reason);
}

function nameOf(kind: TaskKind, index: number | undefined): string {
  return kind === 'commit' ? 'the commit' : index === undefined ? `${kind} tasks` : `${kind} task ${index}`;
}

function describeEnd(state: string, reason: string, logDir: string): string {
  if (reason === 'JobLaunchFailure') return `Slurm could not start it; the node may not see ${logDir}`;
  return `${state}${reason === '' || reason === 'None' ? '' : ` (${reason})`}`;
}

function describeLeft(status: ClusterStatus): string {
  const passes = ARRAY_KINDS.flatMap((kind) => {
    const unfinished = status[kind]?.unfinished ?? [];
    return unfinished.length === 0 ? [] : [`${kind} tasks ${nameSome(unfinished.map(String))}`];
  });
  return passes.length === 0 ? 'the commit is not done' : `${passes.join(' and ')} are not done`;
}

/** The last line of the log of a task that could not tell what happened. */
function lastLine(logDir: string, kind: TaskKind, index: number | undefined): string {
  if (kind !== 'commit' && index === undefined) return '';
  try {
    const text = withFile(openForRead(join(logDir, logNameOf(kind, index)), 'temp'), (file) => {
      const { byteLength } = versionOf(file);
      const bytes = Buffer.alloc(Math.min(byteLength, LONGEST_LINE_BYTES));
      return bytes.subarray(0, readAt(file, bytes, 0, bytes.byteLength, byteLength - bytes.byteLength)).toString();
    });
    const line = text.trim().split('\n').at(-1) ?? '';
    return line === '' ? '' : `, ${JSON.stringify(line)}`;
  } catch {
    // There may be none.
    return '';
  }
}

/** Turns what is done into progress as that of a local job. */
function progressTeller(plan: ClusterPlan, onProgress: (progress: ShuffleProgress) => void) {
  const storedBytes = plan.sliceBytes.reduce((sum, bytes) => sum + bytes, 0);
  const phases = expectTasks(plan, storedBytes);
  let phase: TaskKind | undefined;
  let beganAt = 0;
  let bytesResumed = 0;
  return (status: ClusterStatus) => {
    const { state } = status;
    if (state === 'committed') return;
    const { expectedBytes, expectedOutputBytes } = plan;
    const between = { measure: expectedBytes, draw: expectedBytes };
    const ofOutput = { shuffle: expectedOutputBytes, verify: expectedOutputBytes, commit: undefined };
    const total = { scatter: storedBytes, ...between, ...ofOutput }[state];
    const share = state === 'commit' ? 0 : doneShare(status, state);
    const bytesDone = total === undefined ? 0 : Math.round(total * share);
    if (phase !== state) {
      phase = state;
      beganAt = performance.now();
      bytesResumed = bytesDone;
    }
    const phaseSeconds = (performance.now() - beganAt) / 1000;
    // Disks and memory are those of other machines: this one only waits.
    const memory = { residentBytes: process.memoryUsage.rss(), budgetBytes: undefined };
    onProgress({ phase: state, phases, bytesDone, bytesResumed, bytesTotal: total, phaseSeconds, disks: [], memory });
  };
}

/** What the phases are expected to cost, as if one machine did one task after the other. */
function expectTasks(plan: ClusterPlan, storedBytes: number): readonly PhaseCost[] {
  const { memory, memoryNeed, expectedBytes, expectedOutputBytes, otherTasks, inputs, request } = plan;
  const amount = (bytes: number) => ({ bytes, records: bytes / memoryNeed.meanRecordBytes });
  const read = amount(expectedBytes);
  const job = timedJob(
    {
      ...{ storedBytes, read, onPiles: read, output: amount(expectedOutputBytes), outputFiles: 1 },
      writtenBytes: expectedOutputBytes,
      tempBytes: expectedBytes,
      decodeSeconds: expectedBytes * usualDecoding(inputs),
      encodeSeconds: expectedOutputBytes * usualEncoding(request.compression),
    },
    {
      ...{ threads: memory.workers, tasks: memory.workers, segments: 0, longestTaskShare: 0 },
      ...{ levels: levelsWith(plan, read), isCounted: false, inputFiles: inputs.length },
      isCompared: request.unique,
      between: (['measure', 'draw'] as const).filter((kind) => otherTasks[kind] > 0),
      shareLeft: { pass1: 1, pass2: 1 },
    },
  );
  if ('append' in plan) return costsOfPass1(job, expectedBytes);
  const costs = plan.stored === undefined ? costsOfShuffle(job, true) : costsOfPass2(job, true);
  const reader = readBackBy(plan);
  const cost = (READ_BACK_SECONDS * expectedOutputBytes) / memory.workers;
  return costs.flatMap((each) => {
    if (each.phase !== 'commit' || reader === 'nobody') return [each];
    return reader === 'verify' ? [{ phase: reader, cost }, each] : [{ ...each, cost: (each.cost ?? 0) + cost }];
  });
}

function doneShare(status: ClusterStatus, kind: ArrayKind): number {
  const pass = status[kind];
  if (pass === undefined) return 0;
  const begun = status.running
    .filter((each) => each.kind === kind && each.bytesTotal > 0)
    .reduce((sum, { bytesDone, bytesTotal }) => sum + Math.min(1, bytesDone / bytesTotal), 0);
  return Math.min(1, (pass.done + begun) / pass.tasks);
}
