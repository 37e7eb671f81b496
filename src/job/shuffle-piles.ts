/**
 * Pass 2, as the coordinator sees it: one task a run of merged piles, each checked against pass 1
 * before the stripe it came from is deleted.
 */
import type { ShuffleResult, ShuffleTask } from '../../workers/shuffle.js';
import { removeFile } from '../io/files.js';
import { type FinishedRun, writeFinishedRuns } from '../job-directory/finished-runs.js';
import type { JobOutput } from '../output/job-output.js';
import type { SinkStart } from '../output/output-sink.js';
import type { OutputTarget, WrittenRegion } from '../output/output-target.js';
import { dataFilePath, pilesOfStripe, stripeOfPile } from '../pile-store/store-layout.js';
import { type PileRun, type PileTotals, planPileRuns } from '../plan/pile-runs.js';
import { cutAt, type ShardCuts, shardAt } from '../plan/shard-cuts.js';
import { committing, GroupCommit } from './group-commit.js';
import type { JobContext, KeptWork, ScatteredPiles } from './job-context.js';
import { runTasks } from './run-tasks.js';
import { verifyRun } from './verify.js';

/** Tasks of at least this much output are worth handing out. */
const RUN_BYTES = 4 * 2 ** 20;
/**
 * Tasks a thread, when they write files: inside a task a pile is loaded while the last one is still being
 * written, and with shards each task may need one pile to be measured first. In a stream tasks take
 * turns, and one pile each keeps all threads busy.
 */
const FILE_RUNS_PER_THREAD = 8;

