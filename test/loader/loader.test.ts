/**
 * The records of loaders, compared with the order of a reference function: epochs, ranks and shares, batches, saved
 * positions, piles that are too large for the memory, and records that are too long for a copy.
 */
import { spawnSync } from 'node:child_process';
import { constants, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expireStore, type LoaderOptions, type LoaderState, type OpenStoreOptions, openStore } from '#src/index.js';
import { orderOfEpoch } from '#src/loader/epoch-order.js';
import { commitManifest } from '#src/store/commit-manifest.js';
import { pileSetDirectoryOf } from '#src/store/store-files.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { withCallsSeen } from '../fixtures/interrupted-file-calls.js';
import { type MergedIndex, makeStore, orderOfPiles, someRecords } from '../fixtures/make-store.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const NOTHING = new Uint8Array();
const text = (record: Uint8Array) => Buffer.from(record).toString();

const contents: MergedIndex = {
  seed: 'a seed',
  pileCount: 7,
  inputs: { a: someRecords('a', 60), b: ['x\n', 'x\n', '\n'], empty: [], c: someRecords('c', 25) },
};
const RECORDS = 88;

/** All records of an epoch, for a single rank. */
function expectedOrder(epoch: number): readonly string[] {
  const { piles, epochKey } = orderOfEpoch(contents.seed, epoch, contents.pileCount);
  return orderOfPiles(contents, piles, epochKey);
}

async function given(records: AsyncIterable<Uint8Array>): Promise<string[]> {
  const texts: string[] = [];
  for await (const record of records) texts.push(text(record));
  return texts;
}

async function makeIt(): Promise<string> {
  const path = directory.path('store');
  await makeStore(path, contents);
  return path;
}

/** So little memory that most piles are read in several key ranges. */
const TINY: OpenStoreOptions = { memoryBytes: 500 };

describe('an epoch', () => {
  it('is the global shuffle when it is the first', async () => {
    const store = openStore(await makeIt());
    const records = await given(store.epoch(0));
    expect(records).toEqual(expectedOrder(0));
    expect(records).toHaveLength(RECORDS);
    expect(store.records).toBe(RECORDS);
    await store.close();
  });

  it('has an order of its own, also where piles are read in ranges', async () => {
    const path = await makeIt();
    const store = openStore(path);
    const inRanges = openStore(path, TINY);
    const seen = new Set<string>();
    for (const epoch of [0, 1, 2]) {
      const expected = expectedOrder(epoch);
      expect(await given(store.epoch(epoch))).toEqual(expected);
      expect(await given(inRanges.epoch(epoch, { prefetchPiles: 0 }))).toEqual(expected);
      seen.add(expected.join(''));
    }
    expect(seen.size).toBe(3);
    await store.close();
    await inRanges.close();
  });
});

describe('ranks', () => {
  it('get every record of an epoch once, in the order of the epoch, or equally many of them', async () => {
    const path = await makeIt();
    const store = openStore(path);
    const inRanges = openStore(path, TINY);
    const request = fc.record({
      worldSize: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(RECORDS + 5)),
      epoch: fc.nat({ max: 3 }),
      isTiny: fc.boolean(),
      equalize: fc.constantFrom(undefined, 'drop' as const, 'pad' as const),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ worldSize, epoch, isTiny, equalize }) => {
        const order = expectedOrder(epoch);
        const shares: string[][] = [];
        for (let rank = 0; rank < worldSize; rank++) {
          const options: LoaderOptions = { rank, worldSize, equalize };
          const loader = (isTiny ? inRanges : store).epoch(epoch, options);
          const ofRank = await given(loader);
          expect(ofRank).toHaveLength(loader.recordsPerEpoch);
          shares.push(ofRank);
        }
        const each = equalize === 'drop' ? Math.floor(RECORDS / worldSize) : Math.ceil(RECORDS / worldSize);
        if (equalize !== undefined) expect(shares.map(({ length }) => length)).toEqual(Array(worldSize).fill(each));
        const length = equalize === undefined ? RECORDS : worldSize * each;
        const together = Array.from({ length }, (_, i) => shares[i % worldSize]?.[Math.floor(i / worldSize)]);
        expect(together).toEqual(Array.from({ length }, (_, i) => order[i % RECORDS]));
      }),
      { numRuns: atScale(8, 15, 30) },
    );
    await store.close();
    await inRanges.close();
  });
});

