/** What a shuffle task wrote, and where. It counts until the output is found damaged; then the task makes another. */
import { basename, join } from 'node:path';
import { fileName, list, nullable, object, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames, nameExists } from '../io/paths.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createOnce } from '../io/small-file.js';
import { finishedRange } from '../job-directory/finished-ranges.js';
import { stagedPath } from '../output/output-target.js';
import { CLUSTER_REMEDY, recordNameOf } from './cluster-plan.js';
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

const format = new SealedFormat({
  kind: 'cluster-shuffle',
  version: 3,
  mostBytes: 2 ** 28,
  role: 'temp',
  shape,
  remedy: CLUSTER_REMEDY,
});

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
