/**
 * Which tasks are done. A task is done when its record has its name in the job directory: of a scatter task the indexes
 * of its slices, of another task a file of its own.
 */
import { join } from 'node:path';
import { nameSome } from '../errors.js';
import { statPath } from '../io/paths.js';
import { committedIndexPath } from '../job-directory/pile-set-commits.js';
import { type ArrayKind, recordNameOf, taskCountOf } from './cluster-plan.js';
import { type ClusterJob, notReady } from './open-job.js';
import { rewriteOf } from './shuffle-record.js';

export type FoundJob = Pick<ClusterJob, 'directory' | 'plan'>;

/** The tasks that are not done, as far as this machine sees. */
export function unfinishedTasks({ directory, plan }: FoundJob, kind: ArrayKind): number[] {
  const isSliceDone = (slice: number) => statPath(committedIndexPath(directory, slice), 'temp') !== undefined;
  const isNoted = (name: string) => statPath(join(directory, name), 'temp') !== undefined;
  const isDone = (task: number) => {
    if (kind === 'scatter') return (plan.scatterTasks[task] ?? []).every(isSliceDone);
    const isOfOutput = kind === 'shuffle' || kind === 'verify';
    return isNoted(recordNameOf(kind, task, isOfOutput ? rewriteOf(directory, task) : 0));
  };
  return Array.from({ length: taskCountOf(plan, kind) }, (_, task) => task).filter((task) => !isDone(task));
}

/** Waits until all tasks of a kind are done. @param isOver whether the job needs them no more. */
export async function requireDone(
  job: Pick<ClusterJob, 'directory' | 'plan' | 'patience'>,
  kind: ArrayKind,
  isOver: () => boolean = () => false,
): Promise<void> {
  const { directory, patience } = job;
  const isReady = () => unfinishedTasks(job, kind).length === 0 || isOver() || undefined;
  if ((await patience.untilFound(directory, isReady)) === true) return;
  throw notReady(unfinished(kind, unfinishedTasks(job, kind), directory));
}

/** The record of a task that is done may not be visible here yet. */
export async function readVisible<T>(
  { directory, patience }: Pick<ClusterJob, 'directory' | 'patience'>,
  kind: ArrayKind,
  task: number,
  read: () => T | undefined,
): Promise<T> {
  const record = await patience.untilFound(directory, read);
  if (record === undefined) throw notReady(unfinished(kind, [task], directory));
  return record;
}

export function unfinished(kind: ArrayKind, tasks: readonly number[], directory: string): string {
  const one = tasks.length === 1;
  return `${kind} task${one ? '' : 's'} ${nameSome(tasks.map(String))} of ${directory} ${one ? 'is' : 'are'} not done; run ${one ? 'it' : 'them'} first`;
}
