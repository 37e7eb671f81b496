/**
 * The first thing that a task looks for: the directory in which outputs are staged. A directory of the same path on a disk
 * of its own does not have it. So a machine that does not see the output is found out before it has read a byte.
 */
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { UsageError } from '../errors.js';
import { statPath } from '../io/paths.js';
import { type ClusterJob, isCommitted } from './open-job.js';

/** @throws UsageError ERR_OUTPUT_PLACE */
export async function requireStaging({ directory, plan, patience }: ClusterJob): Promise<void> {
  const { stagingDirectory, output } = plan;
  const isThere = () =>
    statPath(stagingDirectory, 'output')?.isDirectory() === true || isCommitted(directory) || undefined;
  if ((await patience.untilFound(dirname(stagingDirectory), isThere)) === true) return;
  throw new UsageError(
    `${hostname()} does not see ${stagingDirectory}, which the plan made for the output ${output.path}; put the output on storage that all machines share`,
    'ERR_OUTPUT_PLACE',
  );
}
