/**
 * What a shuffle task wrote, and where. It counts until the output is found damaged when it is read back: then the task
 * is not done, and writes its output once more. No note of damage is ever removed, so a late attempt changes nothing.
 */
import { basename, join } from 'node:path';
import { fileName, list, nullable, object, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames, nameExists, statPath } from '../io/paths.js';
import { createOnce } from '../io/small-file.js';
import { finishedRange } from '../job-directory/finished-ranges.js';
import { stagedPath } from '../output/output-target.js';
import { formatOfJob, recordNameOf } from './cluster-plan.js';
import type { ClusterJob } from './open-job.js';

const shape = object({
  task: wholeNumber(),
  /** How often the output of the task had been found damaged before. */
  rewrite: wholeNumber(),
  /** The directory in the staging directory that holds the shards of this attempt; null: it wrote to those of all. */
  own: nullable(fileName),
  /** Regions are counted from the end of the header of their file. */
  headerBytes: wholeNumber(),
  ranges: list(finishedRange),
});

export type ShuffleRecord = ValueOf<typeof shape>;

const format = formatOfJob('cluster-shuffle', 3, 2 ** 28, shape);

/** @returns whether this attempt was the first. */
export function writeShuffleRecord(jobDirectory: string, record: ShuffleRecord): Promise<boolean> {
  return createOnce(jobDirectory, recordNameOf('shuffle', record.task, record.rewrite), format.seal(record));
}

export function readShuffleRecord(jobDirectory: string, task: number, rewrite: number): ShuffleRecord | undefined {
  return format.read(join(jobDirectory, recordNameOf('shuffle', task, rewrite)));
}

/**
 * Where the shards of a task lie: in the directory of its attempt, or where a commit that was killed has moved them. A shard
 * of an earlier attempt may lie there as well.
 */
export async function pathsOfShards(
  { plan: { stagingDirectory }, patience }: Pick<ClusterJob, 'plan' | 'patience'>,
  { own, ranges }: ShuffleRecord,
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

/** Bytes of a staged file. */
const damagedRegion = object({ path: text, start: wholeNumber(), end: wholeNumber() });

export type DamagedRegion = ValueOf<typeof damagedRegion>;

const damageFormat = formatOfJob('cluster-damage', 1, 2 ** 28, object({ regions: list(damagedRegion) }));

export async function noteDamage(
  jobDirectory: string,
  { task, rewrite }: ShuffleRecord,
  regions: readonly DamagedRegion[],
): Promise<void> {
  await createOnce(jobDirectory, recordNameOf('damaged', task, rewrite), damageFormat.seal({ regions }));
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
  return damageFormat.read(join(jobDirectory, recordNameOf('damaged', task, rewrite)))?.regions ?? [];
}
