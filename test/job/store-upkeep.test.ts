/** Upkeep that its caller stops: it ends soon, and a later call does the rest. */
import { readdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { collectStore, expireStore, inspectStore } from '#src/index.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { writeInputs } from '../fixtures/written-store.js';

const directory = useMemoryDirectory();
const fileCalls = useFileCalls();
const store = () => directory.path('store');
const indexCount = () =>
  readdirSync(directory.path('store', 'pile-sets')).filter((name) => name.endsWith('.index')).length;
const generationCount = async () => (await inspectStore(store())).generations.length;

beforeEach(async () => {
  await writeInputs(store(), ['a', 'b', 'c'], '2026-10-01');
  await writeInputs(store(), ['d'], '2026-11-01');
});

describe('a signal that is aborted before the call', () => {
  it('lets nothing expire, collect or inspect', async () => {
    const signal = AbortSignal.abort('enough');
    const stopped = { name: 'AbortError', code: 'ABORT_ERR', cause: 'enough' };
    await expect(expireStore(store(), { keepLast: 1 }, { signal })).rejects.toMatchObject(stopped);
    expect(await generationCount()).toBe(2);
    await expect(inspectStore(store(), { signal })).rejects.toMatchObject(stopped);
    await expireStore(store(), { keepLast: 1 });
    await expect(collectStore(store(), { graceMilliseconds: 0, signal })).rejects.toMatchObject(stopped);
    expect(indexCount()).toBe(4);
  });
});

describe('a signal that is aborted while files are deleted', () => {
  it('ends it before the next pile set, and the next call does the rest', async () => {
    const controller = new AbortController();
    fileCalls.replace({
      unlink: (path) => {
        if (path.endsWith('.index')) controller.abort();
        systemFileCalls.unlink(path);
      },
    });
    const options = { graceMilliseconds: 0, signal: controller.signal };
    await expect(expireStore(store(), { keepLast: 1 }, options)).rejects.toThrow(
      /^stopped before the end; a later pileshuf gc deletes the rest$/,
    );
    expect(indexCount()).toBe(3);
    expect(await generationCount()).toBe(1);
    expect(await collectStore(store(), { graceMilliseconds: 0 })).toMatchObject({ pileSets: 3 });
    expect(indexCount()).toBe(1);
    expect(await inspectStore(store(), { verify: true })).toMatchObject({ removedPileSets: 0, records: 3 });
  });
});
