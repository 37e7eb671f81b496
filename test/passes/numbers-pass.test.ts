/** The tasks of a range of numbers: which places each gets, and what becomes of their results. */
import { describe, expect, it } from 'vitest';
import { VerificationError } from '#src/index.js';
import { JobControl } from '#src/job-control.js';
import type { OutputTarget } from '#src/output/output-target.js';
import { type NumbersWork, writeAllNumbers } from '#src/passes/numbers-pass.js';
import type { TaskPool } from '#src/passes/task-pool.js';
import { JobStop } from '#src/passes/threads.js';
import type { NumbersResult, NumbersTask } from '#workers/tasks/write-numbers.js';

const END = 2n ** 64n;
const control = JobControl.create([], 0);
const STREAM: OutputTarget = { kind: 'stream', fd: -1, path: '-', compression: undefined };
const shardsOf = (shardCount: number, totalRecords: number): OutputTarget => ({
  kind: 'appended',
  stagingDirectory: '',
  cuts: { by: 'rank', shardCount, totalRecords },
  headerBytes: 0,
  gate: -1,
  compression: undefined,
});

const upTo = (end: bigint) => [{ first: 0n, end }];

/** Does the work with tasks that give these results. */
async function doWith(work: Partial<NumbersWork>, resultOf: (task: NumbersTask) => NumbersResult) {
  const tasks: NumbersTask[] = [];
  const pool: TaskPool = {
    threadCount: 3,
    // The last one under way ends first.
    run: async (_, task) => {
      tasks.push(task as NumbersTask);
      const delays = 3 - (tasks.length % 3);
      for (let i = 0; i < delays; i++) await new Promise((resolve) => setImmediate(resolve));
      return resultOf(task as NumbersTask) as never;
    },
    destroy: async () => {},
    restart: async () => {},
  };
  const settings = {
    ...{ jobName: 'job', control: control.buffer, arenaBytes: 0, low: 1n, lastOffset: 2n, key: 0n, terminator: 10 },
    ...{ way: { by: 'sorted' } as const, outputBytes: 100 },
  };
  const all = { settings, target: STREAM, parts: upTo(3n), placesOfTask: 2, expected: undefined, ...work };
  const written = await writeAllNumbers(all, { pool, control, stop: new JobStop(control, undefined), jobName: 'job' });
  return { written, tasks };
}

const nothing: NumbersResult = { regions: [], bytes: 0, sum: 0n, checksum: 0n };

describe('tasks', () => {
  it('take all places one behind the other, however far they are', async () => {
    const first = 10n ** 6n;
    const { tasks } = await doWith({ parts: upTo(3n * first + 5n), placesOfTask: Number(first) }, () => nothing);
    expect(tasks.map((task) => [task.first, task.count, task.start.turn])).toEqual([
      [0n, 1_000_000, 0],
      [first, 1_000_000, 1],
      [2n * first, 1_000_000, 2],
      [3n * first, 5, 3],
    ]);
    expect((await doWith({ parts: upTo(0n) }, () => nothing)).tasks).toEqual([]);
  });

  it('begin in the shard of their first place', async () => {
    const { tasks } = await doWith({ parts: upTo(10n), placesOfTask: 2, target: shardsOf(4, 10) }, () => nothing);
    expect(tasks.map(({ start }) => start.shard)).toEqual([0, 1, 1, 2, 3]);
  });
});

describe('results', () => {
  it('are added up, and the regions of a shard become one', async () => {
    const { written } = await doWith({ parts: upTo(9n), target: shardsOf(2, 9) }, ({ start: { turn } }) => {
      const regionOf = (shard: number, start: number) => ({
        shard,
        start,
        end: start + 3,
        recordBytes: 4,
        checksum: '',
      });
      // The third one has the end of a shard and the beginning of the next.
      const regions =
        turn < 2 ? [regionOf(0, 3 * turn)] : turn > 2 ? [regionOf(1, 3 * turn - 6)] : [regionOf(0, 6), regionOf(1, 0)];
      return { regions, bytes: 4, sum: 1n, checksum: END - 1n };
    });
    expect(written).toEqual({
      regions: [
        { shard: 0, start: 0, end: 9, recordBytes: 12, checksum: '' },
        { shard: 1, start: 0, end: 9, recordBytes: 12, checksum: '' },
      ],
      parts: [{ bytes: 20, checksum: END - 5n }],
      bytes: 20,
      checksum: END - 5n,
    });
  });

  it('of each part are added up apart, and no task reaches from one part into the next', async () => {
    const parts = [
      { first: 0n, end: 3n },
      { first: 3n, end: 3n },
      { first: 3n, end: 8n },
    ];
    const { tasks, written } = await doWith({ parts, target: shardsOf(8, 8) }, ({ first, count }) => ({
      ...nothing,
      bytes: count,
      checksum: first === 0n ? END - 1n : first,
    }));
    expect(tasks.map(({ first, count, start: { turn } }) => [first, count, turn])).toEqual([
      [0n, 2, 0],
      [2n, 1, 1],
      [3n, 2, 2],
      [5n, 2, 3],
      [7n, 1, 4],
    ]);
    const ofParts = [
      { bytes: 3, checksum: 1n },
      { bytes: 0, checksum: 0n },
      { bytes: 5, checksum: 15n },
    ];
    expect(written).toEqual({ regions: [], parts: ofParts, bytes: 8, checksum: 16n });
  });

  it('must be what all numbers together are', async () => {
    const result = { ...nothing, bytes: 3, sum: END - 1n };
    const expected = { bytes: 6n, sum: END - 2n };
    expect((await doWith({ expected }, () => result)).written.bytes).toBe(6);
    for (const wrong of [{ sum: 0n }, { bytes: 4 }])
      await expect(doWith({ expected }, () => ({ ...result, ...wrong }))).rejects.toThrow(VerificationError);
    await expect(doWith({ expected }, () => ({ ...result, bytes: 4 }))).rejects.toThrow(
      'verification failed: the written numbers have 8 bytes and the sum 18446744073709551614 modulo 2^64, expected 6 and 18446744073709551614; check the memory of this machine',
    );
  });

  it('that are missing end the job with the first error', async () => {
    const failing = doWith({ parts: upTo(100n) }, ({ start: { turn } }) => {
      if (turn === 4) throw new RangeError('made up');
      return nothing;
    });
    await expect(failing).rejects.toThrow('made up');
  });
});
