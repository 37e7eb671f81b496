/** Tasks that are handed out a few at a time, and the fate of the other tasks when one fails. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AbortError, SystemError } from '#src/errors.js';
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

  it('keeps nothing for the tasks that are done', async () => {
    const stop = openStop();
    let waits = 0;
    const { requested } = stop;
    const then: Promise<void>['then'] = (...callbacks) => {
      waits += 1;
      return requested.then(...callbacks);
    };
    Object.assign(stop, { requested: Object.assign(Promise.resolve(), { then }) });
    const tasks = Array.from({ length: 1000 }, (_, i) => i);
    let sum = 0;
    const take = (result: number) => {
      sum += result;
    };
    await runTasks(tasks, async (task) => task, take, 3, stop);
    expect(sum).toBe(499_500);
    expect(waits).toBe(1);
  });

  it('ends with the reason for which the job was stopped', async () => {
    const stop = openStop();
    const run = async () => {
      stop.fail(new SystemError('ERR_WORKER', 'the memory is gone'));
      await delay(5);
      throw new AbortError();
    };
    await expect(runTasks([0, 1], run, () => {}, 2, stop)).rejects.toThrow('the memory is gone');
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
