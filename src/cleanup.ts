/**
 * Cleanup after work, whether the work succeeded or failed: closing, unlocking, removing.
 *
 * If the work fails, its error is always the one thrown, and a failure of the cleanup is added to its `cleanupErrors`.
 * If the work succeeds, a failure of the cleanup is thrown itself (`releasingAll` reports it instead).
 */
import { addCleanupErrors, PileshufError } from './errors.js';

/** Returns something that a job took. */
export type Release = () => void | Promise<void>;

/**
 * Runs `work`, which adds a release to the list for everything that it takes. Then releases everything, the last one
 * first. If a release fails, the others still follow and the result of the work stays the same.
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

/** Releases the last one first. @returns the failures. */
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

/** Does `work`, then `after` in any case. */
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

/** Does `after` because the work failed. @returns the error of the work, for the caller to throw. */
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
