/**
 * Commits that are already visible when a call fails: the writer learns that the commit exists and may not survive a
 * power failure. The commit stays, and repeating the work makes it durable.
 */
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { collectStore, expireStore, SystemError } from '#src/index.js';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { watchFileCalls } from '../faults/watched-file-calls.js';
import { interrupted } from '../fixtures/interrupted-file-calls.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { inputsOf, linesOf, SEED, writeInput, writeInputs } from '../fixtures/written-store.js';

const directory = useMemoryDirectory();
const fileCalls = useFileCalls();
const store = () => directory.path('store');
const files = () => readdirSync(directory.path('store', 'pile-sets')).sort();
const IN_DOUBT =
  /^the commit is state \d+ of the pile store \/[^\n]*, but it may not survive a power failure: cannot [^\n]*; check the disk, then run the same command again, with `replace` if it adds inputs$/;

/** As when the device of the manifests fails in the moment after one of them was given its name. */
function failAfterLink(): void {
  let isLinked = false;
  fileCalls.replace({
    link: (from, to) => {
      systemFileCalls.link(from, to);
      isLinked = to.includes('manifests');
    },
    syncAsync: async (fd) => (isLinked ? failWith('EIO')() : systemFileCalls.syncAsync(fd)),
  });
}

beforeEach(async () => {
  await writeInputs(store(), ['old'], '2026-10-01');
  await writeInputs(store(), ['a'], '2026-11-01');
});

describe('a commit that cannot be made durable', () => {
  it('is told to be there, is kept, and is made durable by the same with --replace', async () => {
    failAfterLink();
    const failure: unknown = await writeInput(store(), 'b', linesOf('b')).catch((error: unknown) => error);
    fileCalls.replace({});
    expect(failure).toBeInstanceOf(SystemError);
    expect(failure).toMatchObject({
      code: 'ERR_IO',
      message: expect.stringMatching(IN_DOUBT),
      cause: { message: expect.stringMatching(/^cannot sync .*\/manifests: the device reports/) },
    });
    const content = expectedContent(SEED, inputsOf(['old', 'a', 'b']));
    expect(contentOf(store())).toEqual(content);
    expect(files().filter((name) => name.startsWith('writing'))).toEqual([]);
    await expect(writeInput(store(), 'b', linesOf('b'))).rejects.toMatchObject({ code: 'ERR_INPUT_ID_TAKEN' });
    await writeInput(store(), 'b', linesOf('b'), { replace: true });
    expect(contentOf(store())).toEqual(content);
  });

  it('is told so when giving its manifest the name has been done and reported as failed', async () => {
    fileCalls.replace({
      link: (from, to) => {
        systemFileCalls.link(from, to);
        failWith('EIO')();
      },
    });
    await expect(writeInput(store(), 'b', linesOf('b'))).rejects.toThrow(IN_DOUBT);
    expect(contentOf(store())).toEqual(expectedContent(SEED, inputsOf(['old', 'a', 'b'])));
  });

  it('is the only one that is there after a failure, whichever call failed', async () => {
    cpSync(store(), directory.path('before'), { recursive: true });
    const without = contentOf(store());
    let inDoubt = 0;
    for (let number = 1; ; number += 1) {
      rmSync(store(), { recursive: true });
      cpSync(directory.path('before'), store(), { recursive: true });
      const { isReached, error } = await interrupted('fails', number, () => writeInput(store(), 'b', linesOf('b')));
      if (!isReached) break;
      if (error === undefined) continue;
      const isThere = contentOf(store()).length > without.length;
      expect(IN_DOUBT.test(error instanceof Error ? error.message : ''), `call ${number}: ${error}`).toBe(isThere);
      if (isThere) inDoubt += 1;
    }
    expect(inDoubt).toBeGreaterThan(1);
  });
});

describe('an expiry that was not made durable', () => {
  const rule = { before: '2026-11-01' };

  /** The directory of manifests when it is synced, and each file that is deleted. */
  async function callsOf(work: () => Promise<unknown>): Promise<string[]> {
    const seen: string[] = [];
    const calls = watchFileCalls(
      (path) => path.startsWith(store()),
      (call, make) => {
        if (call.name === 'unlink' && call.path.includes('pile-sets')) seen.push('delete a pile set');
        if (call.name === 'syncAsync' && call.path.endsWith('manifests')) seen.push('sync the manifests');
        return make();
      },
      systemFileCalls,
    );
    const former = replaceFileCalls(calls);
    await work().finally(() => replaceFileCalls(former));
    return seen;
  }

  it('is told to be there, and is made durable by the same once more', async () => {
    failAfterLink();
    await expect(expireStore(store(), rule)).rejects.toThrow(IN_DOUBT);
    fileCalls.replace({});
    expect(contentOf(store())).toEqual(expectedContent(SEED, inputsOf(['a'])));
    expect((await callsOf(() => expireStore(store(), rule)))[0]).toBe('sync the manifests');
  });

  it('is made durable before what expired is deleted: a former state must not come back without its files', async () => {
    failAfterLink();
    await expect(expireStore(store(), rule)).rejects.toThrow(IN_DOUBT);
    fileCalls.replace({});
    const seen = await callsOf(() => collectStore(store(), { graceMilliseconds: 0 }));
    expect(seen).toContain('delete a pile set');
    expect(seen[0]).toBe('sync the manifests');
  });
});
