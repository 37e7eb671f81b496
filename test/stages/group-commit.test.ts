/**
 * Commits in the background: waiting items are committed together, one commit at a time. The first failure ends the
 * commits and is reported, and a caller that waits for the end has all items durable.
 */
import { describe, expect, it, vi } from 'vitest';
import { AbortError, SystemError } from '#src/errors.js';
import { GroupCommit, withGroupCommit } from '#src/stages/group-commit.js';

/** Commits that take until they are told to end. */
function heldCommits(isStopped = true) {
  const batches: (readonly string[])[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const onFailure = vi.fn(() => isStopped);
  const commits = new GroupCommit<string>((items) => {
    batches.push(items);
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  }, onFailure);
  const end = async (error?: Error) => {
    const held = ends.shift();
    if (error === undefined) held?.resolve();
    else held?.reject(error);
    await eventLoopTurn();
  };
  return { commits, batches, end, onFailure };
}

const eventLoopTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Whether a promise has ended, whenever one asks. */
function watched<T>(promise: Promise<T>) {
  const seen = { isDone: false, promise };
  const note = () => {
    seen.isDone = true;
  };
  promise.then(note, note);
  return seen;
}

describe('GroupCommit', () => {
  it('commits what is there at once, and what comes meanwhile together, until all is committed', async () => {
    const { commits, batches, end } = heldCommits();
    commits.add('a');
    for (const item of ['b', 'c']) commits.add(item);
    expect(batches).toEqual([['a']]);
    const finished = watched(commits.finish());
    commits.add('d');
    await end();
    expect([finished.isDone, batches]).toEqual([false, [['a'], ['b', 'c', 'd']]]);
    await end();
    await finished.promise;
    commits.add('e');
    expect(batches.at(-1)).toEqual(['e']);
  });

  it('tells of the first failure, once, and commits nothing after it', async () => {
    const { commits, batches, end, onFailure } = heldCommits();
    for (const item of ['a', 'b']) commits.add(item);
    await end(new Error('full'));
    expect(commits.failure).toEqual({ error: new Error('full'), isFirst: true });
    commits.add('c');
    expect(batches).toEqual([['a']]);
    for (let time = 0; time < 2; time++) await expect(commits.finish()).rejects.toThrow('full');
    expect(onFailure).toHaveBeenCalledTimes(1);
  });

  it('treats a commit that throws at once as one that fails', async () => {
    const throwing = () => {
      throw new Error('at once');
    };
    const commits = new GroupCommit<string>(throwing, () => true);
    commits.add('a');
    await expect(commits.finish()).rejects.toThrow('at once');
  });
});

describe('withGroupCommit', () => {
  it('waits for what the work added', async () => {
    const { commits, end } = heldCommits();
    const done = watched(withGroupCommit(commits, async () => commits.add('a')));
    await eventLoopTurn();
    expect(done.isDone).toBe(false);
    await end();
    await done.promise;
  });

  it('throws what the work threw first, with what a commit threw later attached', async () => {
    for (const failure of [undefined, new Error('full')]) {
      const { commits, end } = heldCommits(false);
      const work = async () => {
        commits.add('a');
        throw new SystemError('ERR_IO', 'broken');
      };
      const done = watched(withGroupCommit(commits, work));
      await eventLoopTurn();
      expect(done.isDone).toBe(false);
      await end(failure);
      const cleanupErrors = failure === undefined ? [] : [failure];
      await expect(done.promise).rejects.toMatchObject({ message: 'broken', cleanupErrors });
    }
  });

  it.each<[string, () => Promise<void>, Error[]]>([
    ['nothing', async () => {}, []],
    ['the end that it caused', () => Promise.reject(new AbortError()), []],
    ['what the work threw by itself', () => Promise.reject(new Error('broken')), [new Error('broken')]],
  ])('throws what a commit threw first, with %s attached', async (_, then, cleanupErrors) => {
    const { commits, end } = heldCommits();
    const done = withGroupCommit(commits, async () => {
      commits.add('a');
      await end(new SystemError('ERR_NO_SPACE', 'full'));
      await then();
    });
    await expect(done).rejects.toMatchObject({ message: 'full', cleanupErrors });
  });
});
