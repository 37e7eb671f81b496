/**
 * Commits in the background: waiting items are committed together, one commit at a time. The first failure ends the
 * commits and is reported, and a caller that waits for the end has all items durable.
 */
import { describe, expect, it, vi } from 'vitest';
import { AbortError, SystemError } from '#src/errors.js';
import { committing, GroupCommit } from '#src/stages/group-commit.js';

/** A commit that takes until it is told to end. */
function heldCommit() {
  const batches: (readonly string[])[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const commit = (items: readonly string[]) =>
    new Promise<void>((resolve, reject) => {
      batches.push(items);
      ends.push({ resolve, reject });
    });
  const end = async (error?: Error) => {
    const held = ends.shift();
    if (error === undefined) held?.resolve();
    else held?.reject(error);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { batches, commit, end };
}

describe('GroupCommit', () => {
  it('commits what is there at once, and what comes meanwhile together', async () => {
    const { batches, commit, end } = heldCommit();
    const commits = new GroupCommit(commit, () => true);
    commits.add('a');
    expect(batches).toEqual([['a']]);
    for (const item of ['b', 'c', 'd']) commits.add(item);
    expect(batches).toEqual([['a']]);
    await end();
    expect(batches).toEqual([['a'], ['b', 'c', 'd']]);
    await end();
    expect(batches).toHaveLength(2);
    commits.add('e');
    expect(batches.at(-1)).toEqual(['e']);
    await end();
    await commits.finish();
  });

  it('is finished when all is committed, also what comes while it is waited for', async () => {
    const { batches, commit, end } = heldCommit();
    const commits = new GroupCommit(commit, () => true);
    await commits.finish();
    commits.add('a');
    let isFinished = false;
    const finished = commits.finish().then(() => {
      isFinished = true;
    });
    commits.add('b');
    await end();
    expect(isFinished).toBe(false);
    await end();
    await finished;
    expect(batches).toEqual([['a'], ['b']]);
  });

  it('tells of the first failure, once, and commits nothing after it', async () => {
    const { batches, commit, end } = heldCommit();
    const onFailure = vi.fn(() => true);
    const commits = new GroupCommit(commit, onFailure);
    commits.add('a');
    commits.add('b');
    expect(commits.failure).toBeUndefined();
    await end(new Error('full'));
    expect(onFailure).toHaveBeenCalledTimes(1);
    expect(commits.failure).toEqual({ error: new Error('full'), isFirst: true });
    commits.add('c');
    expect(batches).toEqual([['a']]);
    for (let time = 0; time < 2; time++) await expect(commits.finish()).rejects.toThrow('full');
    expect(onFailure).toHaveBeenCalledTimes(1);
  });

  it('treats a commit that throws at once as one that fails', async () => {
    const commits = new GroupCommit<string>(
      () => {
        throw new Error('at once');
      },
      () => true,
    );
    commits.add('a');
    commits.add('b');
    await expect(commits.finish()).rejects.toThrow('at once');
  });
});

describe('committing', () => {
  it('waits for what the work added', async () => {
    const { commit, end } = heldCommit();
    const commits = new GroupCommit(commit, () => true);
    let isDone = false;
    const done = committing(commits, async () => commits.add('a')).then(() => {
      isDone = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDone).toBe(false);
    await end();
    await done;
  });

  it('throws what a commit threw when the work did not fail by itself, or was stopped because of it', async () => {
    for (const work of [async () => {}, () => Promise.reject(new Error('stopped'))]) {
      const { commit, end } = heldCommit();
      const commits = new GroupCommit(commit, () => true);
      const done = committing(commits, async () => {
        commits.add('a');
        await end(new Error('full'));
        await work();
      });
      await expect(done).rejects.toThrow('full');
    }
  });

  it('throws what the work threw first, with what a commit threw later attached', async () => {
    for (const failure of [undefined, new Error('full')]) {
      const { commit, end } = heldCommit();
      const commits = new GroupCommit(commit, () => false);
      let isDone = false;
      const done = committing(commits, async () => {
        commits.add('a');
        throw new SystemError('ERR_IO', 'broken');
      }).catch((error: unknown) => {
        isDone = true;
        return error;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(isDone).toBe(false);
      await end(failure);
      const cleanupErrors = failure === undefined ? [] : [failure];
      expect(await done).toMatchObject({ message: 'broken', cleanupErrors });
    }
  });

  it('throws what a commit threw first, with what the work threw by itself attached', async () => {
    for (const [then, cleanupErrors] of [
      [new AbortError(), []],
      [new Error('broken'), [new Error('broken')]],
    ] as const) {
      const { commit, end } = heldCommit();
      const commits = new GroupCommit(commit, () => true);
      const done = committing(commits, async () => {
        commits.add('a');
        await end(new SystemError('ERR_NO_SPACE', 'full'));
        throw then;
      }).catch((error: unknown) => error);
      expect(await done).toMatchObject({ message: 'full', cleanupErrors });
    }
  });

  it('is the work alone where nothing is committed', async () => {
    await committing(undefined, async () => {});
    await expect(committing(undefined, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});
