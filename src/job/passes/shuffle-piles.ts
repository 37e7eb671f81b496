/**
 * Pass 2, as the coordinator sees it: one task a run of merged piles, each checked against pass 1
 * before the stripe it came from is deleted.
 */
import type { ShuffleResult, ShuffleTask } from '../../../workers/shuffle.js';
import { type FinishedRun, writeFinishedRuns } from '../../job-directory/finished-runs.js';
import type { JobOutput } from '../../output/job-output.js';
import type { OutputTarget, WrittenRegion } from '../../output/output-target.js';
import { pilesOfStripe, stripeOfPile } from '../../pile-store/store-layout.js';
import { type PileRun, planPileRuns } from '../../plan/pile-runs.js';
import { verifyFinishedRuns } from './finished-output.js';
import { committing, GroupCommit } from './group-commit.js';
import { inTurn } from './in-turn.js';
import type { JobContext, KeptWork, ScatteredPiles } from './job-context.js';
import { pilesTask } from './piles-task.js';
import { runTasks } from './run-tasks.js';
import { findStarts } from './shard-starts.js';
import { StripeRemoval } from './stripe-removal.js';
import { verifyRun } from './verify.js';

/** Tasks of at least this much output are worth handing out. */
const RUN_BYTES = 4 * 2 ** 20;
/**
 * Tasks a thread, when each record has its place: inside a task a pile is loaded while the last one is still being
 * written, and with shards each task may need one pile to be measured first. Tasks that take turns keep all threads
 * busy with one pile each.
 */
const FILE_RUNS_PER_THREAD = 8;

interface WriteTask {
  readonly run: PileRun;
  readonly task: ShuffleTask;
}

/** @throws VerificationError when a pile does not come out as it went in, or what was finished before has changed. */
export async function shufflePiles(
  job: JobContext,
  scattered: ScatteredPiles,
  output: JobOutput,
  target: OutputTarget,
): Promise<WrittenRegion[]> {
  const { totals } = scattered;
  const { layout } = job.share;
  const isStripeEnd = (pile: number) => pilesOfStripe(layout, stripeOfPile(layout, pile)).end === pile + 1;
  const takesTurns = target.kind !== 'placed';
  const mayBeMeasured = !takesTurns && target.cuts.shardCount > 1;
  const runBytes = takesTurns
    ? RUN_BYTES
    : Math.max(RUN_BYTES, scattered.bytes / (FILE_RUNS_PER_THREAD * job.pool.threadCount));
  const { kept } = job;
  const finished = kept?.finished.runs ?? [];
  const isFinished = new Uint8Array(totals.records.length);
  for (const { first, end } of finished) isFinished.fill(1, first, end);
  const stripes = new StripeRemoval(job, scattered);
  const commits = kept === undefined ? undefined : commitsOf(job, kept, output, stripes);
  const done = ({ first, end }: PileRun, regionsOfRun: readonly WrittenRegion[]) => {
    if (commits === undefined) stripes.pilesDone({ first, end });
    else commits.add({ first, end, regions: regionsOfRun });
  };
  const regions = finished.flatMap((run) => run.regions);
  await verifyFinishedRuns(job, totals, target);
  for (const run of finished) stripes.pilesDone(run);
  const takeOne = (result: ShuffleResult, { run }: { run: PileRun }) => {
    verifyRun(totals, run, result);
    regions.push(...result.regions);
    done(run, result.regions);
  };
  // What is recorded of files that are appended to must be all that lies before the rest.
  const take = takesTurns ? inTurn(takeOne, ({ task }: WriteTask) => task.start.turn) : takeOne;
  // Where they take turns, every task that was handed out has a thread, so that the one whose turn it is runs.
  const concurrency = takesTurns ? job.pool.threadCount : 2 * job.pool.threadCount;
  const isRunEnd = mayBeMeasured ? () => false : isStripeEnd;
  await committing(commits, async () => {
    const runs: PileRun[] = [];
    for (const run of planPileRuns(totals, runBytes, isRunEnd, (pile) => isFinished[pile] === 1)) {
      if (totals.recordBytes.subarray(run.first, run.end).some((bytes) => bytes > 0)) runs.push(run);
      else done(run, []);
    }
    const starts = await findStarts(job, scattered, target, runs, isFinished);
    const tasks = runs.map((run, turn): WriteTask => {
      const start = starts[turn];
      if (start === undefined) throw new RangeError(`run ${turn} has no place to begin`);
      return { run, task: { ...pilesTask(job, scattered, `run-${turn}`), run, target, start } };
    });
    await runTasks(tasks, ({ task }) => job.pool.shuffle(task), take, concurrency, job.stop);
  });
  return regions;
}

/** Stripes are deleted when what was made from them is sure to be there after a power failure. */
function commitsOf(
  job: JobContext,
  kept: KeptWork,
  output: JobOutput,
  stripes: StripeRemoval,
): GroupCommit<FinishedRun> {
  let { recordCount } = kept.finished;
  return new GroupCommit(
    async (runs) => {
      await output.makeDurable(runs.flatMap((run) => run.regions));
      await writeFinishedRuns(job.share.layout.indexDirectory, recordCount + 1, runs);
      recordCount += 1;
      for (const run of runs) stripes.pilesDone(run);
    },
    () => job.stop.request(),
  );
}
