/** Commits: ids are unique, whole commits are replaced, and no commit is lost when many come at the same time. */
import { cpSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openPileWriter } from '#src/index.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { JobControl } from '#src/job-control.js';
import { commitManifest } from '#src/store/commit-manifest.js';
import { commitToStore, type NewCommit } from '#src/store/commit-to-store.js';
import { openOrCreateStore } from '#src/store/create-store.js';
import { StoreAttempt } from '#src/store/store-attempt.js';
import { nameOfManifest } from '#src/store/store-files.js';
import { manifestFormat, readNewestManifest } from '#src/store/store-manifest.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const fileCalls = useFileCalls();
const store = () => directory.path('store');
const control = JobControl.create([], 0);
const create = async () => (await openOrCreateStore(store(), { seed: '42' }, { pileCount: 3 }, () => {})).snapshot;
const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

/** A commit without records, but with a pile set whose files exist. */
async function commit(inputIds: string[], options: { generation?: string; replace?: boolean } = {}) {
  const snapshot = openSnapshot(store());
  const attempt = StoreAttempt.begin(snapshot);
  const { generation, replace = false } = options;
  try {
    return await commitToStore(snapshot, withFiles(attempt.name, inputIds, generation), { replace, control });
  } finally {
    attempt.end();
  }
}

function withFiles(name: string, inputIds: string[], generation?: string): NewCommit {
  const pileSet = `set-000000-${name}`;
  writeFileSync(directory.path('store', 'pile-sets', `${pileSet}.index`), 'index');
  writeFileSync(directory.path('store', 'pile-sets', `${pileSet}.0.pile`), 'data');
  return {
    name,
    generation,
    inputIds,
    format: null,
    records: 0,
    bytes: 0,
    checksum: '0'.repeat(16),
    longestRecordBytes: 0,
    pileSets: [{ name: pileSet, diskBytes: 4 }],
  };
}

const idsOf = ({ commits }: { commits: readonly { inputIds: readonly string[] }[] }) =>
  commits.map(({ inputIds }) => inputIds.join());

