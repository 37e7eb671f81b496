/** Tasks write the HDF5 files of the local job, byte for byte. */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type ClusterPlanOptions, shuffle } from '#src/index.js';
import { writeNumbers } from '../fixtures/hdf5-files.js';
import { runClusterLocally, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

function bytesOf(path: string): readonly Buffer[] {
  if (statSync(path).isFile()) return [readFileSync(path)];
  const names = readdirSync(path).filter((name) => name.endsWith('.h5'));
  return names.toSorted().map((name) => readFileSync(join(path, name)));
}

it.each<Partial<ClusterPlanOptions>>([{}, { shards: { by: 'count', shardCount: 5 } }])(
  'tasks write the HDF5 files of the local job: %o',
  async (asked) => {
    const inputs = [0, 1, 2].map((i) => {
      const path = directory.path(`in-${i}.h5`);
      writeNumbers(
        path,
        Array.from({ length: 200 }, (_, n) => [n, 1000 * i + n, i]),
      );
      return path;
    });
    const options = { ...asked, inputs, seed: '1' };
    const local = directory.path('local.h5');
    await shuffle({ ...options, output: local }, { inline: true });
    const output = directory.path('out.h5');
    await runClusterLocally(
      { ...options, output, jobDir: directory.path('job'), tasks: 3, memoryBytes: 2 ** 26 },
      { tuning: SMALL_TASKS, order: (tasks) => tasks.toReversed() },
    );
    expect(bytesOf(output)).toEqual(bytesOf(local));
    for (const path of [local, output]) rmSync(path, { recursive: true });
  },
);
