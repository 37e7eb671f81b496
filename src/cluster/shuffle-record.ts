/**
 * What a shuffle task wrote, and where. It counts until the output is found damaged when it is read back: then the task
 * is not done, and writes its output once more. No note of damage is ever removed, so a late attempt changes nothing.
 */
import { basename, join } from 'node:path';
import { listNames, nameExists, statPath } from '../io/paths.js';
import { DAMAGED, type DamagedRegion, SHUFFLED, type ShuffledNote } from '../job-directory/notes.js';
import { stagedPath } from '../output/output-target.js';
import { recordNameOf } from './cluster-plan.js';
import type { ClusterJob } from './open-job.js';

export function readShuffled(jobDirectory: string, task: number, rewrite: number): ShuffledNote | undefined {
  return SHUFFLED.read(jobDirectory, recordNameOf('shuffle', task, rewrite));
}

/**
 * Where the shards of a task lie: in the directory of its attempt, or where a commit that was killed has moved them. A shard
 * of an earlier attempt may lie there as well.
 */
export async function pathsOfShards(
  { plan: { stagingDirectory }, patience }: Pick<ClusterJob, 'plan' | 'patience'>,
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
