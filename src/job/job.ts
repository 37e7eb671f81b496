/** The frame of every job: refuses an aborted start, measures time, and releases resources, the last one first. */
import { taskThreadUrl } from '../../workers/thread-urls.js';
import { AbortError, setAbortReason } from '../errors.js';
import { asJob, type Release, releasingAll } from '../floor/cleanup.js';
import { reserveFile, tooManyFilesError } from '../machine/open-file-limit.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';

export interface JobScope {
  /** The calls at the end of the job, whether it succeeds or fails, the last one first. */
  readonly releases: Release[];
  /** Warns the caller of a failure that does not change the result. */
  readonly warn: (error: unknown) => void;
}

export async function runJob<T>(
  { signal, onWarning }: Pick<ShuffleOptions, 'signal' | 'onWarning'>,
  job: (scope: JobScope) => Promise<T>,
): Promise<{ readonly value: T; readonly seconds: number }> {
  const began = performance.now();
  // A job whose threads cannot start must not begin.
  taskThreadUrl();
  if (signal?.aborted === true) throw new AbortError(signal.reason);
  const warn = (error: unknown) =>
    // The result is decided: a callback that throws does not change it.
    ignoreThrown(() => onWarning?.(error instanceof Error ? error.message : String(error)));
  const giveBack = reserveFile();
  const work = (releases: Release[]) => job({ releases, warn }).finally(giveBack);
  const value = await asJob(() => releasingAll(work, warn)).catch((error: unknown) => {
    setAbortReason(error, signal);
    throw tooManyFilesError(error) ?? error;
  });
  return { value, seconds: (performance.now() - began) / 1000 };
}

export function ignoreThrown(call: () => void): void {
  try {
    call();
  } catch {
    // Nothing depends on it.
  }
}