describe('state and resume', () => {
  it('continue with exactly the next record, from every record on', async () => {
    const path = await makeIt();
    const options = { rank: 1, worldSize: 3, prefetchPiles: 1 } as const;
    const store = openStore(path);
    const all = [...(await given(store.epoch(1, options))), ...(await given(store.epoch(2, options)))];
    const perEpoch = store.epoch(1, options).recordsPerEpoch;
    const reader = store.epoch(1, options);
    const texts: string[] = [];
    const states: LoaderState[] = [reader.state()];
    for (let epoch = 0; epoch < 2; epoch++) {
      for await (const record of reader) {
        texts.push(text(record));
        states.push(JSON.parse(JSON.stringify(reader.state())));
      }
    }
    expect(texts).toEqual(all);
    expect(states).toHaveLength(2 * perEpoch + 1);
    for (const [count, state] of states.entries()) {
      if (count % atScale(3, 1) !== 0) continue;
      const other = openStore(path, count % 2 === 0 ? TINY : {}).resume(state);
      const rest: string[] = [];
      while (other.state().epoch < 3) rest.push(...(await given(other)));
      expect(rest).toEqual(all.slice(count));
    }
    await store.close();
  });

  it('read only the piles that are still needed', async () => {
    const path = await makeIt();
    const before = openStore(path).epoch(1);
    let last = '';
    let state = before.state();
    for await (const { bytes } of before.portions()) {
      last = text(bytes);
      state = { ...before.state(), record: before.state().record - 1 };
    }
    const store = openStore(path);
    const opened: string[] = [];
    const { error } = await withCallsSeen(
      (name, [file]) => {
        if (name === 'open' && String(file).endsWith('.pile')) opened.push(String(file));
      },
      async () => {
        const [record = ''] = await given(store.resume(state));
        expect(last.endsWith(record)).toBe(true);
      },
    );
    expect(error).toBeUndefined();
    // The files of one pile, one in each pile set.
    expect(new Set(opened).size).toBe(opened.length);
    expect(opened.length).toBeGreaterThan(0);
  });

  it('accept a record number that lies in a later epoch', async () => {
    const store = openStore(await makeIt());
    const loader = store.resume({ ...store.epoch(1).state(), record: 2 * RECORDS + 5 });
    expect(loader.state()).toMatchObject({ epoch: 3, record: 5 });
    expect(await given(loader)).toEqual(expectedOrder(3).slice(5));
  });

  it('keep to the state of the store that they began with', async () => {
    const path = await makeIt();
    const before = openStore(path);
    const loader = before.epoch(0);
    const iterator = loader[Symbol.asyncIterator]();
    await iterator.next();
    await makeStore(path, { ...contents, inputs: { later: someRecords('later', 30) } });
    expect(openStore(path).records).toBe(RECORDS + 30);
    expect(await given(openStore(path).resume(loader.state()))).toEqual(expectedOrder(0).slice(1));
    expect(await given(before.epoch(0))).toEqual(expectedOrder(0));
  });

  it('refuse a state of the store that is gone', async () => {
    const path = await makeIt();
    const state = openStore(path).epoch(0).state();
    await commitManifest(openSnapshot(path), ({ commits, oldest }) => ({ commits, oldest, removed: [] }));
    await expect(given(openStore(path).resume(state))).resolves.toHaveLength(RECORDS);
    await commitManifest(openSnapshot(path), ({ oldest }) => ({ commits: [], oldest, removed: [] }));
    expect(() => openStore(path).resume(state)).toThrow('no longer has all records');
  });

  it('refuse what is not a state, and a state of another store', async () => {
    const store = openStore(await makeIt());
    const state = store.epoch(0, { rank: 1, worldSize: 2 }).state();
    const refused = (change: object) => {
      try {
        store.resume({ ...state, ...change });
        return undefined;
      } catch (error) {
        return error;
      }
    };
    expect(refused({})).toBeUndefined();
    for (const change of [
      { record: -1 },
      { rank: 2 },
      { version: 2 },
      { equalize: 'x' },
      { more: 1 },
      { store: 'y' },
    ]) {
      expect(refused(change)).toMatchObject({ code: 'ERR_OPTION', kind: 'usage' });
    }
    expect(refused({ record: '1' })).toMatchObject({
      message: expect.stringMatching(/^this is not the state of a loader: record: expected a whole number/),
    });
    expect(refused({ store: '0123456789abcdef' })).toMatchObject({
      code: 'ERR_STORE_DIFFERS',
      message: expect.stringContaining('belongs to the pile store with id 0123456789abcdef'),
    });
    expect(refused({ manifest: 99 })).toMatchObject({ code: 'ERR_STORE', kind: 'usage' });
  });
});

