/** Hands tasks to the pool, a few at a time because the list may be long, until all are done or one fails. */
import type { ResultOf, TaskName, TaskOf } from '../../workers/tasks.js';
import { AbortError, StagedOutputError, VerificationError, WrongStreamError, WrongTwiceError } from '../errors.js';
import { type JobStop, promiseWithResolver, type Threads } from './threads.js';

/** How long to wait for tasks that were asked to stop; then their threads are ended. */
const STOP_MILLISECONDS = 1000;

/** How many tasks the pool gets at one time, so that no thread waits for its next task. Not for tasks that take turns. */
export function tasksAtOnce({ pool }: Pick<Threads, 'pool'>): number {
  return 2 * pool.threadCount;
}

/**
 * Starts `tasks` in order, several at a time, and hands each result to `onResult`. If a task fails, this asks the others to
 * stop, waits for them, and throws the first error.
 */
export async function runTasks<Task, Result>(
  tasks: Iterable<Task>,
  run: (task: Task) => Promise<Result>,
  onResult: (result: Result, task: Task) => void,
  concurrency: number,
  stop: JobStop,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  /** Tasks of which the result is not there yet. */
  let running = 0;
  let wake = () => {};
  const change = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  const stopListening = stop.onRequest(() => wake());
  let failure: unknown;
  /** True if later results are ignored. */
  let isOver = false;
  const take = async (task: Task) => {
    running += 1;
    const result = await run(task);
    running -= 1;
    wake();
    // The thread gets its next task first: to take a result may be slow, because temp files are removed then.
    await undefined;
    if (!isOver) onResult(result, task);
  };
  const start = (task: Task) => {
    const done = take(task)
      .catch((error: unknown) => {
        // After the first failure, the others only say that they were stopped.
        failure ??= error;
        stop.request();
      })
      .finally(() => {
        underWay.delete(done);
        wake();
      });
    underWay.add(done);
  };
  try {
    for (const task of tasks) {
      while (running >= concurrency && !stop.isRequested) await change();
      if (stop.isRequested) break;
      start(task);
    }
    while (underWay.size > 0 && !stop.isRequested) await change();
  } finally {
    stopListening();
  }
  if (underWay.size > 0) await waitBriefly(underWay);
  isOver = true;
  // Tasks that were stopped for a reason only say that they were stopped.
  const reason = stop.reason ?? failure;
  if (reason !== undefined) throw reason;
  if (stop.isRequested) throw new AbortError();
}

async function waitBriefly(tasks: Iterable<Promise<void>>): Promise<void> {
  const { promise: tooLong, resolve } = promiseWithResolver();
  const timer = setTimeout(resolve, STOP_MILLISECONDS);
  await Promise.race([Promise.all(tasks), tooLong]);
  clearTimeout(timer);
}

/**
 * Returns a function that gets results in any order and passes them to `take` in the order of their turns: 0, 1, 2,
 * ..., each once.
 */
export function inOrder<Result, Task>(
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

/**
 * Does work that verifies itself, and does it once more if its result is wrong: one bit that flips in memory must not cost a
 * job of days. What the result is made from, temp data or an input, is still there.
 * @param work leaves nothing behind when it throws a VerificationError, except the WrongStreamError.
 * @throws WrongTwiceError, or StagedOutputError, if it is wrong again.
 */
export async function retryOnce<T>(work: () => Promise<T>, onWarning: (line: string) => void): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isWorthRetrying(error)) throw error;
    onWarning(`${error.message}; it is tried once more`);
  }
  try {
    return await work();
  } catch (error) {
    throw isWorthRetrying(error) && !(error instanceof StagedOutputError) ? new WrongTwiceError(error) : error;
  }
}

/** Has the threads do tasks that verify themselves, each once more if its result is wrong. */
export function runVerified<Name extends TaskName, Task extends TaskOf<Name>>(
  { pool, stop }: Pick<Threads, 'pool' | 'stop'>,
  name: Name,
  tasks: Iterable<Task>,
  onWarning: (line: string) => void,
  onResult: (result: ResultOf<Name>, task: Task) => void,
): Promise<void> {
  const run = (task: Task) => retryOnce(() => pool.run(name, task), onWarning);
  return runTasks(tasks, run, onResult, tasksAtOnce({ pool }), stop);
}

function isWorthRetrying(error: unknown): error is VerificationError {
  return error instanceof VerificationError && !(error instanceof WrongStreamError);
}
