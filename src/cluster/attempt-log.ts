/**
 * Writes what attempts at tasks tell of themselves, in a file of each: where it runs and how far it is, for
 * `clusterStatus`, and where its time went: the commit puts these together as the profile of the job. It decides
 * nothing: an attempt that cannot tell does its work all the same.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join, resolve, sep } from 'node:path';
import type { TaskProfile } from '../../workers/tasks.js';
import { PileshufError, UsageError } from '../errors.js';
import { ifPossible } from '../floor/cleanup.js';
import { PHASES } from '../floor/phase-clock.js';
import { attemptName, createWhole } from '../io/atomic-files.js';
import { makeOwnDirectory } from '../io/directories.js';
import { reasonOf } from '../io/io-error.js';
import {
  amount,
  nullable,
  object,
  oneOf,
  optional,
  type Shape,
  text,
  type ValueOf,
  wholeNumber,
} from '../io/json-shape.js';
import { listNames, realPathOf, statPath } from '../io/paths.js';
import { moveIntoPlace } from '../io/rename-and-sync.js';
import type { JobScope } from '../job/job.js';
import { passSeconds } from '../job/job-profile.js';
import { type PlacesInUse, refuser, requireFilePlace, writeAtomically } from '../job/report/report-file.js';
import type { PassSeconds } from '../options/reports.js';
import {
  ATTEMPTS_NAME,
  arrayKindsOf,
  type ClusterPlan,
  clusterFileFormat,
  type ProfilePlace,
  TASK_KINDS,
  type TaskKind,
  tasksOf,
} from './cluster-plan.js';

/** The elapsed seconds of a task, step by step. */
export interface TaskSteps {
  /** The time to load Node and the command. 0 for a further task of the same process, and for a task of a program. */
  readonly start: number;
  /** The time until its threads begin: to read the plan, and what other tasks made. */
  readonly prepare: number;
  /** The time from the start of the first thread to the end of the last. */
  readonly work: number;
  /** The time until the task is done: its files are durable. */
  readonly finish: number;
}

export interface TimedTask {
  readonly host: string;
  /** The most threads that it had for one kind of work. */
  readonly threads: number;
  /** Milliseconds since 1970, by the clock of the host. */
  readonly beganMilliseconds: number;
  /** The bytes as in `ClusterTaskReport`. */
  readonly bytes: number;
  readonly seconds: TaskSteps;
  /** Sums over all threads. */
  readonly phases: PassSeconds;
}

/** How one task spent its time, in the first attempt that did it. */
export interface ClusterTaskProfile extends TimedTask {
  readonly kind: TaskKind;
  readonly index: number;
}

const STEPS = ['start', 'prepare', 'work', 'finish'] as const;

const amounts = <Name extends string>(...names: readonly Name[]) =>
  object(Object.fromEntries(names.map((name) => [name, amount]))) as Shape<Readonly<Record<Name, number>>>;

type AttemptTimes = Omit<TimedTask, 'host' | 'beganMilliseconds'>;

const timesShape: Shape<AttemptTimes> = object({
  threads: wholeNumber(1),
  bytes: amount,
  seconds: amounts(...STEPS),
  phases: amounts(...PHASES, 'idle'),
});

const shape = object({
  kind: oneOf(...TASK_KINDS),
  index: wholeNumber(),
  host: text,
  pid: wholeNumber(1),
  state: oneOf('running', 'done', 'failed'),
  /** Milliseconds since 1970, by the clock of that host. */
  startedAt: amount,
  toldAt: amount,
  bytesDone: wholeNumber(),
  /** 0: not known yet. */
  bytesTotal: wholeNumber(),
  error: nullable(text),
  /** The times of an attempt that did its task in a job that measures it. */
  times: optional(timesShape),
});

export type AttemptRecord = ValueOf<typeof shape>;

const format = clusterFileFormat('attempt', 2, 2 ** 17, shape);

const WRITE_MILLISECONDS = 5000;
const LONGEST_ERROR_CHARACTERS = 2000;

/** Makes the directory for a plan: made by an attempt, it would come back to a job that has just been committed. */
export function makeAttemptsDirectory(jobDirectory: string, warn: (error: unknown) => void): void {
  try {
    makeOwnDirectory(join(jobDirectory, ATTEMPTS_NAME), 'job');
  } catch (error) {
    // Then attempts tell nothing, and tasks work all the same.
    warn(error);
  }
}

/** One attempt at a task, measured from now on. */
export class AttemptLog {
  /** Part of the names of all files that this attempt makes. */
  readonly attempt = randomBytes(6).toString('hex');
  readonly #about: Pick<AttemptRecord, 'kind' | 'index'>;
  readonly #startSeconds: number;
  readonly #startedAt = now();
  readonly #tasks: Pick<TaskProfile, 'beganMilliseconds' | 'seconds'>[] = [];
  #threads = 1;
  #path = '';
  #bytesDone: () => number = () => 0;
  #bytesTotal = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param startSeconds how long the process took to start. */
  constructor(kind: TaskKind, index: number, startSeconds: number) {
    this.#about = { kind, index };
    this.#startSeconds = startSeconds;
  }

