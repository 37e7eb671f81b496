/**
 * Letting go of what a job took, whatever became of it.
 */
import { addCleanupErrors, PileshufError } from './errors.js';

/** Gives something back that was taken. */
export type Release = () => void | Promise<void>;

/**
 * Runs `work`, which adds to the list what it takes, then lets go of all of it, last taken first. A
 * release that fails hinders no other, and never changes what became of the work: the caller is told,
 * and finds it in the `cleanupErrors` of the PileshufError that the work ended with, if it did.
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

/** Last taken first; gives what failed. */
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
