/**
 * The law of all formats together: every framing and kind of header, with inputs in every encoding, cut at every byte,
 * at some and at none, on one thread and on several, gives the records of the inputs in the order of the seed, in one
 * file, in shards and in a compressed file.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { isOnPath, runOn } from '../fixtures/foreign-program.js';
import { isSlow, sampled } from '../fixtures/scale.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { ENCODINGS, encode } from './encodings.js';
import { type FastDirectory, useFastDirectory } from './fast-directory.js';
import { FORMAT_SAMPLES, type FormatSample } from './format-samples.js';
import { orderRecords } from './reference-order.js';

/** A way to store inputs. */
interface Storage {
  readonly name: string;
  readonly store: (bytes: Buffer) => Buffer;
  readonly options?: Pick<ShuffleOptions, 'decompressProgram'>;
}

const COMPRESSORS = ['bzip2', 'xz', 'lz4'];

const STORAGES: readonly Storage[] = [
  ...ENCODINGS.map((name) => ({ name, store: (bytes: Buffer) => encode(bytes, name) })),
  {
    name: 'base64, which a program decodes',
    store: (bytes) => Buffer.from(bytes.toString('base64')),
    options: { decompressProgram: ['base64', '-d'] },
  },
  ...COMPRESSORS.filter(isOnPath).map((name) => ({ name, store: (bytes: Buffer) => runOn(bytes, [name, '-c']) })),
];

/** By their names, those of which large inputs are read in parallel. */
const CUTTABLE = ['plain', 'bgzf', 'zstd'];
const SLICE_BYTES = [1, 12, 2 ** 30];
const WORKERS = [1, 2, 4];
const PLACES = ['one file', 'shards', 'a compressed file'] as const;
const SHARDS = 3;
const SEED = 'together';

/** One of each dimension. */
interface Cell {
  readonly sliceBytes: number;
  readonly workers: number;
  readonly place: (typeof PLACES)[number];
}

/**
 * Cells of a format and a storage, by their numbers.
 * @returns few, such that all of them together have each pair of values of any two dimensions: as in a Latin square,
 *   by sums of the numbers modulo 3. What can be cut is cut in all ways.
 */
function pairsOnly(format: number, storage: number): readonly Cell[] {
  const slice = (format + storage) % 3;
  const place = (Math.floor(format / 3) + Math.floor(storage / 3)) % 3;
  const others = CUTTABLE.includes(STORAGES[storage]?.name ?? '') ? [(slice + 1) % 3, (slice + 2) % 3] : [];
  return [cellOf(slice, (format + 2 * storage) % 3, place), ...others.map((other) => cellOf(other, 0, place))];
}

/** All, but for the place of the output, of which each has its turn. */
function wholeProduct(format: number, storage: number): readonly Cell[] {
  const three = [0, 1, 2];
  return three.flatMap((slice) =>
    three.map((workers) => cellOf(slice, workers, (slice + workers + format + storage) % 3)),
  );
}

const cellsOf = isSlow ? wholeProduct : pairsOnly;

function cellOf(slice: number, workers: number, place: number): Cell {
  return { sliceBytes: SLICE_BYTES[slice] ?? 0, workers: WORKERS[workers] ?? 0, place: PLACES[place] ?? 'one file' };
}

const directory = useFastDirectory();

const samples = FORMAT_SAMPLES.map((sample, number) => ({ ...sample, number }));

describe.each(samples)('$name', (sample) => {
  it.skip.each(COMPRESSORS.filter((name) => !isOnPath(name)))('in %s, which is not on PATH', () => {});

  const storages = STORAGES.map((storage, number) => ({ ...storage, number }));
  // Each format with some of them, others in turn.
  it.each(sampled(storages, 9, sample.number, 2))('in $name', async (storage) => {
    const inputs = sample.bodies.map((body, i) => {
      const path = directory.path(`in-${i}`);
      writeFileSync(path, storage.store(Buffer.concat([sample.around.header(body.byteLength), body])));
      return path;
    });
    for (const cell of cellsOf(sample.number, storage.number)) {
      const outputs = await outputsOf(directory, cell, { inputs, ...sample.around.options, ...storage.options });
      expect(outputs, JSON.stringify(cell)).toEqual(expectedOf(sample, cell));
    }
  });
});

/** What each output holds, as text. */
async function outputsOf(
  { path, temp }: FastDirectory,
  { sliceBytes, workers, place }: Cell,
  options: ShuffleOptions,
): Promise<readonly string[]> {
  // A job that failed before has left it.
  rmSync(path('out'), { recursive: true, force: true });
  mkdirSync(path('out'));
  const report = await shuffle(
    {
      ...options,
      output: path('out', 'shuffled'),
      shards: place === 'shards' ? { by: 'count', shardCount: SHARDS } : undefined,
      compress: place === 'a compressed file' ? { codec: 'gzip', level: 1 } : 'none',
      seed: SEED,
      workers,
      memoryBytes: 2 ** 25,
      tempDirs: [temp],
    },
    {
      sliceBytes,
      inline: workers === 1,
      keepInRam: sliceBytes !== 12,
      readBytes: 70,
      pileCount: 3,
      bufferBytes: 64,
      outputBytes: 100,
    },
  );
  expect(report.workers).toBe(workers);
  const stored = (place === 'shards' ? report.shards : [path('out', 'shuffled')]).map((output) => readFileSync(output));
  return stored.map((bytes) => (place === 'a compressed file' ? gunzipSync(bytes) : bytes).toString('latin1'));
}

/** The same in the plainest way. */
function expectedOf({ spec, around, bodies }: FormatSample, { place }: Cell): readonly string[] {
  const records = orderRecords(
    bodies.map((body) => splitPlainly(spec, body)),
    SEED,
    bodies.map((body) => around.header(body.byteLength).byteLength),
  );
  const shards = place === 'shards' ? SHARDS : 1;
  const cut = (i: number) => Math.floor((i * records.length) / shards);
  return Array.from({ length: shards }, (_, i) => {
    const body = Buffer.concat(records.slice(cut(i), cut(i + 1)));
    return Buffer.concat([around.header(body.byteLength), body, around.trailer]).toString('latin1');
  });
}
