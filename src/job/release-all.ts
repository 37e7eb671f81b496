/**
 * Letting go of what a job took, whatever became of it.
 */

/** Gives something back that was taken. */
export type Release = () => void | Promise<void>;

/**
 * Runs `work`, which adds to the list what it takes, then lets go of all of it, last taken first. A
 * release that fails hinders no other, and never changes what became of the work: the caller is told.
 */
export async function releasingAll<T>(
  work: (releases: Release[]) => Promise<T>,
  onFailure: (error: unknown) => void,
): Promise<T> {
  const releases: Release[] = [];
  try {
    return await work(releases);
  } finally {
    for (const release of releases.reverse()) {
      try {
        await release();
      } catch (error) {
        onFailure(error);
      }
    }
  }
}