  begin(jobDirectory: string): void {
    const { kind, index } = this.#about;
    this.#path = join(jobDirectory, ATTEMPTS_NAME, `${kind}-${String(index).padStart(6, '0')}-${this.attempt}`);
    this.#write();
    this.#timer = setInterval(() => this.#write(), WRITE_MILLISECONDS);
    this.#timer.unref();
  }

  count(bytesTotal: number, bytesDone: () => number): void {
    this.#bytesTotal = bytesTotal;
    this.#bytesDone = bytesDone;
  }

  /** @param count of threads for the work that follows; 0: the calling thread does it. */
  useThreads(count: number): void {
    this.#threads = Math.max(this.#threads, count);
  }

  /** Takes what a thread did. */
  readonly add = ({ beganMilliseconds, seconds }: TaskProfile): void => {
    this.#tasks.push({ beganMilliseconds, seconds });
  };

  /** @param bytes of the task, in a job that measures it; undefined, too, if the task was done before. */
  done(bytes: number | undefined): void {
    this.#end({ state: 'done', times: bytes === undefined ? undefined : this.#timed(bytes) });
  }

  /** The profile of this attempt, if its task is done now. */
  profile(bytes: number): ClusterTaskProfile {
    return profileOf(this.#record({}), this.#timed(bytes));
  }

  failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const lines = (error instanceof PileshufError ? message : `internal error: ${message}`).trim().split('\n');
    this.#end({ state: 'failed', error: (lines.at(-1) ?? '').slice(0, LONGEST_ERROR_CHARACTERS) });
  }

