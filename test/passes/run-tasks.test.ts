/** Tasks that are handed out a few at a time, and the fate of the other tasks when one fails. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { JobControl } from '#src/job-control.js';
import { runTasks } from '#src/passes/run-tasks.js';
import { JobStop } from '#src/passes/threads.js';

const openStop = () => new JobStop(JobControl.create([], 0), undefined);

describe('runTasks', () => {
  it('hands over the results of tasks that end while it waits for them', async () => {
    const results: number[] = [];
    const run = async (task: number) => {
      if (task === 0) throw new Error('full');
      await delay(20);
      return task;
    };
    const done = runTasks([0, 1], run, (result) => results.push(result), 2, openStop());
    await expect(done).rejects.toThrow('full');
    expect(results).toEqual([1]);
  });

  it('makes nothing of a result that comes when it has given up', async () => {
    const results: number[] = [];
    let end = (_: number) => {};
    const late = new Promise<number>((resolve) => {
      end = resolve;
    });
    const run = (task: number) => (task === 0 ? Promise.reject(new Error('full')) : late);
    const done = runTasks([0, 1], run, (result) => results.push(result), 2, openStop());
    await expect(done).rejects.toThrow('full');
    end(1);
    await late;
    await delay(0);
    expect(results).toEqual([]);
  });
});