describe('batches', () => {
  it.each([1, 3, 10, RECORDS - 1, RECORDS, 1000])('of %i have the records of the epoch in its order', async (size) => {
    const path = await makeIt();
    for (const options of [{}, TINY]) {
      const loader = openStore(path, options).epoch(1);
      const texts: string[] = [];
      const lengths: number[] = [];
      for await (const batch of loader.batches(size)) {
        lengths.push(batch.length);
        const records = [...batch].map(text);
        expect(records.map((_, i) => text(batch.at(i) ?? NOTHING))).toEqual(records);
        expect(text(batch.bytes)).toBe(records.join(''));
        let end = 0;
        expect([...batch.ends]).toEqual(records.map((record) => (end += Buffer.byteLength(record))));
        expect([batch.at(-1), batch.at(batch.length), batch.at(0.5)]).toEqual([
          batch.at(batch.length - 1),
          undefined,
          undefined,
        ]);
        expect(loader.state()).toMatchObject({ epoch: 1, record: texts.length + records.length });
        texts.push(...records);
      }
      expect(texts).toEqual(expectedOrder(1));
      const whole = Math.floor(RECORDS / size);
      const rest = RECORDS % size;
      expect(lengths).toEqual([...Array.from({ length: whole }, () => size), ...(rest > 0 ? [rest] : [])]);
      expect(loader.state()).toMatchObject({ epoch: 2, record: 0 });
    }
  });

  it('have whole loaded portions, of one epoch or of several', async () => {
    const loader = openStore(await makeIt()).epoch(0, { prefetchPiles: 5 });
    const records: Record<number, string[]> = {};
    for (const endEpoch of [undefined, 3, 3, undefined]) {
      for await (const portion of loader.portions(endEpoch)) {
        expect(portion.length).toBeGreaterThan(0);
        records[portion.epoch] = [...(records[portion.epoch] ?? []), ...[...portion].map(text)];
      }
    }
    expect(records).toEqual({ 0: expectedOrder(0), 1: expectedOrder(1), 2: expectedOrder(2), 3: expectedOrder(3) });
  });

  it('come without end as steps, epoch after epoch, and never have records of two epochs', async () => {
    const loader = openStore(await makeIt()).epoch(0);
    const texts: string[] = [];
    const epochs: number[] = [];
    for await (const batch of loader.steps(30, { dropLast: false })) {
      texts.push(...[...batch].map(text));
      epochs.push(batch.epoch);
      if (epochs.length === 8) break;
    }
    expect(epochs).toEqual([0, 0, 0, 1, 1, 1, 2, 2]);
    expect(texts).toEqual([...expectedOrder(0), ...expectedOrder(1), ...expectedOrder(2).slice(0, 60)]);
    expect(loader.state()).toMatchObject({ epoch: 2, record: 60 });
    const more: number[] = [];
    for await (const batch of loader.steps(30)) {
      more.push(batch.epoch);
      if (more.length === 2) break;
    }
    expect(more).toEqual([3, 3]);
  });
});

describe('several loaders of one store', () => {
  it.each(
    sampled(
      [
        ['on the calling thread', 0],
        ['on threads', 9 * 2 ** 20],
      ],
      2,
    ),
  )('are read side by side, %s', async (_, longBytes) => {
    const path = directory.path('side');
    const inputs = { a: someRecords('a', 300), long: ['y'.repeat(longBytes)] };
    await makeStore(path, { ...contents, inputs });
    const store = openStore(path, { workers: 2 });
    const alone = await Promise.all([0, 1, 1].map((epoch) => given(openStore(path).epoch(epoch))));
    const loaders = [store.epoch(0), store.epoch(1, { prefetchPiles: 0 }), store.epoch(1)];
    const iterators = loaders.map((loader) => loader[Symbol.asyncIterator]());
    const texts: string[][] = [[], [], []];
    for (let i = 0; i < 301; i++) {
      for (const [k, iterator] of iterators.entries()) texts[k]?.push(text((await iterator.next()).value ?? NOTHING));
    }
    expect(texts).toEqual(alone);
    await store.close();
  });
});

