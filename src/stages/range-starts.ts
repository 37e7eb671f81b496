/** Finds where in the output each range of piles starts and ends. */
import { StagedOutputError } from '../errors.js';
import type { FinishedRange } from '../job-directory/notes.js';
import type { PileTotals } from '../piles/pile-totals.js';
import type { PileRange } from '../plan/pile-ranges.js';
import { cutAt, knownByteOf, type ShardCuts, shardAt } from '../plan/shard-cuts.js';
import { recordBytesOf, type SinkEnd, type SinkStart } from '../sinks/output-target.js';
import { measureAt, type PlaceInPile, pileFinder } from './measure-piles.js';
import type { ShuffleWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

/**
 * Returns where each range starts: in which shard, and at which byte of it. With arithmetic cuts, the pile with the cut is
 * measured for that, at most one pile a range. Fitted cuts and parts of the order say it.
 */
export async function findRangeStarts(
  work: ShuffleWork,
  threads: Threads,
  ranges: readonly PileRange[],
  finished: readonly FinishedRange[],
  isFinished: Uint8Array,
): Promise<SinkStart[]> {
  const { target, piles } = work;
  const { cuts } = target;
  const shards = ranges.map((range) => shardAt(cuts, cuts.by === 'rank' ? range.firstRank : range.firstByte));
  if (target.kind !== 'placed')
    return ranges.map(({ firstByte, skippedBytes }, turn) => {
      // What is read again is in the shard of the records after it.
      const shard = shards[skippedBytes === undefined ? turn : turn + 1] ?? 0;
      const shardBegin = piles.hasDuplicates === true ? undefined : knownByteOf(cuts, shard);
      const known = shardBegin === undefined ? undefined : firstByte - shardBegin;
      const shardByte = turn === 0 ? finishedBytesOf(shard, finished) : known;
      return { shard, shardByte, turn, skippedBytes };
    });

  const unknown = new Set<number>();
  for (const [i, range] of ranges.entries()) {
    const shard = shards[i] ?? 0;
    const isAtStart = cutAt(cuts, shard) === (cuts.by === 'rank' ? range.firstRank : range.firstByte);
    if (!isAtStart && knownByteOf(cuts, shard) === undefined) unknown.add(shard);
  }
  const firstByteOfShard = await measureCuts(work, threads, cuts, unknown, finished, isFinished);
  return ranges.map((range, turn) => {
    const shard = shards[turn] ?? 0;
    const shardByte = range.firstByte - (knownByteOf(cuts, shard) ?? firstByteOfShard.get(shard) ?? range.firstByte);
    if (shardByte >= 0) return { shard, shardByte, turn };
    throw new StagedOutputError(
      `shard ${shard} starts after byte ${range.firstByte} of the output, which belongs to it`,
    );
  });
}

/**
 * Returns where each range ends: where the next one begins, of this attempt or an earlier one. Undefined for the last
 * range, and where tasks append.
 */
export function findRangeEnds(
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

/** Returns the bytes of records that an earlier attempt has put in a shard. */
function finishedBytesOf(shard: number, finished: readonly FinishedRange[]): number {
  return recordBytesOf(finished.flatMap(({ regions }) => regions.filter((region) => region.shard === shard)));
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
  const find = pileFinder(totals, cuts.by);
  const unknown: (PlaceInPile & { readonly shard: number })[] = [];
  for (const shard of [...shards].sort((a, b) => a - b)) {
    if (firstByteOfShard.has(shard)) continue;
    const { pile, pileByte, limit } = find(cutAt(cuts, shard));
    // A finished pile that is not in the shard is before it: its last record starts before the cut.
    if (isFinished[pile] === 1 && limit > 0) {
      firstByteOfShard.set(shard, pileByte + (totals.recordBytes[pile] ?? 0));
    } else unknown.push({ shard, pile, pileByte, limit });
  }
  for (const { shard, pileByte, bytes } of await measureAt(work, threads, cuts.by, unknown))
    firstByteOfShard.set(shard, pileByte + bytes);
  return firstByteOfShard;
}

/** Returns where the shards of finished ranges start. Their piles may be deleted, so they cannot be measured again. */
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
