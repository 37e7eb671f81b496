/** What becomes of the results of tasks that end in another order than they began. */
import { expect, it } from 'vitest';
import { JobControl } from '#src/job-control.js';
import type { OutputTarget } from '#src/output/output-target.js';
import { orderInMemory, writeAllDraws } from '#src/passes/draw-pass.js';
import { scatteredPiles } from '#src/passes/scattered-piles.js';
import type { TaskPool } from '#src/passes/task-pool.js';
import { JobStop } from '#src/passes/threads.js';
import { totalsOf } from '#src/pile-sets/pile-totals.js';
import type { OrderPilesTask } from '#workers/tasks/order-piles.js';
import type { DrawsTask } from '#workers/tasks/write-draws.js';

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

const PILES = 9;

it('ordered records are in the order of their piles', async () => {
  const totals = totalsOf(Array.from({ length: PILES }, () => ({ records: 1, recordBytes: 10, checksum: 0n })));
  const { ended, threads } = threadsThat(({ range }: OrderPilesTask) => range.first);
  const work = { piles: scatteredPiles([], totals, 10), settings: {} as never, attempt: 'x', onWarning: () => {} };
  const firstPiles = Array.from({ length: PILES }, (_, pile) => pile);
  expect(await orderInMemory(work, threads)).toEqual(firstPiles);
  expect(ended.map(({ range }) => range.first)).not.toEqual(firstPiles);
});

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
  const work = { job: {} as never, ordered: [], key: 0n, places: 14, placesOfTask: 1, target, signal: undefined };
  const { regions, ...written } = await writeAllDraws(work, threads);
  expect(regions).toEqual([0, 1].map((shard) => ({ shard, start: 0, end: 7, recordBytes: 7, checksum: '' })));
  expect(written).toEqual({ records: 14, bytes: 14, checksum: 0n });
  expect(ended.map(({ first }) => first)).not.toEqual(ended.map(({ first }) => first).sort((a, b) => a - b));
});
