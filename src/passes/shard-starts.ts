/**
 * Finds where each range of piles starts in the output.
 */
import type { MeasureTask } from '../../workers/tasks/measure-cut.js';
import { StagedOutputError } from '../errors.js';
import type { FinishedRange } from '../job-directory/finished-ranges.js';
import type { SinkEnd, SinkStart } from '../output/output-target.js';
import type { PileTotals } from '../pile-sets/pile-totals.js';
import type { PileRange } from '../plan/pile-ranges.js';
import { cutAt, type ShardCuts, shardAt } from '../plan/shard-cuts.js';
import { onceMore } from './once-more.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import { pilesTask, type ShuffleWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

/**
 * A range that starts inside a shard must know at which byte of the output that shard starts. This depends on the order of
 * the records in the pile with the cut, so such piles, at most one a range, are loaded an extra time to measure it.
 */
export async function findStarts(
  work: ShuffleWork,
  threads: Threads,
  ranges: readonly PileRange[],
  finished: readonly FinishedRange[],
  isFinished: Uint8Array,
): Promise<SinkStart[]> {
  const { target } = work;
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
  const firstByteOfShard = await measureCuts(work, threads, cuts, unknown, finished, isFinished);
  return ranges.map((range, turn) => {
    const shard = shards[turn] ?? 0;
    const shardByte = range.firstByte - (firstByteOfShard.get(shard) ?? range.firstByte);
    if (shardByte >= 0) return { shard, shardByte, turn };
    throw new StagedOutputError(
      `shard ${shard} starts behind byte ${range.firstByte} of the output, which belongs to it`,
    );
  });
}

/**
 * Where each range ends: where the next one begins, of this attempt or an earlier one. Undefined for the last range, and
 * where tasks append.
 */
export function findEnds(
  { target }: ShuffleWork,
  ranges: readonly PileRange[],
  starts: readonly SinkStart[],
  finished: readonly FinishedRange[],
): (SinkEnd | undefined)[] {
  if (target.kind !== 'placed') return ranges.map(() => undefined);
  const ofFinished = finished.flatMap(({ first, regions: [region] }) =>
    region === undefined ? [] : [{ first, at: { shard: region.shard, shardByte: region.start } }],
  );
  const ofRanges = ranges.map(({ first }, i) => ({ first, at: starts[i] }));
  const inOrder = [...ofFinished, ...ofRanges].sort((a, b) => a.first - b.first);
  const next = new Map(inOrder.map(({ first }, i) => [first, inOrder[i + 1]?.at]));
  return ranges.map(({ first }) => next.get(first));
}

/** The byte of the whole output at which each of `shards` starts. */
async function measureCuts(
  work: ShuffleWork,
  threads: Threads,
  cuts: ShardCuts,
  shards: ReadonlySet<number>,
  finished: readonly FinishedRange[],
  isFinished: Uint8Array,
): Promise<Map<number, number>> {
  const { totals } = work.piles;
  const firstByteOfShard = shardsOfFinishedRanges(totals, finished);
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
    // The whole pile is before the shard: its last record starts before the cut.
    else if (isFinished[pile] === 1) firstByteOfShard.set(shard, byte + (totals.recordBytes[pile] ?? 0));
    else {
      const task: MeasureTask = {
        ...pilesTask(work, `cut-${shard}`),
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
  const measure = ({ task }: { task: MeasureTask }) =>
    onceMore(() => threads.pool.run('measure', task), work.onWarning);
  await runTasks(tasks, measure, take, tasksAtOnce(threads), threads.stop);
  return firstByteOfShard;
}

/** Where the shards of finished ranges start. Their piles may be deleted, so they cannot be measured again. */
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
