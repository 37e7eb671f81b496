/**
 * What must be done after work, whether it succeeded or failed: closing, unlocking, removing.
 *
 * The error of the work is always the one that is thrown. A failure of the cleanup is added to its `cleanupErrors`;
 * it is thrown itself only when the work succeeded (`releasingAll` reports it instead).
 */
import { addCleanupErrors, PileshufError } from './errors.js';

/** Gives back something that a job took. */
export type Release = () => void | Promise<void>;

/**
 * Runs `work`, which adds a release for everything that it takes to the list, then releases all of it, the last one
 * first. A release that fails neither stops the others nor changes the result of the work.
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

/** Does `after` because work failed. @returns the error of the work, for the caller to throw. */
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
