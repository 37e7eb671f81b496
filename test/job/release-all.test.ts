/** Letting go of what a job took: everything, in the opposite order, whatever fails. */
import { describe, expect, it } from 'vitest';
import { type Release, releasingAll } from '#src/job/release-all.js';

describe('releasingAll', () => {
  const tail = new Error('tail');

  function takeThree(log: string[]) {
    return (releases: Release[]) => {
      releases.push(() => void log.push('first'));
      releases.push(async () => {
        throw tail;
      });
      releases.push(async () => void log.push('last'));
    };
  }

  it('gives the result, and tells of what could not be let go of', async () => {
    const log: string[] = [];
    const failures: unknown[] = [];
    const work = async (releases: Release[]) => {
      takeThree(log)(releases);
      return 'result';
    };
    expect(await releasingAll(work, (error) => failures.push(error))).toBe('result');
    expect(log).toEqual(['last', 'first']);
    expect(failures).toEqual([tail]);
  });

  it('never puts another error in the place of what went wrong', async () => {
    const log: string[] = [];
    const cause = new Error('cause');
    const work = async (releases: Release[]) => {
      takeThree(log)(releases);
      throw cause;
    };
    await expect(releasingAll(work, () => {})).rejects.toBe(cause);
    expect(log).toEqual(['last', 'first']);
  });
});
