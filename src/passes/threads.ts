/**
 * The threads of a job, and how a job stops early: when the caller's signal fires or a task fails, a flag in shared memory
 * is raised, which all threads look at.
 */
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { memoryKeeperUrl } from '../../workers/thread-urls.js';
import type { Release } from '../cleanup.js';
import type { JobControl } from '../job-control.js';
import { ASK_FOR_SLABS, type KeeperTask } from '../pile-sets/pool-memory.js';
import { ownRamPool, type RamPoolHandle, ramPoolIn, wholeChunks } from '../pile-sets/ram-pool.js';
import { type OnProfile, openTaskPool, type PoolSize, type TaskPool, workerError } from './task-pool.js';

/** The threads of a pass, and how to stop them. */
export interface Threads {
  readonly pool: TaskPool;
  readonly control: JobControl;
  readonly stop: JobStop;
  /** Tells tasks of this pool from those of any other in the process. */
  readonly jobName: string;
}

/** Stops a job before its end. */
export class JobStop {
  /** Fulfilled when the job must stop; never rejected. */
  readonly requested: Promise<void>;
  readonly #control: JobControl;
  readonly #signal: AbortSignal | undefined;
  readonly #wake: () => void;
  readonly #onAbort = () => this.request();
  #isRequested = false;
  #reason: unknown;

  constructor(control: JobControl, signal: AbortSignal | undefined) {
    const { promise, resolve } = promiseWithResolver();
    this.requested = promise;
    this.#wake = resolve;
    this.#control = control;
    this.#signal = signal;
    if (signal?.aborted === true) this.request();
    signal?.addEventListener('abort', this.#onAbort);
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
    this.#wake();
    return isFirst;
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

/** A typed array on Node 20 spans at most 4 GiB; slabs stay well below. */
const SLAB_BYTES = 2 ** 30;

/**
 * The memory pool of a job. In a job on several threads, a separate thread keeps the memory until the job ends, because
 * memory that the calling thread has allocated stays resident long after it is freed.
 * @param releases frees the memory, after the threads that use it have ended.
 * @returns a pool of at least `wantedBytes`, or of as much as the system has; undefined if `wantedBytes` is 0.
 * @throws SystemError ERR_WORKER if the thread cannot start. If it ends later, before the job, it stops the job.
 */
export async function openRamPool(
  wantedBytes: number,
  isOnCallingThread: boolean,
  stop: JobStop,
  releases: Release[],
): Promise<RamPoolHandle | undefined> {
  if (wantedBytes === 0) return undefined;
  return isOnCallingThread ? ownRamPool(wantedBytes) : keepRamPool(wantedBytes, stop, releases);
}

/** A pool in the memory of a separate thread. */
export async function keepRamPool(
  wantedBytes: number,
  stop: Pick<JobStop, 'fail'>,
  releases: Release[],
): Promise<RamPoolHandle> {
  const channelName = `pileshuf ${randomUUID()}`;
  const workerData: KeeperTask = {
    channelName,
    question: ASK_FOR_SLABS,
    wantedBytes: wholeChunks(wantedBytes),
    slabBytes: SLAB_BYTES,
  };
  const keeper = openKeeper(workerData);
  let isNeeded = true;
  const answer = new Promise<unknown>((resolve, reject) => {
    const lost = (reason: unknown) => {
      const error = workerError(reason);
      reject(error);
      if (isNeeded) stop.fail(error);
    };
    keeper.once('message', resolve);
    // An error without a listener would end the program.
    keeper.on('error', lost);
    keeper.once('exit', () => lost('the thread that keeps the memory pool has ended'));
  });
  releases.push(async () => {
    isNeeded = false;
    await keeper.terminate();
  });
  return ramPoolIn({ kind: 'kept', channelName, slabBytes: SLAB_BYTES }, Number(await answer));
}

function openKeeper(workerData: unknown): Worker {
  const url = memoryKeeperUrl();
  try {
    return new Worker(url, { workerData, trackUnmanagedFds: false });
  } catch (error) {
    throw workerError(error);
  }
}

/** `Promise.withResolvers`, which Node 20 lacks, for a promise without a value. */
export function promiseWithResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
