/**
 * The laws of stores: the output equals that of a job on the same inputs with the same ids and seed, for any settings
 * and any history of appends and replacements; and reading changes no file.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendToStore, collectStore, expireStore, shuffleStore } from '#src/index.js';
import { withCallsSeen } from '../fixtures/interrupted-file-calls.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anyInputs, makeLargeInputs } from '../laws/any-inputs.js';
import { anySettings, type Settings, tightSettings } from '../laws/any-settings.js';
import { encode } from '../laws/encodings.js';
import { recordsOf, referenceOrder } from '../laws/reference-order.js';

const directory = useMemoryDirectory();
const SEED = 'of the store';
const small: Settings = {
  workers: 1,
  memoryBytes: 16 * 2 ** 20,
  tempDirCount: 1,
  encodings: ['plain'],
  tuning: { inline: true },
};

interface Input {
  readonly id: string;
  readonly bytes: Buffer;
}

interface Store {
  readonly path: string;
  readonly piles: number;
}

let stores = 0;
function newStore(piles: number): Store {
  stores += 1;
  return { path: directory.path(`store-${stores}`), piles };
}

/** Buffers without a set size take all memory but a few MiB: a smaller budget would leave none for a long record. */
const LEAST_MEMORY_BYTES = 16 * 2 ** 20;

function optionsOf({ workers, memoryBytes }: Settings) {
  return { workers, memoryBytes: Math.max(memoryBytes, LEAST_MEMORY_BYTES) };
}

/** A commit. */
async function append(
  { path, piles }: Store,
  inputs: readonly Input[],
  settings: Settings,
  more: { readonly replace?: boolean; readonly generation?: string } = {},
) {
  // One that holds nothing, so that there is a store.
  if (inputs.length === 0)
    return append({ path, piles }, [{ id: 'empty', bytes: Buffer.of() }], settings, {
      ...more,
      generation: '2027-01-01',
    });
  const { encodings } = settings;
  const paths = inputs.map(({ bytes }, i) => {
    const file = directory.path(`in-${i}`);
    writeFileSync(file, encode(bytes, encodings[i % encodings.length] ?? 'plain'));
    return file;
  });
  const inputIds = inputs.map(({ id }) => id);
  const options = { inputs: paths, inputIds, seed: SEED, piles, ...more, ...optionsOf(settings) };
  const report = await appendToStore(path, options, settings.tuning);
  expect(report.records).toBe(inputs.reduce((sum, { bytes }) => sum + recordsOf(bytes, 0x0a).length, 0));
  return report;
}

/** The bytes of the store, which reading does not change. */
async function read({ path }: Store, settings: Settings): Promise<Buffer> {
  const output = directory.path('out');
  const temp = directory.path('temp-dir');
  mkdirSync(temp, { recursive: true });
  const before = filesOf(path);
  await shuffleStore(path, { output, force: true, tempDirs: [temp], ...optionsOf(settings) }, settings.tuning);
  expect(filesOf(path)).toEqual(before);
  expect(readdirSync(temp)).toEqual([]);
  return readFileSync(output);
}

function filesOf(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
}

function bytesOf(inputs: readonly Input[]): Buffer {
  const contents = inputs.map(({ bytes }) => bytes);
  const ids = inputs.map(({ id }) => id);
  return Buffer.concat(referenceOrder(contents, SEED, 0x0a, ids));
}

const namedInputs = anyInputs.map((inputs) => inputs.map((bytes, i): Input => ({ id: `part-${i}`, bytes })));
const piles = fc.integer({ min: 1, max: 40 });

/** Times the cases of `npm test`. */
const times = atScale(1, 3, 50);

