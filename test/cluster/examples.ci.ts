/** The examples for Ray and Spark, with modules that stand for them: the bytes of the local job, and failures in one line. */
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { planCluster, runClusterTask, shuffle } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { contentOf, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const pathOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

describe.skipIf(!isOnPath('python3')).each([
  ['cluster-ray.py', ['1']],
  ['cluster-spark.py', []],
] as const)('examples/%s', (name, more) => {
  const directory = useTestDirectory();
  const call = (jobDir: string) =>
    spawnSync('python3', [pathOf(`examples/${name}`), jobDir, ...more], {
      encoding: 'utf8',
      env: {
        ...process.env,
        PYTHONPATH: pathOf('test/fixtures/python'),
        PYTHONDONTWRITEBYTECODE: '1',
        PILESHUF: `'${process.execPath}' '${pathOf('dist/bundle/main.cjs')}'`,
        TMPDIR: directory.temp,
      },
    });

  it('does what is left of a job, and nothing of one that is done', async () => {
    const input = directory.path('in');
    writeFileSync(input, Array.from({ length: 900 }, (_, i) => `line ${i}\n`).join(''));
    const asked = { inputs: [input], seed: 'example', shards: { by: 'count', shardCount: 3 } } as const;
    await shuffle({ ...asked, output: directory.path('local'), tempDirs: [directory.temp] });
    const planned = { output: directory.path('out'), jobDir: directory.path("j o'b"), tasks: 3, cpusPerTask: 1 };
    const { jobDir, scatterTasks } = await planCluster({ ...asked, ...planned }, SMALL_TASKS);
    expect(scatterTasks).toBe(3);
    await runClusterTask({ kind: 'scatter', jobDir, taskIndex: 1 });
    for (let times = 0; times < 2; times++) {
      const { status, stderr } = call(jobDir);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(contentOf(directory.path('out'))).toEqual(contentOf(directory.path('local')));
      expect(readdirSync(jobDir)).toEqual(['committed']);
    }
  });

  it('ends with the message of a task that failed', async () => {
    const input = directory.path('in');
    writeFileSync(input, 'a\nb\n');
    const jobDir = directory.path('job');
    await planCluster({ inputs: [input], output: directory.path('out'), jobDir, tasks: 1, cpusPerTask: 1 });
    writeFileSync(input, 'a\nb\nc\n');
    const { status, stderr } = call(jobDir);
    expect(status).not.toBe(0);
    expect(stderr.trim().split('\n').at(-1)).toMatch(
      /^\S*(Runtime)?Error: scatter --job-dir .*: pileshuf: .* the input changed since/,
    );
    for (const left of readdirSync(directory.path('.')).filter((each) => each.startsWith('.pileshuf-')))
      spawnSync('rm', ['-r', directory.path(left)]);
  });
});
