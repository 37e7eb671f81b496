/** Commits: ids are unique, whole commits are replaced, and no commit is lost when many come at the same time. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { JobControl } from '#src/floor/job-control.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { commitToStore, type NewCommit } from '#src/store/commit-to-store.js';
import { openOrCreateStore } from '#src/store/create-store.js';
import { StoreAttempt } from '#src/store/store-attempt.js';
import { readNewestManifest } from '#src/store/store-manifest.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
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

  it('says why pile sets are gone that were to be made durable', async () => {
    const snapshot = await create();
    const gone = withFiles('0'.repeat(16), ['a']);
    rmSync(directory.path('store', 'pile-sets', `${gone.pileSets[0]?.name}.0.pile`));
    await expect(commitToStore(snapshot, gone, { replace: false, control })).rejects.toEqual(
      refusal('ERR_IO', /^pileshuf gc took .*0\.pile for data of a killed job before it was committed/),
    );
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