/** @throws VerificationError when a pile does not come out as it went in. */
export async function shufflePiles(
  job: JobContext,
  scattered: ScatteredPiles,
  output: JobOutput,
  target: OutputTarget,
): Promise<WrittenRegion[]> {
  const { totals } = scattered;
  const { layout } = job.share;
  const isStripeEnd = (pile: number) => pilesOfStripe(layout, stripeOfPile(layout, pile)).end === pile + 1;
  const sharded = target.kind === 'files' && target.cuts.shardCount > 1;
  const runBytes =
    target.kind === 'files'
      ? Math.max(RUN_BYTES, scattered.bytes / (FILE_RUNS_PER_THREAD * job.pool.threadCount))
      : RUN_BYTES;
  const { kept } = job;
  const finished = kept?.finished.runs ?? [];
  const isFinished = new Uint8Array(totals.records.length);
  for (const { first, end } of finished) isFinished.fill(1, first, end);
  const runs: PileRun[] = [];
  const stripes = new StripeRemoval(job, scattered);
  const commits = kept === undefined ? undefined : commitsOf(job, kept, output, stripes);
  const done = ({ first, end }: PileRun, regionsOfRun: readonly WrittenRegion[]) => {
    if (commits === undefined) stripes.pilesDone({ first, end });
    else commits.add({ first, end, regions: regionsOfRun });
  };
  const isRunEnd = sharded ? () => false : isStripeEnd;
  for (const run of planPileRuns(totals, runBytes, isRunEnd, (pile) => isFinished[pile] === 1)) {
    if (totals.recordBytes.subarray(run.first, run.end).some((bytes) => bytes > 0)) runs.push(run);
    else done(run, []);
  }
  for (const run of finished) {
    stripes.pilesDone(run);
    job.control.count('shuffledBytes', bytesOf(run.regions));
  }
  const starts = await findStarts(job, scattered, target, runs, isFinished);

  const regions = finished.flatMap((run) => run.regions);
  const tasks = runs.map((run, turn): { run: PileRun; task: ShuffleTask } => {
    const start = starts[turn];
    if (start === undefined) throw new RangeError(`run ${turn} has no place to begin`);
    return { run, task: { kind: 'write', ...common(job, scattered, `run-${turn}`), run, target, start } };
  });
  const take = (result: ShuffleResult, { run }: { run: PileRun }) => {
    verifyRun(totals, run, result);
    regions.push(...result.regions);
    done(run, result.regions);
  };
  // Of a stream, every task that was handed out has a thread, so that the one whose turn it is runs.
  const concurrency = target.kind === 'stream' ? job.pool.threadCount : 2 * job.pool.threadCount;
  await committing(commits, () => runTasks(tasks, ({ task }) => job.pool.shuffle(task), take, concurrency, job.stop));
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

export function bytesOf(regions: readonly WrittenRegion[]): number {
  return regions.reduce((sum, { start, end }) => sum + end - start, 0);
}

function common(job: JobContext, scattered: ScatteredPiles, attemptName: string) {
  const { pileSets, longestRecordBytes } = scattered;
  return { job: job.share, pileSets, longestRecordBytes, attemptName: `${attemptName}-${job.attempt}` };
}

/**
 * Where each run begins in the output. A run that begins inside a shard must know at which byte of
 * the output that shard began, and that depends on the order inside the pile that holds the cut:
 * such piles, at most one a run, are loaded once just to measure.
 */
async function findStarts(
  job: JobContext,
  scattered: ScatteredPiles,
  target: OutputTarget,
  runs: readonly PileRun[],
  isFinished: Uint8Array,
): Promise<SinkStart[]> {
  if (target.kind === 'stream') return runs.map((_, turn) => ({ shard: 0, shardByte: 0, turn }));
  const { cuts } = target;
  if (cuts.shardCount === 1) return runs.map((run, turn) => ({ shard: 0, shardByte: run.firstByte, turn }));

  const shards = runs.map((run) => shardAt(cuts, cuts.by === 'rank' ? run.firstRank : run.firstByte));
  const unknown = new Set<number>();
  for (const [i, run] of runs.entries()) {
    const shard = shards[i] ?? 0;
    if (cutAt(cuts, shard) !== (cuts.by === 'rank' ? run.firstRank : run.firstByte)) unknown.add(shard);
  }
  const firstByteOfShard = await measureCuts(job, scattered, cuts, unknown, isFinished);
  return runs.map((run, turn) => {
    const shard = shards[turn] ?? 0;
    const firstByte = firstByteOfShard.get(shard);
    return { shard, shardByte: firstByte === undefined ? 0 : run.firstByte - firstByte, turn };
  });
}

/** The byte of the whole output at which each of `shards` begins. */
async function measureCuts(
  job: JobContext,
  scattered: ScatteredPiles,
  cuts: ShardCuts,
  shards: ReadonlySet<number>,
  isFinished: Uint8Array,
): Promise<Map<number, number>> {
  const { totals } = scattered;
  const firstByteOfShard = shardsOfFinishedRuns(totals, job.kept?.finished.runs ?? []);
  const tasks: { shard: number; pileByte: number; task: ShuffleTask }[] = [];
  let rank = 0;
  let byte = 0;
  let pile = 0;
  for (const shard of [...shards].sort((a, b) => a - b)) {
    const at = cutAt(cuts, shard);
    for (;;) {
      const records = totals.records[pile] ?? 0;
      const bytes = totals.recordBytes[pile] ?? 0;
      if (pile + 1 === totals.records.length || at < (cuts.by === 'rank' ? rank + records : byte + bytes)) break;
      rank += records;
      byte += bytes;
      pile += 1;
    }
    const limit = at - (cuts.by === 'rank' ? rank : byte);
    if (firstByteOfShard.has(shard)) continue;
    if (limit === 0) firstByteOfShard.set(shard, byte);
    // None of its records went into the shard: the last one began before the cut.
    else if (isFinished[pile] === 1) firstByteOfShard.set(shard, byte + (totals.recordBytes[pile] ?? 0));
    else {
      const task: ShuffleTask = {
        kind: 'measure',
        ...common(job, scattered, `cut-${shard}`),
        pile,
        by: cuts.by,
        limit,
      };
      tasks.push({ shard, pileByte: byte, task });
    }
  }
  const take = (result: ShuffleResult, { shard, pileByte }: { shard: number; pileByte: number }) => {
    firstByteOfShard.set(shard, pileByte + result.measuredBytes);
  };
  await runTasks(tasks, ({ task }) => job.pool.shuffle(task), take, 2 * job.pool.threadCount, job.stop);
  return firstByteOfShard;
}

/** Where shards begin that finished runs have written to: what these were made from may be gone. */
function shardsOfFinishedRuns(totals: PileTotals, runs: readonly FinishedRun[]): Map<number, number> {
  const firstByteOfShard = new Map<number, number>();
  let pile = 0;
  let byte = 0;
  for (const { first, regions } of [...runs].sort((a, b) => a.first - b.first)) {
    for (; pile < first; pile++) byte += totals.recordBytes[pile] ?? 0;
    let at = byte;
    for (const { shard, start, end } of regions) {
      firstByteOfShard.set(shard, at - start);
      at += end - start;
    }
  }
  return firstByteOfShard;
}

/** Deletes the data files of a stripe as soon as all its piles came out right. */
class StripeRemoval {
  readonly #job: JobContext;
  readonly #pileSets: ScatteredPiles['pileSets'];
  readonly #pilesLeft: number[];

  constructor(job: JobContext, scattered: ScatteredPiles) {
    const { layout } = job.share;
    this.#job = job;
    this.#pileSets = scattered.pileSets.filter((pileSet) => pileSet.diskBytes > 0);
    this.#pilesLeft = Array.from({ length: layout.stripeCount }, (_, stripe) => {
      const { first, end } = pilesOfStripe(layout, stripe);
      return end - first;
    });
  }

  pilesDone(run: Pick<PileRun, 'first' | 'end'>): void {
    const { layout } = this.#job.share;
    for (let pile = run.first; pile < run.end; pile++) {
      const stripe = stripeOfPile(layout, pile);
      const left = (this.#pilesLeft[stripe] ?? 0) - 1;
      this.#pilesLeft[stripe] = left;
      if (left === 0 && this.#job.kept?.keepsStripes !== true) this.#remove(stripe);
    }
  }

  #remove(stripe: number): void {
    const { layout } = this.#job.share;
    for (const { name } of this.#pileSets) {
      for (let disk = 0; disk < layout.tempPlaces.length; disk++)
        removeFile(dataFilePath(layout, name, stripe, disk), 'temp');
    }
  }
}
