/** Draws with replacement: what becomes of the results of tasks that end in another order, and of the memory. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { JobControl } from '#src/job-control.js';
import type { OutputTarget } from '#src/sinks/output-target.js';
import { writeAllDraws } from '#src/stages/draw.js';
import type { TaskPool } from '#src/stages/task-pool.js';
import { JobStop } from '#src/stages/threads.js';
import type { DrawsTask } from '#workers/tasks/write-draws.js';
import { fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const control = JobControl.create([], 0);

/** Of each three tasks, the last one ends first. */
function threadsThat<Task>(run: (task: Task) => unknown) {
  const ended: Task[] = [];
  let begun = 0;
  const pool: TaskPool = {
    threadCount: 3,
    run: async (_, task) => {
      const delays = 3 - (begun++ % 3);
      for (let i = 0; i < delays; i++) await new Promise((resolve) => setImmediate(resolve));
      ended.push(task as Task);
      return run(task as Task) as never;
    },
    destroy: async () => {},
    restart: async () => {},
  };
  return { ended, threads: { pool, control, stop: new JobStop(control, undefined), jobName: 'job' } };
}

it('regions of draws are joined in the order of their places, and all is added up', async () => {
  const target: OutputTarget = {
    kind: 'appended',
    stagingDirectory: '',
    cuts: { by: 'rank', shardCount: 2, totalRecords: 14 },
    headerBytes: 0,
    gate: -1,
    compression: undefined,
  };
  const { ended, threads } = threadsThat(({ first, count, start: { shard } }: DrawsTask) => {
    const region = { shard, start: first % 7, end: (first % 7) + count, recordBytes: count, checksum: '' };
    return { regions: [region], bytes: count, checksum: 2n ** 63n };
  });
  const work = {
    job: {} as never,
    ordered: {} as never,
    key: 0n,
    places: 14,
    placesOfTask: 1,
    target,
    signal: undefined,
  };
  const { regions, ...written } = await writeAllDraws(work, threads);
  expect(regions).toEqual([0, 1].map((shard) => ({ shard, start: 0, end: 7, recordBytes: 7, checksum: '' })));
  expect(written).toEqual({ records: 14, bytes: 14, checksum: 0n });
  expect(ended.map(({ first }) => first)).not.toEqual(ended.map(({ first }) => first).sort((a, b) => a - b));
});

const MIB = 2 ** 20;
const INPUT_BYTES = 32 * MIB;
const indexModule = new URL('../../dist/src/index.js', import.meta.url).href;

const directory = useMemoryDirectory();

it.runIf(fromCi)('gives its memory back when a job ends', () => {
  const [input, output] = [directory.path('in'), directory.path('out')];
  writeFileSync(input, `${'x'.repeat(1023)}\n`.repeat(INPUT_BYTES / 1024));
  const code = `
    const { shuffle } = await import(${JSON.stringify(indexModule)});
    const options = { inputs: [${JSON.stringify(input)}], output: ${JSON.stringify(output)}, force: true };
    const draw = () => shuffle({ ...options, repeat: true, headCount: 10, workers: 2, memoryBytes: ${512 * MIB} });
    await draw();
    const before = process.memoryUsage.rss();
    for (let i = 0; i < 4; i++) await draw();
    process.stdout.write(String(process.memoryUsage.rss() - before));
  `;
  const grownBytes = Number(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }));
  expect(grownBytes).toBeLessThan(2 * INPUT_BYTES);
});
