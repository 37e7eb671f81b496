/**
 * Cleanup after work: closing, unlocking, removing. If the work fails, its error is the one thrown, and failures of the
 * cleanup are added to its `cleanupErrors`. If the work succeeds, a failure of the cleanup is thrown; `releasingAll`
 * reports it instead.
 */
import { addCleanupErrors, PileshufError } from '../errors.js';

export type Release = () => void | Promise<void>;

/**
 * `work` adds a release to the list for everything that it takes. All are released afterwards, the last one first, even
 * if a release fails. The result of the work stays the same.
 */
export async function releasingAll<T>(
  work: (releases: Release[]) => Promise<T>,
  onFailure: (error: unknown) => void,
): Promise<T> {
  const releases: Release[] = [];
  let failures: readonly unknown[] = [];
  try {
    const result = await work(releases);
    failures = await releaseAll(releases);
    return result;
  } catch (error) {
    failures = await releaseAll(releases);
    if (error instanceof PileshufError) addCleanupErrors(error, failures);
    throw error;
  } finally {
    for (const failure of failures) onFailure(failure);
  }
}

async function releaseAll(releases: readonly Release[]): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  for (const release of releases.toReversed()) {
    try {
      await release();
    } catch (failure) {
      failures.push(failure, ...(failure instanceof PileshufError ? failure.cleanupErrors : []));
    }
  }
  return failures;
}

let jobCount = 0;
let endOfJobs: Release | undefined;

/** @param end releases what the jobs of the process share; called when the last of them ends. */
export function afterLastJob(end: Release): void {
  endOfJobs = end;
}

/** Does the work of a job. After the last job that is under way, it waits for the `end` of `afterLastJob`. */
export async function asJob<T>(job: () => Promise<T>): Promise<T> {
  jobCount += 1;
  try {
    return await job();
  } finally {
    jobCount -= 1;
    if (jobCount === 0) {
      const end = endOfJobs;
      endOfJobs = undefined;
      await end?.();
    }
  }
}

/** Does work that need not succeed. Undefined: it failed with an error that pileshuf expects. */
export function ifPossible<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof PileshufError) return undefined;
    throw error;
  }
}

export function thenAlways<T>(work: () => T, after: () => void): T {
  let result: T;
  try {
    result = work();
  } catch (error) {
    throw afterFailure(error, after);
  }
  after();
  return result;
}

export async function thenAlwaysAsync<T>(work: () => Promise<T>, after: () => void | Promise<void>): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    try {
      await after();
    } catch (failure) {
      attach(error, failure);
    }
    throw error;
  }
  await after();
  return result;
}

/** Does `after`, and returns the error of the work for the caller to throw. */
export function afterFailure(error: unknown, after: () => void): unknown {
  try {
    after();
  } catch (failure) {
    attach(error, failure);
  }
  return error;
}

function attach(error: unknown, failure: unknown): void {
  if (error instanceof PileshufError) addCleanupErrors(error, [failure]);
}
