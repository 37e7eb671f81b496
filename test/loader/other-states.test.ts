/** Resuming from another state of a store than the present one, with and without its manifest. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { appendToStore, collectStore, expireStore, openStore } from '#src/index.js';
import { listManifests } from '#src/store/store-manifest.js';
import { makeStore, someRecords } from '../fixtures/make-store.js';
import { fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const LONG = 'y'.repeat(9 * 2 ** 20);

async function given(records: AsyncIterable<Uint8Array>): Promise<string[]> {
  const texts: string[] = [];
  for await (const record of records) texts.push(Buffer.from(record).toString());
  return texts;
}

/** Appends an input as its own generation. */
async function append(path: string, name: string, records: readonly string[], generation: string): Promise<void> {
  const input = directory.path(name);
  writeFileSync(input, records.join(''));
  await appendToStore(path, { inputs: [input], inputIds: [name], generation, piles: 3, seed: 's' }, { inline: true });
}

describe('a state whose manifest was collected', () => {
  async function makeIt() {
    const path = directory.path('store');
    await append(path, 'a', someRecords('a', 40), '2026-11-01');
    await append(path, 'b', someRecords('b', 30), '2026-11-02');
    const store = openStore(path);
    const all = await given(store.epoch(1));
    const iterator = store.resume({ ...store.epoch(1).state(), record: 11 });
    for (const day of [3, 4, 5]) await append(path, `c${day}`, someRecords('c', 20), `2026-11-0${day}`);
    await collectStore(path, { graceMilliseconds: 0 });
    const state = iterator.state();
    expect(listManifests(path)).not.toContain(state.manifest);
    return { path, all, state };
  }

  it('resumes with exactly the next record, as long as nothing of it was removed', async () => {
    const { path, all, state } = await makeIt();
    const resumed = openStore(path).resume(state);
    expect(resumed.state()).toEqual(state);
    expect(all).toHaveLength(70);
    expect(await given(resumed)).toEqual(all.slice(11));
  });

  it('is refused when a part of it was removed, even if as many records were appended', async () => {
    const { path, state } = await makeIt();
    await expireStore(path, { before: '2026-11-02' });
    await collectStore(path, { graceMilliseconds: 0 });
    expect(() => openStore(path).resume(state)).toThrow(
      `no longer has its state ${state.manifest}: it was expired; start from its current state`,
    );
  });

  it('is refused when a part of it was replaced', async () => {
    const { path, state } = await makeIt();
    const options = { inputs: [directory.path('b')], inputIds: ['b'], replace: true, generation: '2026-11-02' };
    await appendToStore(path, options, { inline: true });
    await append(path, 'd', someRecords('d', 5), '2026-11-06');
    await collectStore(path, { graceMilliseconds: 0 });
    expect(() => openStore(path).resume(state)).toThrow('it was expired');
  });
});

describe('a state that is younger than the opened store', () => {
  it('is resumed', async () => {
    const path = directory.path('store');
    await append(path, 'a', someRecords('a', 40), '2026-11-01');
    const store = openStore(path);
    await append(path, 'b', someRecords('b', 30), '2026-11-02');
    const younger = openStore(path).epoch(0);
    expect(await given(store.resume(younger.state()))).toEqual(await given(younger));
  });
});

describe('threads', () => {
  it.runIf(fromCi)('load a large earlier state, even if the present one is small and needs no threads', async () => {
    const path = directory.path('large');
    await makeStore(path, { seed: 's', pileCount: 2, inputs: { a: ['a\n', LONG] } });
    const state = openStore(path).epoch(0).state();
    await expireStore(path, { keepLast: 0 });
    await makeStore(path, { seed: 's', pileCount: 2, inputs: { b: someRecords('b', 10) } });
    let started = 0;
    const count = () => {
      started += 1;
    };
    process.on('worker', count);
    const store = openStore(path, { workers: 2 });
    try {
      expect(await given(store.epoch(0))).toHaveLength(10);
      expect(started).toBe(0);
      expect(await given(store.resume(state))).toHaveLength(2);
      expect(started).toBe(2);
    } finally {
      process.off('worker', count);
      await store.close();
    }
    await expect(given(store.resume(state))).rejects.toMatchObject({ code: 'ABORT_ERR' });
    await expect(given(store.epoch(0))).rejects.toMatchObject({ code: 'ABORT_ERR' });
  });
});
