/**
 * Hands out tasks a few at a time, so the list of tasks may be long, until all are done or one fails.
 */
import { AbortedError } from '../errors.js';
import type { JobStop } from './job-stop.js';
import { promiseWithResolver } from './promise-with-resolver.js';

/** How long tasks may take to notice that they are to stop, before their threads are ended. */
const STOP_MILLISECONDS = 1000;

/**
 * Runs `tasks` in order, several at a time, and hands each result to `onResult`. The first failure
 * wins: the other tasks are asked to stop and waited for, then it is thrown.
 */
export async function runTasks<Task, Result>(
  tasks: Iterable<Task>,
  run: (task: Task) => Promise<Result>,
  onResult: (result: Result, task: Task) => void,
  concurrency: number,
  stop: JobStop,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let failure: unknown;
  /** What comes after that is of no use: nobody waits for what would be made of it. */
  let isOver = false;
  const start = (task: Task) => {
    const done = run(task)
      .then((result) => {
        if (!isOver) onResult(result, task);
      })
      .catch((error: unknown) => {
        // Tasks that stopped because another one failed have nothing to say.
        failure ??= error;
        stop.request();
      })
      .finally(() => underWay.delete(done));
    underWay.add(done);
  };
  for (const task of tasks) {
    while (underWay.size >= concurrency && !stop.isRequested) await Promise.race([...underWay, stop.requested]);
    if (stop.isRequested) break;
    start(task);
  }
  while (underWay.size > 0 && !stop.isRequested) await Promise.race([...underWay, stop.requested]);
  if (underWay.size > 0) {
    const { promise: tooLong, resolve } = promiseWithResolver();
    const timer = setTimeout(resolve, STOP_MILLISECONDS);
    await Promise.race([Promise.all(underWay), tooLong]);
    clearTimeout(timer);
  }
  isOver = true;
  if (failure !== undefined) throw failure;
  if (stop.isRequested) throw new AbortedError();
}