  /** Stops telling, for a job that has ended: its directory is being removed. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Returns where the time went until now. */
  #timed(bytes: number): AttemptTimes {
    const threads = this.#threads;
    const end = now();
    // A task without work for threads only prepared.
    const firstBegan = this.#tasks.reduce((first, task) => Math.min(first, task.beganMilliseconds), end);
    const lastEnded = this.#tasks.reduce((last, task) => Math.max(last, endOf(task)), firstBegan);
    const secondsFrom = (from: number, to: number) => Math.max(0, to - from) / 1000;
    const work = secondsFrom(firstBegan, lastEnded);
    const prepare = secondsFrom(this.#startedAt, firstBegan);
    const seconds = { start: this.#startSeconds, prepare, work, finish: secondsFrom(lastEnded, end) };
    return { threads, bytes, seconds, phases: passSeconds(this.#tasks, threads * work) };
  }

  #record(end: AttemptEnd): AttemptRecord {
    return {
      ...this.#about,
      host: hostname(),
      pid: process.pid,
      state: 'running',
      startedAt: this.#startedAt,
      toldAt: now(),
      bytesDone: Math.max(0, Math.round(this.#bytesDone())),
      bytesTotal: Math.round(this.#bytesTotal),
      error: null,
      times: undefined,
      ...end,
    };
  }

  #end(end: AttemptEnd): void {
    if (this.#timer === undefined) return;
    this.stop();
    this.#write(end);
  }

  #write(end: AttemptEnd = {}): void {
    const whole = attemptName(this.#path);
    // A full disk shows elsewhere.
    ifPossible(() => {
      createWhole(whole, format.seal(this.#record(end)), 'temp');
      moveIntoPlace(whole, this.#path);
    });
  }
}

type AttemptEnd = Partial<Pick<AttemptRecord, 'state' | 'error' | 'times'>>;

/** Milliseconds since 1970, as threads tell them. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function endOf({ beganMilliseconds, seconds }: Pick<TaskProfile, 'beganMilliseconds' | 'seconds'>): number {
  return beganMilliseconds + 1000 * PHASES.reduce((sum, phase) => sum + seconds[phase], 0);
}

function profileOf({ kind, index, host, startedAt }: AttemptRecord, times: AttemptTimes): ClusterTaskProfile {
  return { kind, index, host, beganMilliseconds: startedAt, ...times };
}

const NAME = new RegExp(`^(${TASK_KINDS.join('|')})-\\d{6,}-[0-9a-f]{12}$`);

/** Returns the records of all attempts in the order of their starts, without those that cannot be read. */
export function readAttempts(jobDirectory: string): AttemptRecord[] {
  const directory = join(jobDirectory, ATTEMPTS_NAME);
  // A record may be of a killed attempt, or of another version.
  const records = (ifPossible(() => listNames(directory, 'temp')) ?? [])
    .filter((name) => NAME.test(name))
    .flatMap((name) => ifPossible(() => format.read(join(directory, name))) ?? []);
  return records.sort((a, b) => a.startedAt - b.startedAt);
}

/** The tasks of one kind; sums leave out those that are missing. */
export interface ClusterPassProfile {
  readonly kind: TaskKind;
  readonly tasks: number;
  /** The indexes of tasks that are done and left no profile. */
  readonly missing: readonly number[];
  readonly bytes: number;
  /** The time from the start of the first task to the end of the last, by the clocks of their hosts. */
  readonly elapsedSeconds: number;
  /** Sums over the tasks. */
  readonly seconds: TaskSteps;
  readonly phases: PassSeconds;
}

export interface ClusterProfile {
  readonly jobDir: string;
  /** The records of the output. */
  readonly records: number;
  readonly bytes: number;
  /** The time from the start of the first task to the end of the last, by the clocks of their hosts. */
  readonly elapsedSeconds: number;
  /** The passes in their order; the last one is the commit, until the output was complete. */
  readonly passes: readonly ClusterPassProfile[];
  /** The tasks in the order of passes and indexes. */
  readonly tasks: readonly ClusterTaskProfile[];
}

interface ProfiledJob {
  readonly directory: string;
  readonly plan: ClusterPlan;
  readonly log: AttemptLog;
  readonly scope: Pick<JobScope, 'warn'>;
}

/** Writes the profile of all tasks. The output is complete by then, so a failure is a warning. */
export function writeClusterProfile(
  { directory, plan, log, scope }: ProfiledJob,
  { records, bytes }: Pick<ClusterProfile, 'records' | 'bytes'>,
): void {
  if (plan.profile === undefined) return;
  const { path, mayReplace } = plan.profile;
  const profiles = new Map<string, ClusterTaskProfile>();
  // Of each task, that of the first attempt that did it.
  for (const attempt of readAttempts(directory).toReversed())
    if (attempt.times !== undefined)
      profiles.set(`${attempt.kind} ${attempt.index}`, profileOf(attempt, attempt.times));
  const arrays = arrayKindsOf(plan).map((kind) => {
    return { kind, found: tasksOf(plan, kind).map((task) => profiles.get(`${kind} ${task}`)) };
  });
  const all = [...arrays, { kind: 'commit' as const, found: [log.profile(bytes)] }];
  const tasks = all.flatMap(({ found }) => found.flatMap((task) => task ?? []));
  const profile: ClusterProfile = {
    jobDir: directory,
    records,
    bytes,
    elapsedSeconds: elapsedOf(tasks),
    passes: all.map(({ kind, found }) => passProfile(kind, found)),
    tasks,
  };
  try {
    writeAtomically(path, `${JSON.stringify(profile, undefined, 1)}\n`, mayReplace);
  } catch (error) {
    scope.warn(new Error(`\`profile\` ${path}: cannot write it: ${reasonOf(error)}; the output is complete`));
  }
}

function passProfile(kind: TaskKind, found: readonly (ClusterTaskProfile | undefined)[]): ClusterPassProfile {
  const tasks = found.flatMap((task) => task ?? []);
  const sumOf = (value: (task: ClusterTaskProfile) => number) => tasks.reduce((sum, task) => sum + value(task), 0);
  const sums = <Name extends string>(names: readonly Name[], value: (task: ClusterTaskProfile, name: Name) => number) =>
    Object.fromEntries(names.map((name) => [name, sumOf((task) => value(task, name))])) as Record<Name, number>;
  return {
    kind,
    tasks: found.length,
    missing: [...found.keys()].filter((index) => found[index] === undefined),
    bytes: sumOf(({ bytes }) => bytes),
    elapsedSeconds: elapsedOf(tasks),
    seconds: sums(STEPS, ({ seconds }, step) => seconds[step]),
    phases: sums([...PHASES, 'idle'], (task, phase) => task.phases[phase]),
  };
}

function elapsedOf(tasks: readonly ClusterTaskProfile[]): number {
  const begins = tasks.map(({ beganMilliseconds }) => beganMilliseconds);
  const ends = tasks.map(({ beganMilliseconds, seconds: { prepare, work, finish } }) => {
    return beganMilliseconds + 1000 * (prepare + work + finish);
  });
  const least = begins.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = ends.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return tasks.length === 0 ? 0 : (most - least) / 1000;
}

/** @param jobDir the job directory; it need not exist. */
export function requireProfilePlace(
  file: string,
  mayReplace: boolean,
  others: PlacesInUse,
  jobDir: string,
): ProfilePlace {
  // Callers without types may pass anything.
  if (typeof file !== 'string') throw new UsageError('`profile`: expected the path of a file');
  const refuse = refuser('profile', file);
  if (file === '-') refuse('expected the name of a file: tasks cannot share standard output');
  if (resolve(file) === resolve(jobDir)) refuse('it is the job directory; name a file elsewhere');
  const path = requireFilePlace('profile', file, mayReplace, others);
  if (statPath(jobDir, 'output') !== undefined && path.startsWith(realPathOf(jobDir, 'output') + sep))
    refuse('it lies in the job directory; name a file elsewhere');
  return { path, mayReplace };
}
