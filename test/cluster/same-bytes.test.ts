/** Tasks write the bytes of the local job, whatever is read and written, and whatever the order of the tasks. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ClusterPlanOptions } from '#src/index.js';
import { shuffle } from '#src/index.js';
import { drawsFor } from '../fixtures/draws.js';
import { contentOf, type LocalCluster, runClusterLocally, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory, useTestDirectory } from '../fixtures/temp-directory.js';
import { tarEntry } from '../formats/plain-tar.js';
import { FORMAT_SAMPLES } from '../laws/format-samples.js';

const directory = useMemoryDirectory();
/** Mostly on a disk. */
const elsewhere = useTestDirectory();

type Asked = Partial<Omit<ClusterPlanOptions, 'output' | 'jobDir' | 'tasks'>>;

interface Case {
  readonly name: string;
  readonly options?: Asked;
  /** The contents of the inputs. */
  readonly inputs?: readonly (string | Buffer)[];
  readonly tuning?: LocalCluster['tuning'];
}

const lines = (start: number, count: number, ending = '\n') =>
  Array.from({ length: count }, (_, i) => `record ${start + i} ${'x'.repeat((start + 7 * i) % 40)}`).join('\n') +
  ending;
const LINES = [lines(0, 300), lines(1000, 5), lines(2000, 120, '')];
const CSV = [3, 200].map((count, j) => {
  const rows = Array.from({ length: count }, (_, i) => `${j}${i},"a ""quoted""\nfield ${i}"`);
  return `id,text\n${rows.join('\n')}\n`;
});
const jsonLines = (count: number) =>
  Array.from({ length: count }, (_, i) => `{"site":"s${i % 17}","n":${i}}`).join('\n');
/** Records of which about half come again, in the same input and in others; one of them often. */
const EQUAL = [0, 40, 150].map((start, i) =>
  Array.from({ length: 200 }, (_, line) => `word ${line % 9 === 0 ? 'often' : start + (line >> 1)}\n`)
    .join('')
    .slice(0, i === 2 ? -1 : undefined),
);
const VALUES = [0, 1].map((file) =>
  Array.from({ length: 150 }, (_, i) => `{"n":1${file}${i},"site":"s${(i * 7 + file) % 61}"}\n`).join(''),
);
const inOrder = { by: 'records', recordsPerShard: 30 } as const;

