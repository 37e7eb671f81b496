/**
 * Making and opening stores: one of two creators wins, the next creator continues the work of a killed one, and no
 * other directory ever counts as a store.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commitManifest } from '#src/store/commit-manifest.js';
import { openOrCreateStore, type PlannedStore } from '#src/store/create-store.js';
import { manifestName } from '#src/store/store-files.js';
import { openSnapshot, type StoreSnapshot } from '#src/store/store-snapshot.js';
import { interrupted } from '../fixtures/interrupted-file-calls.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const fileCalls = useFileCalls();
const store = () => directory.path('store');
const create = async (
  asked: { seed?: string; pileCount?: number } = {},
  plan: (store: PlannedStore) => void | Promise<void> = () => {},
) => (await openOrCreateStore(store(), asked, { pileCount: 7 }, plan)).snapshot;
const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('openOrCreateStore', () => {
  it('refuses a store that has lost its settings', async () => {
    await create();
    rmSync(directory.path('store', 'store'));
    writeFileSync(directory.path('store', 'manifests', manifestName(2)), '');
    await expect(create()).rejects.toEqual(refusal('ERR_STORE', /has lost its file store; restore it/));
  });

  it.each(['EPERM', 'ENOTSUP'])(
    'refuses a file system without hard links, which says %s, and makes no store there',
    async (errno) => {
      fileCalls.replace({ link: failWith(errno) });
      const message =
        /^cannot give its name to .*: this file system has no hard links; put the pile store on one that has them$/;
      await expect(create()).rejects.toEqual(refusal('ERR_IO', message));
      expect(readdirSync(directory.path('store', 'manifests'))).toEqual([]);
      expect(readdirSync(store()).sort()).toEqual(['manifests', 'pile-sets']);
    },
  );

  it('tells of a place where it may not be made', async () => {
    const path = directory.path('missing', 'store');
    const failure = expect.objectContaining({
      message: expect.stringContaining(`the directory ${path}: no such file`),
    });
    await expect(openOrCreateStore(path, {}, { pileCount: 1 }, () => {})).rejects.toEqual(failure);
  });

  it.each([
    ['where nothing is', () => {}, () => directory.path()],
    ['in an empty directory', () => mkdirSync(store()), store],
    [
      'where one was begun',
      () => mkdirSync(directory.path('store', 'pile-sets'), { recursive: true }),
      () => directory.path('store', 'pile-sets'),
    ],
  ])('makes nothing %s when the caller has found something wrong', async (_, before, place) => {
    before();
    const files = readdirSync(directory.path(), { recursive: true });
    const refuse = (inSight: PlannedStore) => {
      expect(inSight).toEqual({ pileCount: 7, snapshot: undefined, place: place() });
      throw new RangeError('something is wrong');
    };
    await expect(create({}, refuse)).rejects.toThrow(RangeError);
    expect(readdirSync(directory.path(), { recursive: true })).toEqual(files);
  });

  it('lets a store be that somebody else has made meanwhile, and has the caller plan for it', async () => {
    const seen: (readonly [pileCount: number, isThere: boolean])[] = [];
    let other: StoreSnapshot | undefined;
    const snapshot = await create({}, async ({ pileCount, snapshot }) => {
      seen.push([pileCount, snapshot !== undefined]);
      other ??= await create({ pileCount: 3 });
    });
    expect(seen).toEqual([
      [7, false],
      [3, true],
    ]);
    expect(snapshot).toEqual(other);
  });

  it('does not begin a store again whose first states are gone', async () => {
    const manifests = directory.path('store', 'manifests');
    let other: StoreSnapshot | undefined;
    const snapshot = await create({}, async () => {
      other = await create();
      for (const oldest of [1, 3]) await commitManifest(other, (state) => ({ ...state, oldest }));
      for (const number of [1, 2]) rmSync(directory.path('store', 'manifests', manifestName(number)));
    });
    expect(snapshot.settings).toEqual(other?.settings);
    expect(readdirSync(manifests)).toEqual([manifestName(3)]);
  });

  it.each(['fails', 'ends'] as const)('is continued when any of its calls %s', async (how) => {
    let count = 0;
    for (let number = 1; ; number += 1) {
      const { isReached } = await interrupted(how, number, () => create());
      if (!isReached) break;
      count += 1;
      const { settings, manifest } = await create({ pileCount: 7 });
      expect(manifest.storeId).toBe(settings.id);
      expect(openSnapshot(store()).settings).toEqual(settings);
      rmSync(store(), { recursive: true });
    }
    expect(count).toBeGreaterThan(8);
  });
});
