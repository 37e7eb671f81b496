/**
 * Runs the tasks of a job: on the calling thread when the job is small, else on worker threads.
 * At most twice as many tasks as threads are handed out at one time, so the list of tasks may be long.
 */
import type { Piscina } from 'piscina';
import type { Outcome, ScatterResult, ScatterTask } from '../../workers/scatter.js';
import type { ShuffleResult, ShuffleTask } from '../../workers/shuffle.js';
import { AbortedError, decodeError, SystemError } from '../errors.js';
import { type JobStop, promiseWithResolver } from './job-stop.js';

const scatterUrl = new URL('../../workers/scatter.js', import.meta.url);
const shuffleUrl = new URL('../../workers/shuffle.js', import.meta.url);

/** How long tasks may take to notice that they are to stop, before their threads are ended. */
const STOP_MILLISECONDS = 1000;

export interface TaskPool {
  scatter(task: ScatterTask): Promise<ScatterResult>;
  shuffle(task: ShuffleTask): Promise<ShuffleResult>;
  readonly threadCount: number;
  /** Ends the threads. */
  destroy(): Promise<void>;
}

/** A pool of `threadCount` threads for the job of this name; 0: tasks run on the calling thread. */
export async function openTaskPool(threadCount: number, jobName: string): Promise<TaskPool> {
  if (threadCount === 0) return inlinePool(jobName);
  const { Piscina } = await import('piscina');
  return threadPool(
    new Piscina({
      minThreads: threadCount,
      maxThreads: threadCount,
      maxQueue: Number.POSITIVE_INFINITY,
      recordTiming: false,
    }),
    threadCount,
  );
}

function threadPool(piscina: Piscina, threadCount: number): TaskPool {
  const run = async <T>(filename: string, task: unknown): Promise<T> => {
    let outcome: Outcome<T>;
    try {
      outcome = await piscina.run(task, { filename });
    } catch (error) {
      throw new SystemError(
        'ERR_WORKER',
        `a worker thread ended before its task: ${error instanceof Error ? error.message : error}; if memory ran out, give less to --memory or use fewer --workers`,
        { cause: error },
      );
    }
    return unwrap(outcome);
  };
  return {
    threadCount,
    scatter: (task) => run(scatterUrl.href, task),
    shuffle: (task) => run(shuffleUrl.href, task),
    destroy: () => piscina.destroy(),
  };
}

async function inlinePool(jobName: string): Promise<TaskPool> {
  const [scatter, shuffle, { forgetJob }] = await Promise.all([
    import('../../workers/scatter.js'),
    import('../../workers/shuffle.js'),
    import('../../workers/job-share.js'),
  ]);
  // Tasks of a job share one arena: on one thread they must not overlap.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(task: () => Promise<Outcome<T>>): Promise<T> => {
    const done = last.then(task).then(unwrap<T>);
    last = done.catch(() => {});
    return done;
  };
  return {
    threadCount: 1,
    scatter: (task) => inTurn(() => scatter.default(task)),
    shuffle: (task) => inTurn(() => shuffle.default(task)),
    destroy: async () => {
      await last;
      forgetJob(jobName);
    },
  };
}

function unwrap<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw decodeError(outcome.error);
  return outcome.result;
}

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
  const start = (task: Task) => {
    const done = run(task)
      .then((result) => onResult(result, task))
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
  if (failure !== undefined) throw failure;
  if (stop.isRequested) throw new AbortedError();
}
