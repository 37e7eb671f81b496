/** Returning everything that a job took, in the opposite order, whatever fails. */
import { describe, expect, it } from 'vitest';
import { addCleanupErrors, SystemError } from '#src/errors.js';
import { type Release, releasingAll } from '#src/floor/cleanup.js';

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

  it('attaches what could not be let go of to the error that says what went wrong, and tells of it', async () => {
    const failures: unknown[] = [];
    const cause = new SystemError('ERR_IO', 'cause');
    const earlier = new Error('earlier');
    addCleanupErrors(cause, [earlier]);
    const work = async (releases: Release[]) => {
      takeThree([])(releases);
      throw cause;
    };
    await expect(releasingAll(work, (error) => failures.push(error))).rejects.toBe(cause);
    expect(cause.cleanupErrors).toEqual([earlier, tail]);
    expect(failures).toEqual([tail]);
  });

  it('lets go of everything before it tells', async () => {
    const log: string[] = [];
    const impatient = new Error('thrown by who is told');
    const work = async (releases: Release[]) => takeThree(log)(releases);
    const telling = releasingAll(work, () => {
      throw impatient;
    });
    await expect(telling).rejects.toBe(impatient);
    expect(log).toEqual(['last', 'first']);
  });
});