describe('commitToStore', () => {
  it('replaces whole commits, and refuses to replace a part of one', async () => {
    await create();
    await commit(['a', 'b']);
    await commit(['c']);
    await commit(['d']);
    await expect(commit(['b', 'c'], { replace: true })).rejects.toEqual(
      refusal(
        'ERR_INPUT_ID_TAKEN',
        /cannot replace the input "b" alone: it was committed with 2 inputs, and "a" is not given/,
      ),
    );
    const { commits } = readNewestManifest(store());
    const after = await commit(['c', 'e', 'b', 'a'], { replace: true });
    expect(idsOf(after)).toEqual(['d', 'c,e,b,a']);
    const former = commits.slice(0, 2).flatMap(({ pileSets }) => pileSets.map(({ name }) => name));
    expect(after.removed).toEqual([{ time: expect.any(Number), pileSets: former }]);
  });

  it('has the time of a generation from its name, else from its first commit', async () => {
    await create();
    const began = Date.now();
    await commit(['a'], { generation: '2026-11-20' });
    await commit(['b'], { generation: '2026-11-20T06:30+02:00' });
    await commit(['c'], { generation: '2026-11-20T06:30' });
    await commit(['d'], { generation: '2026-02-31' });
    const [first] = (await commit(['e'], { generation: 'nightly' })).commits.slice(-1);
    const { commits } = await commit(['f'], { generation: 'nightly' });
    const times = commits.map(({ time }) => time);
    const dated = ['2026-11-20T00:00Z', '2026-11-20T04:30Z', '2026-11-20T06:30Z'].map((text) => Date.parse(text));
    expect(times.slice(0, 3)).toEqual(dated);
    expect(times[3]).toBeGreaterThanOrEqual(began);
    expect(times.slice(4)).toEqual([first?.time, first?.time]);
  });

  it('loses none of many that come at the same time', async () => {
    await create();
    const ids = Array.from({ length: 30 }, (_, i) => `input-${i}`);
    const states = await Promise.all(ids.map((id) => commit([id])));
    const newest = readNewestManifest(store());
    expect(newest.number).toBe(31);
    expect(idsOf(newest).toSorted()).toEqual(ids.toSorted());
    expect(new Set(states.map(({ number }) => number)).size).toBe(30);
  });

  it.each([false, true])(
    'is done once though giving the manifest its name seems to fail, replacing: %s',
    async (replace) => {
      await create();
      await commit(['a']);
      fileCalls.replace({
        link: (from, to) => {
          systemFileCalls.link(from, to);
          systemFileCalls.link(from, to);
        },
      });
      const id = replace ? 'a' : 'b';
      expect(await commit([id], { replace })).toMatchObject({ number: 3 });
      const { number, commits, removed } = readNewestManifest(store());
      expect({ number, ids: idsOf({ commits }) }).toEqual({ number: 3, ids: replace ? ['a'] : ['a', 'b'] });
      const named = commits.flatMap(({ pileSets }) => pileSets.map(({ name }) => name));
      for (const { pileSets } of removed) for (const name of pileSets) expect(named).not.toContain(name);
    },
  );

  it('finds that it is done when it does not see that the name is its own', async () => {
    await create();
    await commit(['a']);
    let isLost = true;
    fileCalls.replace({
      link: (from, to) => {
        systemFileCalls.link(from, to);
        if (isLost) failWith('EEXIST')();
      },
      lstat: (path) => {
        isLost = false;
        return path.endsWith('.attempt') ? failWith('EIO')() : systemFileCalls.lstat(path);
      },
    });
    expect(await commit(['a'], { replace: true })).toMatchObject({ number: 3 });
    const { commits, removed } = readNewestManifest(store());
    expect(idsOf({ commits })).toEqual(['a']);
    expect(removed).toHaveLength(1);
  });

  it('says why pile sets are gone that were to be made durable', async () => {
    const snapshot = await create();
    const gone = withFiles('0'.repeat(16), ['a']);
    rmSync(directory.path('store', 'pile-sets', `${gone.pileSets[0]?.name}.0.pile`));
    await expect(commitToStore(snapshot, gone, { replace: false, control })).rejects.toEqual(
      refusal('ERR_IO', /^pileshuf gc gave .*0\.pile up before it was committed/),
    );
  });

  it('refuses pile sets that were given up, or that are not there any more', async () => {
    const snapshot = await create();
    const givenUp = withFiles('0'.repeat(16), ['a']);
    const [pileSet] = givenUp.pileSets;
    await commitManifest(snapshot, (state) => ({ ...state, removed: [{ time: 0, pileSets: [pileSet?.name ?? ''] }] }));
    const message =
      /0\.pile up before it was committed; start anew, and give later garbage collections a longer `graceMilliseconds`$/;
    await expect(commitToStore(snapshot, givenUp, { replace: false, control })).rejects.toEqual(
      refusal('ERR_IO', message),
    );
    await commitManifest(snapshot, (state) => ({ ...state, removed: [] }));
    // Its files go when they were synced, before the commit.
    const path = directory.path('store', 'pile-sets', `${pileSet?.name}.0.pile`);
    rmSync(path);
    writeFileSync(path, 'dat');
    await expect(commitToStore(snapshot, givenUp, { replace: false, control })).rejects.toEqual(
      refusal('ERR_IO', message),
    );
    expect(readNewestManifest(store()).commits).toEqual([]);
  });

  it('refuses a store that was put in the place of the one that was opened', async () => {
    const snapshot = await create();
    renameSync(store(), directory.path('former'));
    await create();
    const commit = withFiles('0'.repeat(16), ['a']);
    await expect(commitToStore(snapshot, commit, { replace: false, control })).rejects.toEqual(
      refusal('ERR_STORE', /was replaced by another one meanwhile; start anew/),
    );
    expect(readNewestManifest(store()).number).toBe(1);
  });
});

describe('commitManifest', () => {
  it('gives no number twice, though whoever slept finds it free', async () => {
    const snapshot = await create();
    for (const id of ['a', 'b', 'c']) await commit([id]);
    // It has read state 4, and sleeps; meanwhile others commit up to state 8, and 1 to 6 are deleted.
    let hasSlept = false;
    const slept = commitManifest(snapshot, (state) => {
      if (hasSlept) return { ...state, removed: [{ time: 7, pileSets: ['late'] }] };
      hasSlept = true;
      const directoryOf = (number: number) => directory.path('store', 'manifests', nameOfManifest(number));
      for (const number of [7, 8])
        writeFileSync(directoryOf(number), manifestFormat.seal({ ...state, number, oldest: 7 }));
      for (const number of [1, 2, 3, 4]) rmSync(directoryOf(number));
      return { ...state, commits: [] };
    });
    expect(await slept).toMatchObject({ number: 9, oldest: 7, removed: [{ time: 7 }] });
    expect(readdirSync(directory.path('store', 'manifests')).sort()).toEqual([7, 8, 9].map(nameOfManifest));
    expect(idsOf(readNewestManifest(store()))).toEqual(['a', 'b', 'c']);
  });
});

describe('a PileWriter on a copy of its store', () => {
  it('writes nothing into the other one', async () => {
    await create();
    cpSync(store(), directory.path('copy'), { recursive: true });
    const writer = await openPileWriter(directory.path('copy'), { inputId: 'a' });
    writer.write('x');
    await writer.commit();
    expect(openSnapshot(store()).manifest.commits).toEqual([]);
  });
});
