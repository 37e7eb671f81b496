/** What the shuffle tasks write and the commit gives its names: the output, and the list of dropped records beside it. */
import { join } from 'node:path';
import { listNames, nameExists } from '../io/paths.js';
import type { OutputLayout } from '../output/output-layout.js';
import type { FilesPlace } from '../output/output-place.js';
import { stagedPath } from '../output/output-target.js';
import type { ScatteredPiles } from '../passes/scattered-piles.js';
import type { ClusterJob } from './open-job.js';
import type { WrittenShare } from './shuffle-record.js';

export interface StagedFiles {
  readonly place: FilesPlace;
  readonly stagingDirectory: string;
  readonly layout: OutputLayout;
  readonly piles: ScatteredPiles;
}

/**
 * Where the shards of a task lie: in the directory of its attempt, or where a commit that was killed has moved them. A shard
 * of an earlier attempt may lie there as well.
 */
export async function pathsOfShards(
  { patience }: Pick<ClusterJob, 'patience'>,
  stagingDirectory: string,
  { own, ranges }: WrittenShare,
): Promise<(shard: number) => string> {
  const isEmpty = ranges.every(({ regions }) => regions.length === 0);
  if (own === null || isEmpty) return (shard) => stagedPath(stagingDirectory, shard);
  const directory = join(stagingDirectory, own);
  const names = await patience.untilFound(stagingDirectory, () =>
    nameExists(directory, 'output')
      ? new Set(listNames(directory, 'output').map((name) => join(directory, name)))
      : undefined,
  );
  return (shard) => {
    const inOwn = stagedPath(directory, shard);
    const moved = stagedPath(stagingDirectory, shard);
    return names !== undefined && !names.has(inOwn) && nameExists(moved, 'output') ? moved : inOwn;
  };
}
