/**
 * What is the same in all jobs: refuses one that is aborted before it starts, measures it, and gives back whatever it
 * took, last taken first.
 */
import { type Release, releasingAll } from '../cleanup.js';
import { AbortedError } from '../errors.js';
import type { ShuffleOptions } from './options.js';

/** What a job runs in. */
export interface JobScope {
  /** Called when the job ends, last first, however it ends. */
  readonly releases: Release[];
  /** Tells the caller of something that failed and changes nothing of the result. */
  readonly warn: (error: unknown) => void;
}

/** @returns what the job gave, and the seconds that it took. */
export async function runJob<T>(
  { signal, onWarning }: Pick<ShuffleOptions, 'signal' | 'onWarning'>,
  job: (scope: JobScope) => Promise<T>,
): Promise<{ readonly value: T; readonly seconds: number }> {
  const began = performance.now();
  if (signal?.aborted === true) throw new AbortedError();
  const warn = (error: unknown) =>
    // The result is decided: a callback of the caller that throws changes nothing of it.
    ignoreThrown(() => onWarning?.(error instanceof Error ? error.message : String(error)));
  const value = await releasingAll((releases) => job({ releases, warn }), warn);
  return { value, seconds: (performance.now() - began) / 1000 };
}

export function ignoreThrown(call: () => void): void {
  try {
    call();
  } catch {
    // Nothing depends on it.
  }
}
