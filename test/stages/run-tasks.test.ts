/** Tasks that are handed out a few at a time, the fate of the others when one fails, and the order of their results. */
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AbortError, SystemError } from '#src/errors.js';
import { JobControl } from '#src/floor/job-control.js';
import { inOrder, runTasks } from '#src/stages/run-tasks.js';
import { JobStop } from '#src/stages/threads.js';

const openStop = () => new JobStop(JobControl.create([], 0), undefined);

describe('runTasks', () => {
  it('hands out the next task before it takes a result', async () => {
    const log: string[] = [];
    const run = async (task: number) => {
      log.push(`runs ${task}`);
      await delay(0);
      return task;
    };
    await runTasks([0, 1, 2], run, (result) => log.push(`takes ${result}`), 1, openStop());
    expect(log).toEqual(['runs 0', 'runs 1', 'takes 0', 'runs 2', 'takes 1', 'takes 2']);
  });

  it('keeps nothing for the tasks that are done, nor for a pass that is', async () => {
    const stop = openStop();
    let listeners = 0;
    const onRequest: JobStop['onRequest'] = () => {
      listeners += 1;
      return () => {
        listeners -= 1;
      };
    };
    Object.assign(stop, { onRequest });
    const tasks = Array.from({ length: 1000 }, (_, i) => i);
    let sum = 0;
    let most = 0;
    const take = (result: number) => {
      sum += result;
      most = Math.max(most, listeners);
    };
    await runTasks(tasks, async (task) => task, take, 3, stop);
    expect({ sum, most, listeners }).toEqual({ sum: 499_500, most: 1, listeners: 0 });
  });

  it('is woken when the job must stop, but not after it has ended', () => {
    const stop = openStop();
    const heard: string[] = [];
    const stopListening = stop.onRequest(() => heard.push('ended'));
    stop.onRequest(() => heard.push('under way'));
    stopListening();
    stop.request();
    stop.request();
    expect(heard).toEqual(['under way']);
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

describe('inTurn', () => {
  it('hands results on in turn, and none before its turn', () => {
    const order = fc
      .integer({ min: 0, max: 30 })
      .chain((count) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count, maxLength: count }));
    fc.assert(
      fc.property(order, (turns) => {
        const taken: (readonly [string, number])[] = [];
        const take = inOrder(
          (result: string, turn: number) => taken.push([result, turn]),
          (turn) => turn,
        );
        const given = new Set<number>();
        for (const turn of turns) {
          take(`result ${turn}`, turn);
          given.add(turn);
          let inOrder = 0;
          while (given.has(inOrder)) inOrder += 1;
          expect(taken).toEqual([...Array(inOrder).keys()].map((each) => [`result ${each}`, each]));
        }
      }),
    );
  });
});