describe('memory', () => {
  it('is that of the piles loaded ahead and one more, epoch after epoch', async () => {
    const path = directory.path('even');
    const records = Array.from({ length: 4000 }, (_, i) => `${String(i).padStart(90)}\n`);
    await makeStore(path, { seed: 'even', pileCount: 40, inputs: { a: records } });
    for (const prefetchPiles of [0, 1, 4]) {
      const buffers = new Set<ArrayBufferLike>();
      for await (const { bytes, epoch } of openStore(path).epoch(0, { prefetchPiles }).steps(60)) {
        buffers.add(bytes.buffer);
        if (epoch === 3) break;
      }
      // Buffers grow for larger piles, and batches of two piles have their own memory.
      expect(buffers.size).toBeLessThanOrEqual(2 * (prefetchPiles + 1) + 6);
    }
  });
});

describe('a memory budget', () => {
  it('of one byte is refused before the first record, with the bytes that are needed', async () => {
    const store = openStore(await makeIt(), { memoryBytes: 1 });
    await expect(given(store.epoch(0))).rejects.toMatchObject({
      code: 'ERR_MEMORY_BUDGET',
      message: expect.stringMatching(/^a memory budget of 1 bytes is too small [^\n]+: expected at least \d+; [^\n]+$/),
    });
    const { message } = await given(store.epoch(0)).catch((error) => error);
    const memoryBytes = Number(/at least (\d+)/.exec(message)?.[1]);
    expect(await given(openStore(directory.path('store'), { memoryBytes }).epoch(0))).toEqual(expectedOrder(0));
  });
});

describe('a loader', () => {
  it('gives records in order if a caller asks for several at a time', async () => {
    // With a buffer for each pile, no buffer is used twice.
    const loader = openStore(await makeIt()).epoch(0, { prefetchPiles: contents.pileCount });
    const iterator = loader[Symbol.asyncIterator]();
    const asked = await Promise.all(Array.from({ length: RECORDS + 2 }, () => iterator.next()));
    const texts = asked.map(({ done, value }) => (done === true ? undefined : text(value)));
    expect(texts).toEqual([...expectedOrder(0), undefined, undefined]);
  });

  it('continues where a loop stopped, and allows one loop at a time', async () => {
    const loader = openStore(await makeIt()).epoch(0);
    for await (const _ of loader) {
      await expect(loader.batches(3).next()).rejects.toMatchObject({ code: 'ERR_OPTION' });
      break;
    }
    expect(await given(loader)).toEqual(expectedOrder(0).slice(1));
  });

  it('ends with an error when the caller stops it, or the store is closed', async () => {
    const controller = new AbortController();
    const store = openStore(await makeIt(), { signal: controller.signal });
    const loader = store.epoch(0, { prefetchPiles: 0 });
    const reading = (async () => {
      for await (const _ of loader) controller.abort('enough');
    })();
    await expect(reading).rejects.toMatchObject({ code: 'ABORT_ERR', cause: 'enough' });
    await store.close();
    const closed = openStore(directory.path('store'));
    await closed.close();
    await expect(given(closed.epoch(0))).rejects.toMatchObject({ code: 'ABORT_ERR' });
    await expect(given(closed.epoch(0))).rejects.not.toHaveProperty('cause');
  });
});