describe('a store', () => {
  it('gives the bytes of a job on the same inputs, whatever was committed together, and when', async () => {
    const commits = fc.record({
      inputs: namedInputs,
      /** Which commit each input is part of, and which comes first. */
      of: fc.array(fc.nat({ max: 2 }), { minLength: 6, maxLength: 6 }),
      piles,
      writing: anySettings,
      reading: anySettings,
    });
    await fc.assert(
      fc.asyncProperty(commits, async ({ inputs, of, piles, writing, reading }) => {
        const store = newStore(piles);
        for (const commit of [2, 0, 1]) {
          const together = inputs.filter((_, i) => of[i] === commit);
          if (together.length > 0) await append(store, together, writing);
        }
        expect((await read(store, reading)).equals(bytesOf(inputs))).toBe(true);
        rmSync(store.path, { recursive: true });
      }),
      { numRuns: atScale(5, 8 * times) },
    );
  });

  it('gives the bytes of a new store of what is left, whatever was added, replaced, expired and collected', async () => {
    const contents = anyInputs.map((inputs) => inputs.slice(0, 3));
    const day = fc.integer({ min: 1, max: 9 });
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant('append' as const), of: fc.nat({ max: 3 }), day, contents }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), day }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('collect' as const), day }) },
    );
    const steps = fc.array(step, { minLength: 1, maxLength: 7 });
    await fc.assert(
      fc.asyncProperty(steps, piles, anySettings, async (taken, ofPiles, settings) => {
        const store = newStore(ofPiles);
        await append(store, [], settings);
        const present = new Map<string, { inputs: Input[]; day: number }>();
        for (const next of taken) {
          const generation = `2026-01-0${next.day}`;
          if (next.kind === 'append') {
            // The same ids are always given together: a commit replaces whole ones.
            const name = `${next.of}-${next.contents.length}`;
            const inputs = next.contents.map((bytes, i): Input => ({ id: `${name}-${i}`, bytes }));
            await append(store, inputs, settings, { replace: present.has(name), generation });
            present.set(name, { inputs, day: next.day });
          } else if (next.kind === 'expire') {
            await expireStore(store.path, { before: generation }, { graceMilliseconds: 0 });
            for (const [name, { day }] of present) if (day < next.day) present.delete(name);
          } else {
            await collectStore(store.path, { graceMilliseconds: 0 });
          }
        }
        const left = [...present.values()].flatMap(({ inputs }) => inputs);
        const anew = newStore(3);
        await append(anew, left, settings);
        const bytes = await read(store, settings);
        expect(bytes.equals(bytesOf(left))).toBe(true);
        expect((await read(anew, settings)).equals(bytes)).toBe(true);
        for (const { path } of [store, anew]) rmSync(path, { recursive: true });
      }),
      { numRuns: atScale(3, 5 * times) },
    );
  });

  it('keeps its records in their order when others are added', async () => {
    await fc.assert(
      fc.asyncProperty(namedInputs, namedInputs, piles, anySettings, async (before, added, ofPiles, settings) => {
        const marked = (inputs: readonly Input[], mark: string) =>
          inputs.map(({ id, bytes }) => ({
            id: mark + id,
            bytes: Buffer.concat(recordsOf(bytes, 0x0a).map((record) => Buffer.concat([Buffer.from(mark), record]))),
          }));
        const store = newStore(ofPiles);
        await append(store, marked(before, 'a'), settings);
        const former = recordsOf(await read(store, settings), 0x0a);
        await append(store, marked(added, 'b'), settings);
        const later = recordsOf(await read(store, settings), 0x0a).filter((record) => record[0] === 0x61);
        expect(later).toEqual(former);
        rmSync(store.path, { recursive: true });
      }),
      { numRuns: 3 * times },
    );
  });

  it.runIf(fromCi)('scatters piles again that do not fit when they are read, beside the store', async () => {
    const [a = Buffer.of(), b = Buffer.of()] = makeLargeInputs({ lines: 6000, longest: 40, factor: 5 });
    const inputs = [
      { id: 'a', bytes: a },
      { id: 'b', bytes: b },
    ];
    const store = newStore(2);
    for (const input of inputs) await append(store, [input], { ...small, tuning: { inline: true } });
    const expected = bytesOf(inputs);
    let sliceCount = 0;
    await fc.assert(
      fc.asyncProperty(tightSettings, async (settings) => {
        const opened: string[] = [];
        const see = (name: string, [path]: readonly unknown[]) => {
          if (name === 'open') opened.push(String(path));
        };
        const { error } = await withCallsSeen(see, async () => {
          expect((await read(store, settings)).equals(expected)).toBe(true);
        });
        expect(error).toBeUndefined();
        const slice = opened.filter((path) => path.includes('-rescatter'));
        sliceCount += slice.length;
        expect(slice.filter((path) => path.startsWith(store.path))).toEqual([]);
      }),
      { numRuns: atScale(1, 2 * times) },
    );
    expect(sliceCount).toBeGreaterThan(0);
  });

  it.runIf(fromCi)('gives the same bytes when it is written and read on threads', async () => {
    const [a = Buffer.of(), b = Buffer.of()] = makeLargeInputs({ lines: 6000, longest: 30, factor: 3 });
    const inputs = [
      { id: 'a', bytes: a },
      { id: 'b', bytes: b },
    ];
    const store = newStore(7);
    const threads: Settings = { ...small, workers: 3, tuning: { inline: false, sliceBytes: 20_000 } };
    for (const input of inputs) await append(store, [input], threads);
    expect(readdirSync(`${store.path}/pile-sets`).length).toBeGreaterThan(4);
    expect((await read(store, threads)).equals(bytesOf(inputs))).toBe(true);
  });

  it('is read in shards, which are the bytes of the whole', async () => {
    const [a = Buffer.of()] = makeLargeInputs({ lines: 500, longest: 30, factor: 3 });
    const store = newStore(5);
    await append(store, [{ id: 'in/a.jsonl', bytes: a }], small);
    const output = directory.path('shards');
    const { shards } = await shuffleStore(store.path, { output, shards: { by: 'count', shardCount: 4 } }, small.tuning);
    expect(shards.map((path) => path.slice(output.length))).toEqual(
      [0, 1, 2, 3].map((i) => `/shard-0000${i}-of-00004.jsonl`),
    );
    expect(Buffer.concat(shards.map((path) => readFileSync(path))).equals(await read(store, small))).toBe(true);
  });
});
