/**
 * Where the time of an attempt at a task goes, in a job that measures it. The first attempt that has done a task leaves
 * its profile for the commit; one that cannot has done its work anyway.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { TaskProfile } from '../../workers/tasks.js';
import { linkToNewName } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { amount, object, oneOf, type Shape, text, wholeNumber } from '../io/json-shape.js';
import { createWhole, nameOfAttempt } from '../io/small-file.js';
import { passSeconds } from '../jobs/job-profile.js';
import type { PassSeconds } from '../jobs/options.js';
import { PHASES } from '../phase-clock.js';
import { ATTEMPTS_NAME, formatOfJob, TASK_KINDS, type TaskKind } from './cluster-plan.js';

/** The elapsed seconds of a task, step by step. */
export interface TaskSteps {
  /** To load Node and the command. 0 for a further task of the same process, and for a task of a program. */
  readonly start: number;
  /** Until its threads begin: to read the plan, and what other tasks made. */
  readonly prepare: number;
  /** From the start of the first thread to the end of the last. */
  readonly work: number;
  /** Until the task is done: its files are durable. */
  readonly finish: number;
}

export interface TimedTask {
  readonly host: string;
  /** The most threads that it had for one kind of work. */
  readonly threads: number;
  /** Milliseconds since 1970, by the clock of the host. */
  readonly beganMilliseconds: number;
  /** As in `ClusterTaskReport`. */
  readonly bytes: number;
  readonly seconds: TaskSteps;
  /** Sums over all threads. */
  readonly phases: PassSeconds;
}

/** Measures one attempt at a task, from now on. */
export class TaskTimes {
  readonly #startSeconds: number;
  readonly #began = now();
  #threads = 1;
  readonly #tasks: Pick<TaskProfile, 'beganMilliseconds' | 'seconds'>[] = [];

  constructor(startSeconds: number) {
    this.#startSeconds = startSeconds;
  }

  /** @param count of threads for the work that follows; 0: the calling thread does it. */
  useThreads(count: number): void {
    this.#threads = Math.max(this.#threads, count);
  }

  readonly add = ({ beganMilliseconds, seconds }: TaskProfile): void => {
    this.#tasks.push({ beganMilliseconds, seconds });
  };

  /** Called when the task is done. */
  timed(bytes: number): TimedTask {
    const threads = this.#threads;
    const end = now();
    // A task without work for threads only prepared.
    const firstBegan = this.#tasks.reduce((first, task) => Math.min(first, task.beganMilliseconds), end);
    const lastEnded = this.#tasks.reduce((last, task) => Math.max(last, endOf(task)), firstBegan);
    const work = (lastEnded - firstBegan) / 1000;
    return {
      host: hostname(),
      threads,
      beganMilliseconds: this.#began,
      bytes,
      seconds: {
        start: this.#startSeconds,
        prepare: Math.max(0, firstBegan - this.#began) / 1000,
        work,
        finish: Math.max(0, end - lastEnded) / 1000,
      },
      phases: passSeconds(this.#tasks, threads * work),
    };
  }
}

/** Milliseconds since 1970, as threads tell them. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function endOf({ beganMilliseconds, seconds }: Pick<TaskProfile, 'beganMilliseconds' | 'seconds'>): number {
  return beganMilliseconds + 1000 * PHASES.reduce((sum, phase) => sum + seconds[phase], 0);
}

/** How one task spent its time, in the first attempt that did it. */
export interface ClusterTaskProfile extends TimedTask {
  readonly kind: TaskKind;
  readonly index: number;
}

const amounts = <Name extends string>(...names: readonly Name[]) =>
  object(Object.fromEntries(names.map((name) => [name, amount]))) as Shape<Readonly<Record<Name, number>>>;

const shape: Shape<ClusterTaskProfile> = object({
  kind: oneOf(...TASK_KINDS),
  index: wholeNumber(),
  host: text,
  threads: wholeNumber(1),
  beganMilliseconds: amount,
  bytes: amount,
  seconds: amounts('start', 'prepare', 'work', 'finish'),
  phases: amounts(...PHASES, 'idle'),
});

const format = formatOfJob('task-profile', 1, 2 ** 14, shape);

function placeIn(jobDirectory: string, kind: TaskKind, index: number): string {
  return join(jobDirectory, ATTEMPTS_NAME, `${kind}-${String(index).padStart(6, '0')}.profile`);
}

export function leaveProfile(jobDirectory: string, profile: ClusterTaskProfile): void {
  const place = placeIn(jobDirectory, profile.kind, profile.index);
  const whole = nameOfAttempt(place);
  try {
    createWhole(whole, format.seal(profile), 'temp');
    linkToNewName(whole, place);
  } catch {
    // Another attempt was first, or the disk is full: the commit says whose profile is missing.
    try {
      removeFile(whole, 'temp');
    } catch {
      // The commit removes it.
    }
  }
}

export function readProfile(jobDirectory: string, kind: TaskKind, index: number): ClusterTaskProfile | undefined {
  try {
    return format.read(placeIn(jobDirectory, kind, index));
  } catch {
    return undefined;
  }
}
