/**
 * Hands tasks to the pool, a few at a time, so that the list of tasks may be long, until all are done or one fails.
 */
import { AbortedError } from '../errors.js';
import { type JobStop, promiseWithResolver, type Threads } from './threads.js';

/** How long tasks may take to notice that they are to stop, before their threads are ended. */
const STOP_MILLISECONDS = 1000;

/** Tasks that the pool has at one time, unless tasks take turns: so that no thread waits for its next task. */
export function tasksAtOnce({ pool }: Pick<Threads, 'pool'>): number {
  return 2 * pool.threadCount;
}

/**
 * Runs `tasks` in order, several at a time, and hands each result to `onResult`. The first failure wins: the other tasks
 * are asked to stop and waited for, then it is thrown.
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
  /** Results that come later are of no use: nobody waits for them. */
  let isOver = false;
  const start = (task: Task) => {
    const done = run(task)
      .then((result) => {
        if (!isOver) onResult(result, task);
      })
      .catch((error: unknown) => {
        // A task that stopped because another one failed has nothing to say.
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

/**
 * Results in the order of their turns, though threads report them in another.
 * @param turnOf 0, 1, 2, ..., each once.
 * @returns takes results in any order and hands them to `take` in the order of their turns.
 */
export function inTurn<Result, Task>(
  take: (result: Result, task: Task) => void,
  turnOf: (task: Task) => number,
): (result: Result, task: Task) => void {
  const waiting = new Map<number, { readonly result: Result; readonly task: Task }>();
  let next = 0;
  return (result, task) => {
    waiting.set(turnOf(task), { result, task });
    for (let first = waiting.get(next); first !== undefined; first = waiting.get(next)) {
      waiting.delete(next);
      next += 1;
      take(first.result, first.task);
    }
  };
}
