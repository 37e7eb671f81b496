/** Tasks write the tables of the local job, byte for byte: whole shards each. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ClusterPlanOptions, shuffle } from '#src/index.js';
import { runClusterLocally, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { sampled } from '../fixtures/scale.js';
import { writeTable } from '../fixtures/tables.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

function bytesOf(path: string): Map<string, Buffer> {
  if (statSync(path).isFile()) return new Map([['', readFileSync(path)]]);
  const names = readdirSync(path).filter((name) => name.endsWith('.parquet'));
  return new Map(names.toSorted().map((name) => [name, readFileSync(join(path, name))]));
}

type Asked = Partial<Omit<ClusterPlanOptions, 'output' | 'jobDir' | 'tasks'>>;

const CASES: readonly (readonly [name: string, asked: Asked])[] = [
  ['shards by count', { shards: { by: 'count', shardCount: 5 } }],
  ['one file', {}],
  ['shards by bytes', { shards: { by: 'bytes', maxShardBytes: 9000 } }],
  [
    'splits',
    {
      shards: { by: 'count', shardCount: 3 },
      splits: [
        { name: 'test', records: 31 },
        { name: 'train', rest: true },
      ],
    },
  ],
  ['columns in names of directories', { hive: true }],
  ['unique rows', { unique: true, shards: { by: 'records', recordsPerShard: 90 } }],
];

describe('tasks that write tables', () => {
  it.each(sampled(CASES, 2))('write those of the local job: %s', async (_, asked) => {
    const inputs = ['a', 'b', 'a'].map((name, i) => {
      const path = directory.path(`part=${i}`, 'in.parquet');
      mkdirSync(dirname(path), { recursive: true });
      const rows = Array.from({ length: 200 }, (_, n) => ({
        text: `${name}${n}${'='.repeat((n * 13) % 80)}`,
        number: n,
      }));
      writeTable(path, rows, 60);
      return path;
    });
    const options = { ...asked, inputs, seed: '1', rowGroupRows: 40 };
    const local = directory.path('local.parquet');
    await shuffle({ ...options, output: local }, { inline: true });
    const output = directory.path('out.parquet');
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
});