const CASES: readonly Case[] = [
  { name: 'lines into one file' },
  { name: 'no records', inputs: ['', ''] },
  { name: 'one record', inputs: ['a'] },
  { name: 'the bytes 00 and FF', inputs: [Buffer.from([0, 255, 10, 255, 0, 10, 0])] },
  { name: 'gzip inputs', inputs: LINES.map((text) => gzipSync(text)) },
  { name: 'CSV with a header', inputs: CSV, options: { records: { by: 'csv' }, header: { lines: 1 } } },
  { name: 'shards by count', options: { shards: { by: 'count', shardCount: 5 } } },
  { name: 'more shards than records', inputs: [lines(0, 7)], options: { shards: { by: 'count', shardCount: 12 } } },
  { name: 'shards by records', options: { shards: inOrder } },
  { name: 'shards by bytes', options: { shards: { by: 'bytes', maxShardBytes: 1500 } } },
  { name: 'shards by bytes, of long records', options: { shards: { by: 'bytes', maxShardBytes: 120 } } },
  { name: 'one gzip file', options: { compress: { codec: 'gzip' } } },
  {
    name: 'gzip shards with a header',
    inputs: CSV,
    options: { records: { by: 'csv' }, header: { lines: 1 }, compress: { codec: 'gzip' }, shards: inOrder },
  },
  {
    name: 'splits in gzip shards',
    options: {
      splits: [
        { name: 'test', records: 31 },
        { name: 'train', rest: true },
      ],
      shards: { by: 'count', shardCount: 3 },
      compress: { codec: 'gzip' },
    },
  },
  {
    name: 'splits by a field',
    inputs: [jsonLines(200)],
    options: {
      splits: [
        { name: 'train', share: 0.8 },
        { name: 'test', rest: true },
      ],
      splitBy: '.site',
    },
  },
  {
    name: 'weights',
    options: {
      weights: [
        { glob: '**/in-0', factor: 1.5 },
        { glob: '**/in-1', factor: 0 },
        { glob: '**/in-2', factor: 3 },
      ],
    },
  },
  {
    name: 'weights by a number',
    inputs: [jsonLines(100), jsonLines(3)],
    options: { weightBy: '.n', weightCap: '2.5', weights: [{ glob: '**/in-1', factor: 1.5 }] },
  },
  {
    name: 'weights by a number, in splits',
    inputs: [jsonLines(100), jsonLines(90)],
    options: {
      weightBy: '.n',
      weightCap: 3,
      splits: [
        { name: 'train', share: 0.8 },
        { name: 'test', rest: true },
      ],
    },
  },
  {
    name: 'shares of a mix by a field of decimals',
    inputs: [0.1, 12.35, 0].map((n) => Array.from({ length: 90 }, (_, i) => `{"n":${n + i / 8},"i":${i}}\n`).join('')),
    options: {
      mix: {
        unit: '.n',
        max_epochs: 2,
        groups: [
          { name: 'a', inputs: ['**/in-0'], share: 0.5 },
          { name: 'b', inputs: ['**/in-1', '**/in-2'], share: 0.5 },
        ],
      },
    },
  },
  { name: 'the first records', options: { headCount: 17 } },
  {
    name: 'the first records in shards by bytes',
    options: { headCount: 60, shards: { by: 'bytes', maxShardBytes: 900 } },
  },
  {
    name: 'unique records in gzip shards by bytes',
    inputs: EQUAL,
    options: { unique: true, shards: { by: 'bytes', maxShardBytes: 700 }, compress: { codec: 'gzip' } },
  },
  { name: 'the first unique records', inputs: EQUAL, options: { unique: true, headCount: 31 } },
  {
    name: 'one record a value, where some have none',
    inputs: [...VALUES, '{}\n{"site":"s1"}\n{}'],
    options: { uniqueBy: '.site', missing: 's1', shards: inOrder },
  },
  {
    name: 'copies of one record a value, in splits of another',
    inputs: ['a', 'b'].map((name) =>
      Array.from({ length: 90 }, (_, i) => `{"u":${i % 50},"s":${i % 7},"w":${i % 4},"${name}":1}\n`).join(''),
    ),
    options: {
      uniqueBy: '.u',
      weightBy: '.w',
      splitBy: '.s',
      splits: [
        { name: 'train', share: 0.7 },
        { name: 'test', rest: true },
      ],
    },
  },
  {
    name: 'copies of unique records of piles that are scattered again',
    tuning: { ...SMALL_TASKS, pileCount: 2, pass2ArenaBytes: 256 * 1024 },
    inputs: [Array.from({ length: 9000 }, (_, i) => `{"u":${i % 7000},"w":${i % 3}}\n`).join('')],
    options: { unique: true, weightBy: '.w', weights: [{ glob: '**/in-0', factor: 1.5 }] },
  },
  {
    name: 'one row a value of a column',
    inputs: ['id,n\n1,a\n2,b\n1,c\n', 'id,n\n3,d\n2,e\n'],
    options: { records: { by: 'csv' }, header: { lines: 1 }, uniqueBy: 'csv:id' },
  },
  {
    name: 'one sample a key',
    inputs: ['a', 'b'].map((text) =>
      Buffer.concat([
        ...Array.from({ length: 20 }, (_, i) => tarEntry({ name: `s${i % 15}.txt`, data: Buffer.from(text + i) })),
        Buffer.alloc(1024),
      ]),
    ),
    options: { records: { by: 'webdataset' }, uniqueBy: 'key' },
  },
  {
    name: 'unique records of piles that are scattered again',
    tuning: { ...SMALL_TASKS, pileCount: 2, pass2ArenaBytes: 96 * 1024 },
    inputs: [lines(0, 5000) + lines(2000, 5000)],
    options: { unique: true },
  },
  { name: 'ids of inputs by name', options: { inputIds: 'name' } },
  { name: 'keys from ordinals', options: { keys: 'ordinal' } },
  { name: 'compressed temp data', options: { tempCompress: { codec: 'zstd' } } },
  {
    name: 'piles that are scattered again',
    tuning: { ...SMALL_TASKS, pileCount: 2, pass2ArenaBytes: 96 * 1024 },
    inputs: [lines(0, 9000)],
  },
  { name: 'threads', tuning: { ...SMALL_TASKS, inline: false }, options: { cpusPerTask: 2 } },
];

