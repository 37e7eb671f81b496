/**
 * What an earlier run of the job finished of the output, compared with what its records say before it is
 * relied on: its piles may be gone, so that it could not be made again.
 */
import type { ReadBackResult } from '../../../workers/read-back.js';
import { StagedOutputError } from '../../errors.js';
import type { FinishedRun } from '../../job-directory/finished-runs.js';
import { type OutputTarget, stagedPath } from '../../output/output-target.js';
import type { PileTotals } from '../../plan/pile-runs.js';
import type { JobContext } from './job-context.js';
import { runTasks } from './run-tasks.js';

/**
 * Reads all of it back.
 * @throws StagedOutputError when it is not what was written, or not what the piles of these runs hold.
 */
export async function verifyFinishedRuns(job: JobContext, totals: PileTotals, target: OutputTarget): Promise<void> {
  const runs = job.kept?.finished.runs ?? [];
  if (target.kind === 'stream' || runs.length === 0) return;
  const { stagingDirectory, headerBytes, gate } = target;
  for (const run of runs) requireFits(run, totals, stagingDirectory);
  const compare = (found: ReadBackResult, { regions }: FinishedRun) => {
    for (const [i, { shard, start, end, checksum }] of regions.entries()) {
      if (found[i] === checksum) continue;
      const path = stagedPath(stagingDirectory, shard);
      throw new StagedOutputError(
        `bytes ${headerBytes + start} to ${headerBytes + end} of the staged output ${path} are not what the unfinished job wrote there`,
      );
    }
  };
  await runTasks(
    runs.filter(({ regions }) => regions.length > 0),
    ({ regions }) => job.pool.readBack({ job: job.share, stagingDirectory, headerBytes, gate, regions }),
    compare,
    2 * job.pool.threadCount,
    job.stop,
  );
}

/** Where shards begin is computed from these regions: in order, all but the first from the beginning of a shard. */
function requireFits({ first, end, regions }: FinishedRun, totals: PileTotals, stagingDirectory: string): void {
  const expectedBytes = totals.recordBytes.subarray(first, end).reduce((sum, bytes) => sum + bytes, 0);
  const bytes = regions.reduce((sum, region) => sum + region.end - region.start, 0);
  const areInOrder = regions.every(({ shard, start }, i) => {
    const before = regions[i - 1];
    return before === undefined || (start === 0 && shard > before.shard);
  });
  if (bytes === expectedBytes && areInOrder) return;
  throw new StagedOutputError(
    `${bytes} bytes in ${stagingDirectory} are said to hold piles ${first} to ${end}, which have ${expectedBytes} bytes or lie elsewhere`,
  );
}
