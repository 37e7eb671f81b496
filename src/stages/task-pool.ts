/**
 * Runs the tasks of a job: on the calling thread if the job is small, else on worker threads. `workers/tasks.ts` has the
 * table of tasks.
 */
import type { Piscina } from 'piscina';
import type { Outcome, ResultOf, TaskName, TaskOf, TaskProfile } from '../../workers/tasks.js';
import { taskThreadUrl } from '../../workers/thread-urls.js';
import { decodeError, SystemError } from '../errors.js';

/** Objects of threads are few and short-lived; without a limit, V8 lets this heap grow to three times the size. */
const YOUNG_GENERATION_MIB = 12;

export interface TaskPool {
  run<Name extends TaskName>(name: Name, task: TaskOf<Name>): Promise<ResultOf<Name>>;
  readonly threadCount: number;
  /** Ends the threads, which frees their memory. Safe to call twice. */
  destroy(): Promise<void>;
  /** Ends the threads, and starts so many new ones when there are tasks for them. */
  restart(threadCount: number): Promise<void>;
}

export type OnProfile = (profile: TaskProfile) => void;

export interface PoolSize {
  /** 0: tasks run on the calling thread. */
  readonly threadCount: number;
  /** Threads that start at once; the others start when there are tasks for them. */
  readonly startCount: number;
}

export async function openTaskPool(size: PoolSize, jobName: string, onProfile: OnProfile): Promise<TaskPool> {
  if (size.threadCount === 0) return callingThreadPool(jobName, onProfile);
  // First, because a bundle cannot load piscina either.
  const filename = taskThreadUrl().href;
  const { Piscina } = await import('piscina');
  const open = ({ threadCount, startCount }: PoolSize) =>
    threadPool(
      new Piscina({
        minThreads: Math.min(startCount, threadCount),
        maxThreads: threadCount,
        filename,
        name: 'runTask',
        idleTimeout: Number.POSITIVE_INFINITY,
        // Tasks that write a stream wait for their turn: no task may start before an earlier one.
        stricterFIFO: true,
        recordTiming: false,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
        // Tasks close their files themselves, some through a socket, which Node's own tracking does not see.
        trackUnmanagedFds: false,
      }),
      threadCount,
      onProfile,
    );
  let threads = open(size);
  return {
    run: (name, task) => threads.run(name, task),
    get threadCount() {
      return threads.threadCount;
    },
    destroy: () => threads.destroy(),
    restart: async (threadCount) => {
      await threads.destroy();
      threads = open({ threadCount, startCount: 0 });
    },
  };
}

function threadPool(piscina: Piscina, threadCount: number, onProfile: OnProfile): Omit<TaskPool, 'restart'> {
  // A thread that cannot start has no task: every waiting task fails with its error.
  let broken: SystemError | undefined;
  const waiting = new Set<(error: SystemError) => void>();
  piscina.on('error', (error: unknown) => {
    broken ??= workerError(error);
    for (const reject of waiting) reject(broken);
  });
  const isLoaded = watchLoading(piscina);
  let destroyed: Promise<void> | undefined;
  return {
    threadCount,
    run: async <Name extends TaskName>(name: Name, task: TaskOf<Name>) => {
      if (broken !== undefined) throw broken;
      const outcome = await new Promise<Outcome<ResultOf<Name>>>((resolve, reject) => {
        waiting.add(reject);
        piscina
          .run({ name, task })
          .then(resolve, (error: unknown) => reject(workerError(error)))
          .finally(() => waiting.delete(reject));
      });
      return unwrap(outcome, onProfile);
    },
    destroy: () => {
      destroyed ??= isLoaded().then(() => piscina.destroy());
      return destroyed;
    },
  };
}

/**
 * Returns a function that waits until all threads have loaded their tasks, or one has failed: Node never closes the
 * files that a thread has open if the thread is terminated while it loads.
 */
function watchLoading(piscina: Piscina): () => Promise<void> {
  let loadedCount = 0;
  let hasFailed = false;
  let wake = () => {};
  // The one message that threads send besides results.
  piscina.on('message', () => {
    loadedCount += 1;
    wake();
  });
  piscina.on('error', () => {
    hasFailed = true;
    wake();
  });
  return async () => {
    while (!hasFailed && loadedCount < piscina.threads.length) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}

async function callingThreadPool(jobName: string, onProfile: OnProfile): Promise<TaskPool> {
  const { runTask, forgetJob } = await import('../../workers/tasks.js');
  // Tasks of a job share one arena: on one thread they must not overlap.
  let last: Promise<unknown> = Promise.resolve();
  const destroy = async () => {
    await last;
    forgetJob(jobName);
  };
  return {
    threadCount: 1,
    run: (name, task) => {
      const done = last.then(() => runTask(name, task)).then((outcome) => unwrap(outcome, onProfile));
      last = done.catch(() => {});
      return done;
    },
    destroy,
    restart: destroy,
  };
}

function unwrap<Result>(outcome: Outcome<Result>, onProfile: OnProfile): Result {
  if ('error' in outcome) throw decodeError(outcome.error);
  if (outcome.profile !== undefined) onProfile(outcome.profile);
  return outcome.result;
}

/** The error for a worker thread that does not start, or ends before its task. */
export function workerError(error: unknown): SystemError {
  const reason = error instanceof Error ? error.message : String(error);
  // An error that a thread raises while it starts or loads its modules crosses without its errno; the text has it.
  if (/\bEMFILE\b/.test(reason)) {
    return new SystemError('ERR_WORKER', 'cannot start a worker thread: too many open files (raise `ulimit -n`)', {
      cause: error,
    });
  }
  return new SystemError(
    'ERR_WORKER',
    `a worker thread did not start or ended before its task: ${reason}; if memory or open files ran out, give less to \`memoryBytes\` or use fewer \`workers\``,
    { cause: error },
  );
}
