/**
 * The share of one of several tasks in the shuffle pass. What it is depends on the kind of the output:
 *
 *     plain        a range of piles. Each record has a known place, so all tasks write to the same staged files, each to
 *                  places of its own. A second attempt writes the same bytes there.
 *     appended     whole shards, in files of this attempt alone. The piles at both ends belong to two tasks; each drops
 *                  the records of the other.
 *
 * Two machines write to one file only if its bytes have known places. The file is opened for writing alone and is made as
 * long as it will be before the first byte is written. So a client of a network file system never reads a block, sends
 * the bytes that it was given and no others, and takes no byte of another machine for a hole.
 */
import { lengthenFile, openForRead, openStagedOutput, withFile } from '../io/files.js';
import type { FinishedRange } from '../job-directory/notes.js';
import type { PileTotals } from '../piles/pile-totals.js';
import type { StagedOutput } from '../places/outputs/staged-output.js';
import { cutAt, shardAt } from '../plan/shard-cuts.js';
import { shareOfPiles, shareOfShards } from '../plan/task-shares.js';
import { type OutputLayout, trailerBytesOf } from '../sinks/output-layout.js';
import { type ShardRange, stagedPath } from '../sinks/output-target.js';
import { pileFinder } from './measure-piles.js';
import { shuffleRanges } from './shuffle-ranges.js';
import { bytesOfPart, type PilePart, type ShuffleWork } from './shuffle-work.js';
import type { Threads } from './threads.js';

export interface ShuffleShare {
  readonly part: PilePart;
  /** The shards that are written whole; undefined: others write parts of them, too. */
  readonly shards: ShardRange | undefined;
}

export function shareOfTask(
  layout: OutputLayout,
  { piles }: Pick<ShuffleWork, 'piles'>,
  task: number,
  taskCount: number,
): ShuffleShare {
  if (layout.kind === 'placed') return { part: shareOfPiles(piles.totals, task, taskCount), shards: undefined };
  const shards = shareOfShards(layout.cuts, piles, task, taskCount);
  return { part: pilesOfShards(layout, shards, piles.totals), shards };
}

function pilesOfShards({ cuts }: OutputLayout, { first, end }: ShardRange, totals: PileTotals): PilePart {
  if (first === end) return { first: 0, end: 0 };
  const find = pileFinder(totals, cuts.by);
  const begin = find(cutAt(cuts, first));
  const endAt = cutAt(cuts, end);
  if (endAt === Number.POSITIVE_INFINITY) return { first: begin.pile, end: totals.records.length };
  const last = find(endAt);
  return { first: begin.pile, end: last.limit > 0 ? last.pile + 1 : Math.max(begin.pile, last.pile) };
}

/** Writes a share durably to the files in `stagingDirectory`. @returns its ranges, without the records of others. */
export async function shuffleShare(
  work: Omit<ShuffleWork, 'target' | 'part' | 'deletesStripes'>,
  { part, shards }: ShuffleShare,
  layout: OutputLayout,
  staged: StagedOutput,
  threads: Threads,
): Promise<readonly FinishedRange[]> {
  const target = await staged.begin(layout, []);
  const own = target.kind === 'appended' ? { ...target, own: shards } : target;
  if (target.kind === 'placed') lengthenStaged(target.stagingDirectory, layout, work.piles.totals, part);
  const written = await shuffleRanges({ ...work, target: own, part, deletesStripes: false }, threads);
  const isOwn = ({ shard }: { readonly shard: number }) =>
    shards === undefined || (shard >= shards.first && shard < shards.end);
  const ranges = written.map((range) => ({ ...range, regions: range.regions.filter(isOwn) }));
  await staged.makeDurable(ranges.flatMap(({ regions }) => regions));
  return ranges.toSorted((a, b) => a.first - b.first);
}

/** Makes each staged file that the task writes to as long as it can become; the commit shortens it. */
function lengthenStaged(stagingDirectory: string, layout: OutputLayout, totals: PileTotals, part: PilePart): void {
  const { cuts, ends, recordBytes } = layout;
  if (bytesOfPart(totals, part) === 0) return;
  const column = cuts.by === 'rank' ? totals.records : totals.recordBytes;
  const before = (pile: number) => column.subarray(0, pile).reduce((sum, more) => sum + more, 0);
  const last = shardAt(cuts, Math.max(0, before(part.end) - 1));
  const find = pileFinder(totals, cuts.by);
  let begin = find(cutAt(cuts, shardAt(cuts, before(part.first))));
  for (let shard = shardAt(cuts, before(part.first)); shard <= last; shard++) {
    const endAt = cutAt(cuts, shard + 1);
    const next = endAt === Number.POSITIVE_INFINITY ? undefined : find(endAt);
    // At most one record lies across the cut.
    const endByte =
      next === undefined ? recordBytes : Math.min(recordBytes, next.pileByte + (totals.recordBytes[next.pile] ?? 0));
    const path = stagedPath(stagingDirectory, shard);
    const contentBytes = ends.headerBytes + (endByte - begin.pileByte);
    const open = () => openForRead(path, 'output');
    const trailerBytes = trailerBytesOf(ends, { path, byteLength: contentBytes, recordBytes: 0, open });
    withFile(openStagedOutput(path), (file) => lengthenFile(file, contentBytes + trailerBytes));
    begin = next ?? begin;
  }
}
