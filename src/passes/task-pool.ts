/**
 * Where the tasks of a job run: on the calling thread when the job is small, else on worker threads.
 */
import type { Piscina } from 'piscina';
import { taskThreadUrl } from '../../workers/task-thread-url.js';
import type { CountTask } from '../../workers/tasks/count-byte.js';
import type { LoadResult, LoadTask } from '../../workers/tasks/load-portion.js';
import type { MeasureResult, MeasureTask } from '../../workers/tasks/measure-cut.js';
import type { NoteResult, NoteTask } from '../../workers/tasks/note-records.js';
import type { Outcome, TaskProfile } from '../../workers/tasks/outcome.js';
import type { ReadBackResult, ReadBackTask } from '../../workers/tasks/read-back.js';
import type { ScatterResult, ScatterTask } from '../../workers/tasks/scatter.js';
import type { ShuffleResult, ShuffleTask } from '../../workers/tasks/shuffle.js';
import { decodeError, type SystemError } from '../errors.js';
import { workerError } from './worker-error.js';

/** What threads allocate lives shortly and is little; without a limit V8 lets it grow to three times that. */
const YOUNG_GENERATION_MIB = 12;

export interface TaskPool {
  count(task: CountTask): Promise<number>;
  scatter(task: ScatterTask): Promise<ScatterResult>;
  measure(task: MeasureTask): Promise<MeasureResult>;
  note(task: NoteTask): Promise<NoteResult>;
  shuffle(task: ShuffleTask): Promise<ShuffleResult>;
  readBack(task: ReadBackTask): Promise<ReadBackResult>;
  load(task: LoadTask): Promise<LoadResult>;
  readonly threadCount: number;
  /** Ends the threads. Safe to call twice. */
  destroy(): Promise<void>;
}

type TaskName = Exclude<keyof typeof import('../../workers/tasks.js'), 'forgetJob'>;

/** Takes over where the time of a task went, when the job is profiled. */
export type OnProfile = (profile: TaskProfile) => void;

export interface PoolSize {
  /** 0: tasks run on the calling thread. */
  readonly threadCount: number;
  /** Threads that are started at once; the others when there are tasks for them. */
  readonly startCount: number;
}

/** A pool for the job of this name. */
export async function openTaskPool(
  { threadCount, startCount }: PoolSize,
  jobName: string,
  onProfile: OnProfile,
): Promise<TaskPool> {
  if (threadCount === 0) return inlinePool(jobName, onProfile);
  const { Piscina } = await import('piscina');
  return threadPool(
    new Piscina({
      minThreads: Math.min(startCount, threadCount),
      maxThreads: threadCount,
      // Threads load the file as they start; the name is only one that they find in it.
      filename: taskThreadUrl.href,
      name: 'scatter' satisfies TaskName,
      idleTimeout: Number.POSITIVE_INFINITY,
      // Tasks that write a stream wait for their turn: one must never be started before an earlier one.
      stricterFIFO: true,
      recordTiming: false,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
      // Files are closed by the tasks, some through a socket, which Node's own tracking does not see.
      trackUnmanagedFds: false,
    }),
    threadCount,
    onProfile,
  );
}

function threadPool(piscina: Piscina, threadCount: number, onProfile: OnProfile): TaskPool {
  // A thread that cannot even start belongs to no task: all that wait hear of it.
  let broken: SystemError | undefined;
  const waiting = new Set<(error: SystemError) => void>();
  piscina.on('error', (error: unknown) => {
    broken ??= workerError(error);
    for (const reject of waiting) reject(broken);
  });
  const run = async <T>(name: TaskName, task: unknown): Promise<T> => {
    if (broken !== undefined) throw broken;
    const outcome = await new Promise<Outcome<T>>((resolve, reject) => {
      waiting.add(reject);
      piscina
        .run(task, { name })
        .then(resolve, (error: unknown) => reject(workerError(error)))
        .finally(() => waiting.delete(reject));
    });
    return unwrap(outcome, onProfile);
  };
  const isLoaded = watchLoading(piscina);
  let destroyed: Promise<void> | undefined;
  return {
    threadCount,
    count: (task) => run('count', task),
    scatter: (task) => run('scatter', task),
    measure: (task) => run('measure', task),
    note: (task) => run('note', task),
    shuffle: (task) => run('shuffle', task),
    readBack: (task) => run('readBack', task),
    load: (task) => run('load', task),
    destroy: () => {
      destroyed ??= isLoaded().then(() => piscina.destroy());
      return destroyed;
    },
  };
}

/**
 * @returns waits until all threads have loaded their tasks, or one has failed: Node never closes the files that a
 *   thread has open when it is terminated meanwhile.
 */
function watchLoading(piscina: Piscina): () => Promise<void> {
  let loadedCount = 0;
  let hasFailed = false;
  let wake = () => {};
  // The one message that threads send beside results.
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

async function inlinePool(jobName: string, onProfile: OnProfile): Promise<TaskPool> {
  const tasks = await import('../../workers/tasks.js');
  // Tasks of a job share one arena: on one thread they must not overlap.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(task: () => Promise<Outcome<T>>): Promise<T> => {
    const done = last.then(task).then((outcome) => unwrap(outcome, onProfile));
    last = done.catch(() => {});
    return done;
  };
  return {
    threadCount: 1,
    count: (task) => inTurn(() => tasks.count(task)),
    scatter: (task) => inTurn(() => tasks.scatter(task)),
    measure: (task) => inTurn(() => tasks.measure(task)),
    note: (task) => inTurn(() => tasks.note(task)),
    shuffle: (task) => inTurn(() => tasks.shuffle(task)),
    readBack: (task) => inTurn(() => tasks.readBack(task)),
    load: (task) => inTurn(() => tasks.load(task)),
    destroy: async () => {
      await last;
      tasks.forgetJob(jobName);
    },
  };
}

function unwrap<T>(outcome: Outcome<T>, onProfile: OnProfile): T {
  if ('error' in outcome) throw decodeError(outcome.error);
  if (outcome.profile !== undefined) onProfile(outcome.profile);
  return outcome.result;
}
