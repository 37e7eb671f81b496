/**
 * Pass 2, as the coordinator sees it: one task a range of merged piles, each checked against pass 1
 * before the stripe it came from is deleted.
 */
import type { ShuffleResult, ShuffleTask } from '../../workers/tasks/shuffle.js';
import { type FinishedRange, writeFinishedRanges } from '../job-directory/finished-ranges.js';
import type { OutputTarget, WrittenRegion } from '../output/output-target.js';
import { pilesOfStripe, stripeOfPile } from '../pile-sets/pile-layout.js';
import { type PileRange, planPileRanges } from '../plan/pile-ranges.js';
import { verifyFinishedRanges } from './finished-output.js';
import { committing, GroupCommit } from './group-commit.js';
import { inTurn } from './in-turn.js';
import type { JobContext, KeptWork, ScatteredPiles } from './job-context.js';
import { pilesTask } from './piles-task.js';
import { runTasks } from './run-tasks.js';
import { findStarts } from './shard-starts.js';
import { StripeRemoval } from './stripe-removal.js';
import { verifyRange } from './verify.js';

/** Tasks of at least this much output are worth handing out. */
const RANGE_BYTES = 4 * 2 ** 20;
/**
 * Tasks a thread, when each record has its place: inside a task a pile is loaded while the last one is still being
 * written, and with shards each task may need one pile to be measured first. Tasks that take turns keep all threads
 * busy with one pile each.
 */
const FILE_RANGES_PER_THREAD = 8;

interface WriteTask {
  readonly range: PileRange;
  readonly task: ShuffleTask;
}

/** @throws VerificationError when a pile does not come out as it went in, or what was finished before has changed. */
export async function shufflePiles(
  job: JobContext,
  scattered: ScatteredPiles,
  target: OutputTarget,
): Promise<WrittenRegion[]> {
  const { totals } = scattered;
  const { layout } = job.share;
  const isStripeEnd = (pile: number) => pilesOfStripe(layout, stripeOfPile(layout, pile)).end === pile + 1;
  const takesTurns = target.kind !== 'placed';
  const mayBeMeasured = !takesTurns && target.cuts.shardCount > 1;
  const rangeBytes = takesTurns
    ? RANGE_BYTES
    : Math.max(RANGE_BYTES, scattered.bytes / (FILE_RANGES_PER_THREAD * job.pool.threadCount));
  const { kept } = job;
  const finished = kept?.finished.ranges ?? [];
  const isFinished = new Uint8Array(totals.records.length);
  for (const { first, end } of finished) isFinished.fill(1, first, end);
  const stripes = new StripeRemoval(job, scattered);
  const commits = kept === undefined ? undefined : commitsOf(job, kept, stripes);
  const done = ({ first, end }: PileRange, regionsOfRange: readonly WrittenRegion[]) => {
    if (commits === undefined) stripes.pilesDone({ first, end });
    else commits.add({ first, end, regions: regionsOfRange });
  };
  const regions = finished.flatMap((range) => range.regions);
  await verifyFinishedRanges(job, totals, target);
  for (const range of finished) stripes.pilesDone(range);
  const takeOne = (result: ShuffleResult, { range }: { range: PileRange }) => {
    verifyRange(totals, range, result);
    regions.push(...result.regions);
    done(range, result.regions);
  };
  // What is recorded of files that are appended to must be all that lies before the rest.
  const take = takesTurns ? inTurn(takeOne, ({ task }: WriteTask) => task.start.turn) : takeOne;
  // Where they take turns, every task that was handed out has a thread, so that the one whose turn it is runs.
  const concurrency = takesTurns ? job.pool.threadCount : 2 * job.pool.threadCount;
  const isRangeEnd = mayBeMeasured ? () => false : isStripeEnd;
  await committing(commits, async () => {
    const ranges: PileRange[] = [];
    for (const range of planPileRanges(totals, rangeBytes, isRangeEnd, (pile) => isFinished[pile] === 1)) {
      if (totals.recordBytes.subarray(range.first, range.end).some((bytes) => bytes > 0)) ranges.push(range);
      else done(range, []);
    }
    const starts = await findStarts(job, scattered, target, ranges, isFinished);
    const tasks = ranges.map((range, turn): WriteTask => {
      const start = starts[turn];
      if (start === undefined) throw new RangeError(`range ${turn} has no place to begin`);
      return { range, task: { ...pilesTask(job, scattered, `range-${turn}`), range, target, start } };
    });
    await runTasks(tasks, ({ task }) => job.pool.shuffle(task), take, concurrency, job.stop);
  });
  return regions;
}

/** Stripes are deleted when what was made from them is sure to be there after a power failure. */
function commitsOf(job: JobContext, kept: KeptWork, stripes: StripeRemoval): GroupCommit<FinishedRange> {
  let { recordCount } = kept.finished;
  return new GroupCommit(
    async (ranges) => {
      await kept.output.makeDurable(ranges.flatMap((range) => range.regions));
      await writeFinishedRanges(job.share.layout.indexDirectory, recordCount + 1, ranges);
      recordCount += 1;
      for (const range of ranges) stripes.pilesDone(range);
    },
    () => job.stop.request(),
  );
}
