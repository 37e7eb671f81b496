/**
 * What an earlier run of the job finished of the output, compared with what its records say before it is
 * relied on: its piles may be gone, so that it could not be made again.
 */
import type { ReadBackResult } from '../../workers/tasks/read-back.js';
import { StagedOutputError } from '../errors.js';
import type { FinishedRange } from '../job-directory/finished-ranges.js';
import { type OutputTarget, recordBytesOf, stagedPath } from '../output/output-target.js';
import type { PileTotals } from '../plan/pile-ranges.js';
import type { JobContext } from './job-context.js';
import { runTasks } from './run-tasks.js';

/**
 * Reads all of it back.
 * @throws StagedOutputError when it is not what was written, or not what the piles of these ranges hold.
 */
export async function verifyFinishedRanges(job: JobContext, totals: PileTotals, target: OutputTarget): Promise<void> {
  const ranges = job.kept?.finished.ranges ?? [];
  if (target.kind === 'stream' || ranges.length === 0) return;
  const { stagingDirectory, headerBytes, gate } = target;
  for (const range of ranges) requireFits(range, totals, stagingDirectory);
  if (target.kind === 'appended') requireFromTheBeginning(ranges, totals, stagingDirectory);
  const compare = (found: ReadBackResult, { regions }: FinishedRange) => {
    for (const [i, { shard, start, end, checksum }] of regions.entries()) {
      if (found[i] === checksum) continue;
      const path = stagedPath(stagingDirectory, shard);
      throw new StagedOutputError(
        `bytes ${headerBytes + start} to ${headerBytes + end} of the staged output ${path} are not what the unfinished job wrote there`,
      );
    }
  };
  await runTasks(
    ranges.filter(({ regions }) => regions.length > 0),
    ({ regions }) => job.pool.readBack({ job: job.share, stagingDirectory, headerBytes, gate, regions }),
    compare,
    2 * job.pool.threadCount,
    job.stop,
  );
}

/** Where shards begin is computed from these regions: in order, all but the first from the beginning of a shard. */
function requireFits({ first, end, regions }: FinishedRange, totals: PileTotals, stagingDirectory: string): void {
  const expectedBytes = totals.recordBytes.subarray(first, end).reduce((sum, bytes) => sum + bytes, 0);
  const bytes = recordBytesOf(regions);
  const areInOrder = regions.every(({ shard, start }, i) => {
    const before = regions[i - 1];
    return before === undefined || (start === 0 && shard > before.shard);
  });
  if (bytes === expectedBytes && areInOrder) return;
  throw new StagedOutputError(
    `${bytes} bytes in ${stagingDirectory} are said to hold piles ${first} to ${end}, which have ${expectedBytes} bytes or lie elsewhere`,
  );
}

/** What is appended now lies behind what was finished: no pile may be missing before that, and no byte. */
function requireFromTheBeginning(ranges: readonly FinishedRange[], totals: PileTotals, stagingDirectory: string): void {
  let pile = 0;
  let last = { shard: 0, end: 0 };
  const otherwise = (what: string) =>
    new StagedOutputError(`${what} is said to lie in ${stagingDirectory} behind what is not there`);
  for (const { first, end, regions } of ranges.toSorted((a, b) => a.first - b.first)) {
    if (regions.length === 0) continue;
    if (totals.recordBytes.subarray(pile, first).some((bytes) => bytes > 0)) throw otherwise(`pile ${first}`);
    pile = end;
    for (const { shard, start, end: regionEnd } of regions) {
      const expectedStart = shard === last.shard ? last.end : 0;
      if (shard < last.shard || start !== expectedStart) throw otherwise(`byte ${start} of shard ${shard}`);
      last = { shard, end: regionEnd };
    }
  }
}
