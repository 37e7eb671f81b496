/**
 * Where each range of piles begins in the output.
 */
import type { MeasureTask } from '../../workers/tasks/measure-cut.js';
import { StagedOutputError } from '../errors.js';
import type { FinishedRange } from '../job-directory/finished-ranges.js';
import type { OutputTarget, SinkStart } from '../output/output-target.js';
import type { PileRange, PileTotals } from '../plan/pile-ranges.js';
import { cutAt, type ShardCuts, shardAt } from '../plan/shard-cuts.js';
import type { JobContext, ScatteredPiles } from './job-context.js';
import { pilesTask } from './piles-task.js';
import { runTasks } from './run-tasks.js';

/**
 * A range that begins inside a shard must know at which byte of
 * the output that shard began, and that depends on the order inside the pile that holds the cut:
 * such piles, at most one a range, are loaded once just to measure.
 */
export async function findStarts(
  job: JobContext,
  scattered: ScatteredPiles,
  target: OutputTarget,
  ranges: readonly PileRange[],
  isFinished: Uint8Array,
): Promise<SinkStart[]> {
  if (target.kind === 'stream') return ranges.map((_, turn) => ({ shard: 0, shardByte: 0, turn }));
  const { cuts } = target;
  if (cuts.shardCount === 1) return ranges.map((range, turn) => ({ shard: 0, shardByte: range.firstByte, turn }));

  const shards = ranges.map((range) => shardAt(cuts, cuts.by === 'rank' ? range.firstRank : range.firstByte));
  if (target.kind === 'appended') return shards.map((shard, turn) => ({ shard, shardByte: 0, turn }));
  const unknown = new Set<number>();
  for (const [i, range] of ranges.entries()) {
    const shard = shards[i] ?? 0;
    if (cutAt(cuts, shard) !== (cuts.by === 'rank' ? range.firstRank : range.firstByte)) unknown.add(shard);
  }
  const firstByteOfShard = await measureCuts(job, scattered, cuts, unknown, isFinished);
  return ranges.map((range, turn) => {
    const shard = shards[turn] ?? 0;
    const shardByte = range.firstByte - (firstByteOfShard.get(shard) ?? range.firstByte);
    if (shardByte >= 0) return { shard, shardByte, turn };
    throw new StagedOutputError(
      `shard ${shard} was begun behind byte ${range.firstByte} of the output, in which it begins`,
    );
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
  const firstByteOfShard = shardsOfFinishedRanges(totals, job.kept?.finished.ranges ?? []);
  const tasks: { shard: number; pileByte: number; task: MeasureTask }[] = [];
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
      const task: MeasureTask = {
        ...pilesTask(job, scattered, `cut-${shard}`),
        pile,
        by: cuts.by,
        limit,
      };
      tasks.push({ shard, pileByte: byte, task });
    }
  }
  const take = (measuredBytes: number, { shard, pileByte }: { shard: number; pileByte: number }) => {
    firstByteOfShard.set(shard, pileByte + measuredBytes);
  };
  await runTasks(tasks, ({ task }) => job.pool.measure(task), take, 2 * job.pool.threadCount, job.stop);
  return firstByteOfShard;
}

/** Where shards begin that finished ranges have written to: what these were made from may be gone. */
function shardsOfFinishedRanges(totals: PileTotals, ranges: readonly FinishedRange[]): Map<number, number> {
  const firstByteOfShard = new Map<number, number>();
  let pile = 0;
  let byte = 0;
  for (const { first, regions } of [...ranges].sort((a, b) => a.first - b.first)) {
    for (; pile < first; pile++) byte += totals.recordBytes[pile] ?? 0;
    let at = byte;
    for (const { shard, start, end } of regions) {
      firstByteOfShard.set(shard, at - start);
      at += end - start;
    }
  }
  return firstByteOfShard;
}
