/** The task that loads a pile: its refusals, and its demands on the given buffer. */
import { afterEach, describe, expect, it } from 'vitest';
import { decodeError } from '#src/errors.js';
import { JobControl, UNGATED } from '#src/floor/job-control.js';
import { readPileTotals } from '#src/piles/pile-set-index.js';
import { LARGEST_ARENA_BYTES } from '#src/plan/arena-sizes.js';
import { layoutOf, openSnapshot, pileSetsOf } from '#src/store/store-snapshot.js';
import type { LoadSettings } from '#workers/settings.js';
import type { LoadResult, LoadTask } from '#workers/tasks/load-portion.js';
import { runTask } from '#workers/tasks.js';
import { forgetJob } from '#workers/thread-state.js';
import { type MergedIndex, makeStore, someRecords } from '../../fixtures/make-store.js';
import { useTestDirectory } from '../../fixtures/temp-directory.js';

const directory = useTestDirectory();
const contents: MergedIndex = { seed: 's', pileCount: 3, inputs: { a: someRecords('a', 60) } };

afterEach(() => forgetJob('load'));

async function taskOf(pile: number): Promise<LoadTask> {
  await makeStore(directory.path('store'), contents);
  // The state that has the records.
  const snapshot = openSnapshot(directory.path('store'));
  const layout = layoutOf(snapshot, UNGATED, false);
  const pileSets = pileSetsOf(snapshot, layout);
  const [first] = pileSets;
  if (first === undefined) throw new RangeError('the store has no pile set');
  const { records, checksums } = readPileTotals(first.index);
  const control = JobControl.create([], 0).buffer;
  const job: LoadSettings = { jobName: 'load', control, layout, arenaBytes: LARGEST_ARENA_BYTES };
  const selection = { first: 0, step: 1, count: records[pile] ?? 0, range: 0, rangeCount: 1 };
  const checksum = checksums[pile] ?? 0n;
  return { job, pileSets, pile, checksum, epochKey: undefined, buffer: undefined, ...selection };
}

async function load(task: LoadTask): Promise<LoadResult> {
  const outcome = await runTask('load', task);
  if ('error' in outcome) throw decodeError(outcome.error);
  return outcome.result;
}

describe('the task that loads a pile', () => {
  it('refuses records that differ from those written', async () => {
    const task = await taskOf(1);
    await expect(load({ ...task, checksum: task.checksum + 1n })).rejects.toMatchObject({ code: 'ERR_VERIFICATION' });
    // Of a part of them nothing is known but what segments have.
    expect((await load({ ...task, checksum: 0n, count: task.count - 1 })).records).toBe(task.count - 1);
  });

  it('refuses a pile of another place, in ranges too', async () => {
    const task = await taskOf(1);
    const { job } = task;
    const misplaced = { ...job, layout: { ...job.layout, pileCount: 2 } };
    await expect(load({ ...task, job: misplaced, epochKey: 5n })).rejects.toThrow('belongs to another pile');
    await expect(load({ ...task, job: misplaced })).rejects.toThrow('belongs to another pile');
    await expect(load({ ...task, job: misplaced, epochKey: 5n, rangeCount: 4 })).rejects.toThrow('another pile');
  });
});
