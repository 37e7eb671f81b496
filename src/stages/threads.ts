/**
 * The threads of a job, and how a job stops early: when the caller's signal fires or a task fails, a flag in shared memory
 * is raised, which all threads look at.
 */
import { randomUUID } from 'node:crypto';
import type { Release } from '../floor/cleanup.js';
import type { JobControl } from '../floor/job-control.js';
import { type OnProfile, openTaskPool, type PoolSize, type TaskPool } from './task-pool.js';

export interface Threads {
  readonly pool: TaskPool;
  readonly control: JobControl;
  readonly stop: JobStop;
  /** Tells tasks of this pool from those of any other in the process. */
  readonly jobName: string;
}

export class JobStop {
  readonly #control: JobControl;
  readonly #signal: AbortSignal | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #onAbort = () => this.request();
  #isRequested = false;
  #reason: unknown;

  /** @param releases end listening to the caller's signal. */
  constructor(control: JobControl, signal: AbortSignal | undefined, releases: Release[] = []) {
    this.#control = control;
    this.#signal = signal;
    if (signal?.aborted === true) this.request();
    signal?.addEventListener('abort', this.#onAbort);
    releases.push(() => this.release());
  }

  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** The error that a job ends with, if it was stopped by `fail` in time. */
  get reason(): unknown {
    return this.#reason;
  }

  /** Stops the job because of a failure outside of its tasks. */
  fail(reason: unknown): void {
    if (this.request()) this.#reason = reason;
  }

  /** Stops the job. @returns whether this is the first request. */
  request(): boolean {
    const isFirst = !this.#isRequested;
    this.#isRequested = true;
    this.#control.abort();
    if (isFirst) for (const listener of this.#listeners) listener();
    return isFirst;
  }

  /** Calls `listener` when the job must stop. @returns stops listening. */
  onRequest(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Stops listening to the caller's signal. */
  release(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** @param releases ends the threads when the job ends. */
export async function startThreads(
  size: PoolSize,
  { control, stop }: Pick<Threads, 'control' | 'stop'>,
  onProfile: OnProfile,
  releases: Release[],
): Promise<Threads> {
  const jobName = randomUUID();
  const pool = await openTaskPool(size, jobName, onProfile);
  releases.push(() => pool.destroy());
  return { pool, control, stop, jobName };
}

/** `Promise.withResolvers`, which Node 20 lacks, for a promise without a value. */
export function promiseWithResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