describe('damage', () => {
  it.each([{}, TINY])('is an error that names its place, %o', async (options) => {
    const path = await makeIt();
    const directoryOfSets = pileSetDirectoryOf(path);
    const [data = ''] = readdirSync(directoryOfSets).filter((name) => name.endsWith('.pile'));
    const bytes = readFileSync(join(directoryOfSets, data));
    const last = bytes.byteLength - 2;
    bytes[last] = (bytes[last] ?? 0) ^ 1;
    writeFileSync(join(directoryOfSets, data), bytes);
    const reading = given(openStore(path, options).epoch(1));
    await expect(reading).rejects.toMatchObject({ code: 'ERR_VERIFICATION' });
    await expect(reading).rejects.toThrow(data);
  });

  it('of an index is an error before the first record, until the index is repaired', async () => {
    const path = await makeIt();
    const store = openStore(path);
    const directoryOfSets = pileSetDirectoryOf(path);
    const [index = ''] = readdirSync(directoryOfSets).filter((name) => name.endsWith('.index'));
    const bytes = readFileSync(join(directoryOfSets, index));
    bytes[60] = (bytes[60] ?? 0) ^ 1;
    writeFileSync(join(directoryOfSets, index), bytes);
    await expect(given(store.epoch(0))).rejects.toThrow(index);
    bytes[60] = (bytes[60] ?? 0) ^ 1;
    writeFileSync(join(directoryOfSets, index), bytes);
    expect(await given(store.epoch(0))).toEqual(expectedOrder(0));
  });
});

describe('expiry while it is read', () => {
  it('is named in the error when files are deleted before they are read', async () => {
    const path = await makeIt();
    const store = openStore(path);
    const unread = openStore(path);
    const iterator = store.epoch(1, { prefetchPiles: 0 })[Symbol.asyncIterator]();
    await iterator.next();
    await expireStore(path, { keepLast: 0 }, { graceMilliseconds: 0 });
    const told = {
      code: 'ERR_STORE',
      message: expect.stringContaining('were expired and deleted while they were read'),
    };
    await expect(
      (async () => {
        for (let next = await iterator.next(); next.done !== true; next = await iterator.next());
      })(),
    ).rejects.toMatchObject(told);
    await expect(given(unread.epoch(0))).rejects.toMatchObject(told);
  });
});

describe('reading', () => {
  it('writes nothing, even when piles are read in ranges', async () => {
    const path = await makeIt();
    const flags = new Set<number>();
    const names = new Set<string>();
    const see = (name: string, [, flag]: readonly unknown[]) => {
      names.add(name);
      if (name === 'open') flags.add(Number(flag) & (constants.O_CREAT | constants.O_WRONLY | constants.O_RDWR));
    };
    const { error } = await withCallsSeen(see, async () => {
      expect(await given(openStore(path, TINY).epoch(1, { prefetchPiles: 0 }))).toEqual(expectedOrder(1));
    });
    expect(error).toBeUndefined();
    expect([...flags]).toEqual([0]);
    const only = ['access', 'close', 'list', 'lstat', 'open', 'read', 'realPath', 'stat', 'statOpen'];
    expect([...names].filter((name) => !only.includes(name))).toEqual([]);
  });

  it.runIf(fromCi)('does not keep a program alive, even if the store is not closed', async () => {
    const path = directory.path('large');
    await makeStore(path, { ...contents, inputs: { long: ['y'.repeat(9 * 2 ** 20), 'x', 'z'] } });
    const script = `import { openStore } from '#src/index.js';
      let count = 0;
      for await (const record of openStore(process.argv[1]).epoch(0)) { count += 1; if (count === 2) break; }
      console.log(count);`;
    const argv = ['--input-type=module', '-e', script, path];
    const { status, stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8', timeout: 300_000 });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '2\n' });
  });
});

describe('openStore', () => {
  it('refuses a directory that is not a store, and invalid options', async () => {
    expect(() => openStore(directory.path('nothing'))).toThrow(/does not exist/);
    expect(() => openStore(directory.temp)).toThrow(/is not a pile store/);
    const path = await makeIt();
    const store = openStore(path);
    for (const options of [{ rank: 1 }, { rank: -1 }, { worldSize: 0 }, { worldSize: 1.5 }, { prefetchPiles: -1 }]) {
      expect(() => store.epoch(0, options)).toThrow(/expected a whole number from/);
    }
    expect(() => store.epoch(-1)).toThrow('`epoch` is -1');
    expect(() => store.epoch(0, JSON.parse('{"equalize":"odd"}'))).toThrow('expected one of drop, pad');
    expect(() => store.epoch(0).batches(0)).toThrow('the size of a batch is 0');
    expect(() => openStore(path, { workers: 0 })).toThrow('`workers` is 0');
  });
});
