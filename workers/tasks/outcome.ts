/** How a task comes back: errors cross threads as plain data. */
import { threadId } from 'node:worker_threads';
import { type EncodedError, encodeError } from '../../src/errors.js';
import { measured, type PhaseSeconds } from '../../src/phase-clock.js';
import type { TaskShare } from './job-share.js';

export type TaskKind = 'count' | 'note' | 'scatter' | 'read-back' | 'measure' | 'write';

/** Where the time of one task went. */
export interface TaskProfile {
  readonly kind: TaskKind;
  /** Number of the thread that did it; 0 is the calling one. */
  readonly thread: number;
  /** Milliseconds since 1970. */
  readonly beganMilliseconds: number;
  readonly seconds: PhaseSeconds;
}

export type Outcome<T> =
  | { readonly result: T; readonly profile: TaskProfile | undefined }
  | { readonly error: EncodedError };

/** Does a task of a job, and measures it when the job is profiled. */
export async function outcomeOf<T>(job: TaskShare, kind: TaskKind, task: () => Promise<T>): Promise<Outcome<T>> {
  try {
    if (job.isProfiled !== true) return { result: await task(), profile: undefined };
    const beganMilliseconds = performance.timeOrigin + performance.now();
    const { value, seconds } = await measured(task);
    return { result: value, profile: { kind, thread: threadId, beganMilliseconds, seconds } };
  } catch (error) {
    return { error: encodeError(error) };
  }
}

/** The same for what is no task of a job, and never measured. */
export async function unmeasuredOutcomeOf<T>(task: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { result: await task(), profile: undefined };
  } catch (error) {
    return { error: encodeError(error) };
  }
}
