/** Tasks write the tables and HDF5 files of the local job, byte for byte: whole shards each. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { type ClusterPlanOptions, shuffle } from '#src/index.js';
import { writeNumbers } from '../fixtures/hdf5-files.js';
import { runClusterLocally, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { sampled } from '../fixtures/scale.js';
import { writeTable } from '../fixtures/tables.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

function bytesOf(path: string): Map<string, Buffer> {
  if (statSync(path).isFile()) return new Map([['', readFileSync(path)]]);
  const names = readdirSync(path).filter((name) => /\.(parquet|h5)$/.test(name));
  return new Map(names.toSorted().map((name) => [name, readFileSync(join(path, name))]));
}

type Asked = Partial<Omit<ClusterPlanOptions, 'output' | 'jobDir' | 'tasks'>>;

const CASES: readonly (readonly [name: string, ending: 'parquet' | 'h5', asked: Asked])[] = [
  ['tables in shards by count', 'parquet', { shards: { by: 'count', shardCount: 5 } }],
  ['HDF5 in shards by count', 'h5', { shards: { by: 'count', shardCount: 5 } }],
  ['one HDF5 file', 'h5', {}],
  ['one table', 'parquet', {}],
  ['tables in shards by bytes', 'parquet', { shards: { by: 'bytes', maxShardBytes: 9000 } }],
  [
    'splits of a table',
    'parquet',
    {
      shards: { by: 'count', shardCount: 3 },
      splits: [
        { name: 'test', records: 31 },
        { name: 'train', rest: true },
      ],
    },
  ],
  ['columns in names of directories', 'parquet', { hive: true }],
  ['unique rows', 'parquet', { unique: true, shards: { by: 'records', recordsPerShard: 90 } }],
];

it.each(sampled(CASES, 2))('tasks write the files of the local job: %s', async (_, ending, asked) => {
  const inputs = ['a', 'b', 'a'].map((name, i) => {
    const path = directory.path(`part=${i}`, `in.${ending}`);
    mkdirSync(dirname(path), { recursive: true });
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    if (ending === 'parquet') {
      const rows = numbers.map((number) => ({ text: `${name}${number}${'='.repeat((number * 13) % 80)}`, number }));
      writeTable(path, rows, 60);
    } else {
      const rows = numbers.map((number) => [number, 1000 * i + number, i] as const);
      writeNumbers(path, rows);
    }
    return path;
  });
  const options = { ...asked, inputs, seed: '1', ...(ending === 'parquet' && { rowGroupRows: 40 }) };
  const [local, output] = [directory.path(`local.${ending}`), directory.path(`out.${ending}`)];
  await shuffle({ ...options, output: local }, { inline: true });
  const { plan } = await runClusterLocally(
    { ...options, output, jobDir: directory.path('job'), tasks: 3, memoryBytes: 2 ** 26 },
    { tuning: SMALL_TASKS, order: (tasks) => tasks.toReversed() },
  );
  const expected = bytesOf(local);
  expect([...bytesOf(output).keys()]).toEqual([...expected.keys()]);
  for (const [name, bytes] of bytesOf(output)) expect(expected.get(name)?.equals(bytes), name).toBe(true);
  expect(plan.shuffleTasks).toBe(asked.shards === undefined ? 1 : 3);
  for (const path of [local, output]) rmSync(path, { recursive: true });
});
