/**
 * Which tasks are done. A task is done when its note has its name in the job directory: of a scatter task the indexes of
 * its slices, of another task a file of its own. A shuffle task is done until its output is found damaged when it is read
 * back: then it writes its output once more. No note of damage is ever removed, so a late attempt changes nothing.
 */
import { basename, join } from 'node:path';
import { listNames, nameExists, statPath } from '../io/paths.js';
import { DAMAGED, type DamagedRegion, SHUFFLED, type ShuffledNote } from '../job-directory/notes.js';
import { committedIndexPath } from '../job-directory/pile-set-commits.js';
import { nameSome } from '../quantity.js';
import { stagedPath } from '../sinks/output-target.js';
import { type ArrayKind, recordNameOf, taskCountOf } from './cluster-plan.js';
import { type ClusterJob, notReady } from './open-job.js';

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

export function unfinished(kind: ArrayKind, tasks: readonly number[], directory: string): string {
  const one = tasks.length === 1;
  return `${kind} task${one ? '' : 's'} ${nameSome(tasks.map(String))} of ${directory} ${one ? 'is' : 'are'} not done; run ${one ? 'it' : 'them'} first`;
}

export function readShuffled(jobDirectory: string, task: number, rewrite: number): ShuffledNote | undefined {
  return SHUFFLED.read(jobDirectory, recordNameOf('shuffle', task, rewrite));
}

/**
 * Where the shards of a task lie: in the directory of its attempt, or where a commit that was killed has moved them. A shard
 * of an earlier attempt may lie there as well.
 */
export async function pathsOfShards(
  { plan: { stagingDirectory }, patience }: ClusterJob,
  { own, ranges }: ShuffledNote,
): Promise<(shard: number) => string> {
  const isEmpty = ranges.every(({ regions }) => regions.length === 0);
  if (own === null || isEmpty) return (shard) => stagedPath(stagingDirectory, shard);
  const directory = join(stagingDirectory, own);
  const names = await patience.untilFound(stagingDirectory, () =>
    nameExists(directory, 'output') ? new Set(listNames(directory, 'output')) : undefined,
  );
  return (shard) => {
    const inOwn = stagedPath(directory, shard);
    const moved = stagedPath(stagingDirectory, shard);
    return names !== undefined && !names.has(basename(inOwn)) && nameExists(moved, 'output') ? moved : inOwn;
  };
}

/** How often the output of a shuffle task was found damaged. */
export function rewriteOf(jobDirectory: string, task: number): number {
  let rewrite = 0;
  while (statPath(join(jobDirectory, recordNameOf('damaged', task, rewrite)), 'temp') !== undefined) rewrite += 1;
  return rewrite;
}

export function lastDamage(jobDirectory: string, task: number): readonly DamagedRegion[] {
  const rewrite = rewriteOf(jobDirectory, task) - 1;
  if (rewrite < 0) return [];
  return DAMAGED.read(jobDirectory, recordNameOf('damaged', task, rewrite))?.regions ?? [];
}