const OUTPUTS: readonly Asked[] = [
  {},
  { shards: { by: 'count', shardCount: 3 } },
  { shards: { by: 'count', shardCount: 3 }, compress: { codec: 'gzip' } },
];

function writeInputs({ inputs = LINES }: Case): string[] {
  return inputs.map((content, i) => {
    writeFileSync(directory.path(`in-${i}`), content);
    return directory.path(`in-${i}`);
  });
}

async function expectSameBytes(each: Case, how: LocalCluster = {}): Promise<void> {
  const options = { inputs: writeInputs(each), seed: 'tasks', ...each.options };
  const { cpusPerTask, ...local } = options;
  const { tuning = SMALL_TASKS } = each;
  const output = directory.path('local');
  await shuffle({ ...local, output, tempDirs: [directory.temp], workers: 1 }, { inline: true });
  const { commit } = await runClusterLocally(
    {
      ...options,
      cpusPerTask: cpusPerTask ?? 1,
      output: directory.path('out'),
      jobDir: directory.path('job'),
      tasks: 4,
    },
    { tuning, ...how },
  );
  expect(contentOf(directory.path('out'))).toEqual(contentOf(directory.path('local')));
  expect(commit.output?.seed).toBe('tasks');
}

describe('the bytes of the local job', () => {
  it.each(sampled(CASES, 12, 0, 2))('come out of tasks: $name', async (each) => {
    await expectSameBytes(each);
  });

  it.each(sampled(CASES, 60, 9, 2))('come out of tasks in any order, some of them twice: $name', async (each) => {
    const draw = drawsFor(`order of tasks: ${each.name}`);
    const order = (tasks: readonly number[]) => {
      const drawn = [...tasks, ...tasks.filter(() => draw() < 0.5)].map((task) => ({ task, at: draw() }));
      return drawn.sort((a, b) => a.at - b.at).map(({ task }) => task);
    };
    await expectSameBytes(each, { order });
  });

  it.each(sampled(FORMAT_SAMPLES, 14))('come out of tasks: $name', async ({ name, around, bodies }) => {
    const inputs = bodies.map((body) => Buffer.concat([around.header(body.byteLength), body, around.trailer]));
    const tuning = { ...SMALL_TASKS, sliceBytes: 60 };
    const number = FORMAT_SAMPLES.findIndex((sample) => sample.name === name);
    for (const options of sampled(OUTPUTS, OUTPUTS.length, number, OUTPUTS.length)) {
      for (const path of ['out', 'local', 'job']) rmSync(directory.path(path), { recursive: true, force: true });
      await expectSameBytes({ name, inputs, tuning, options: { ...around.options, ...options } });
    }
  });

  it('come out in a directory that exists, beside other files', async () => {
    mkdirSync(directory.path('out'));
    mkdirSync(directory.path('local'));
    for (const name of ['out', 'local']) writeFileSync(directory.path(name, 'other'), 'kept');
    await expectSameBytes({ name: '', options: { shards: { by: 'count', shardCount: 5 } } });
  });

  it('replace former shards when that is asked for', async () => {
    for (const name of ['out', 'local']) {
      mkdirSync(directory.path(name));
      writeFileSync(directory.path(name, 'shard-00000-of-00002.txt'), 'former');
    }
    await expectSameBytes({ name: '', options: { force: true, shards: { by: 'count', shardCount: 5 } } });
  });
});

it('have inputs, job directory and output on several devices', async () => {
  const places = [directory, elsewhere];
  const inputs = places.map((place, i) => {
    writeFileSync(place.path('in'), LINES[i] ?? '');
    return place.path('in');
  });
  await shuffle({ inputs, seed: 's', output: directory.path('local'), tempDirs: [directory.temp] });
  for (const [i, place] of places.entries()) {
    const output = (places[1 - i] ?? place).path('out');
    await runClusterLocally({ inputs, seed: 's', output, jobDir: place.path('job'), tasks: 2, cpusPerTask: 1 });
    expect(contentOf(output)).toEqual(contentOf(directory.path('local')));
  }
});
