/**
 * Stopping a job before its end, because the caller's signal says so or because a task failed: raises
 * the flag that the threads look at, and wakes the coordinator.
 */
import type { JobControl } from '../job-control.js';
import { promiseWithResolver } from './promise-with-resolver.js';

export class JobStop {
  /** Fulfilled when the job is to stop; never rejected. */
  readonly requested: Promise<void>;
  readonly #control: JobControl;
  readonly #signal: AbortSignal | undefined;
  readonly #wake: () => void;
  readonly #onAbort = () => this.request();
  #isRequested = false;

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

  /** @returns whether nobody had asked for it before. */
  request(): boolean {
    const isFirst = !this.#isRequested;
    this.#isRequested = true;
    this.#control.abort();
    this.#wake();
    return isFirst;
  }

  /** Leaves the caller's signal alone from now on. */
  release(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}
