/**
 * A task of the shuffle pass: writes a part of the output. What a part is depends on the kind of the output:
 *
 *     plain        a range of piles. Each record has a known place, so all tasks write to the same staged files, each to
 *                  places of its own. A second attempt writes the same bytes there.
 *     compressed   whole shards, into a directory of this attempt. The commit takes them from the first that is done. The
 *                  piles at both ends belong to two tasks; each drops the records of the other.
 *
 * Two machines write to one file only if its bytes have known places. The file is opened for writing alone and is made as
 * long as it will be before the first byte is written. So a client of a network file system never reads a block, sends
 * the bytes that it was given and no others, and takes no byte of another machine for a hole.
 */
import { join } from 'node:path';
import { ensurePrivateDirectory, removeDirectory } from '../io/directories.js';
import { syncPath } from '../io/durable.js';
import { lengthenFile, openStagedOutput, withFile } from '../io/files.js';
import { listNames } from '../io/paths.js';
import { type FinishedRange, SHUFFLED, type ShuffledNote } from '../job-directory/notes.js';
import type { PileTotals } from '../piles/pile-totals.js';
import { cutAt, shardAt } from '../plan/shard-cuts.js';
import { shareOfPiles, shareOfShards } from '../plan/task-shares.js';
import { severalAtOnce } from '../several-at-once.js';
import type { OutputLayout } from '../sinks/output-layout.js';
import { type OutputTarget, recordBytesOf, type ShardRange, stagedPath } from '../sinks/output-target.js';
import { StagedOutput } from '../sinks/staged-output.js';
import { pileFinder } from '../stages/measure-piles.js';
import { shuffleRanges } from '../stages/shuffle-pass.js';
import { bytesOfPart, type PilePart } from '../stages/shuffle-work.js';
import { recordNameOf, taskCountOf } from './cluster-plan.js';
import { type DecidedOutput, decideOutput } from './job-piles.js';
import type { ClusterJob } from './open-job.js';
import { rewriteOf } from './open-job.js';

/** @returns the bytes of the records that this attempt put into the output; undefined if the task was done before. */
export async function shufflePart(job: ClusterJob): Promise<number | undefined> {
  const { directory, control, index, log } = job;
  // Another machine may have found a moment ago that the output of the task is damaged.
  listNames(directory, 'temp');
  const rewrite = rewriteOf(directory, index);
  const name = recordNameOf('shuffle', index, rewrite);
  if (SHUFFLED.read(directory, name) !== undefined) return undefined;
  const decided = await decideOutput(job);
  const share = shareOf(job, decided);
  log.count(bytesOfPart(decided.work.piles.totals, share.part), () => control.counted('shuffledBytes'));
  const removeOwn = () => {
    if (share.own !== undefined) removeDirectory(share.directory);
  };
  let mayBeNoted = false;
  try {
    const written = await writeShare(job, share, decided);
    mayBeNoted = true;
    const note = { task: index, rewrite, ...written };
    if (!(await SHUFFLED.write(directory, name, note, `shuffle task ${index}`))) removeOwn();
    return recordBytesOf(written.ranges.flatMap(({ regions }) => regions));
  } catch (error) {
    // No thread may make a file of this attempt after the removal.
    await decided.threads.pool.destroy();
    // A link that fails may have been made all the same: then the commit takes these files.
    if (mayBeNoted) throw error;
    try {
      removeOwn();
    } catch (failure) {
      job.scope.warn(failure);
    }
    throw error;
  }
}

interface Share {
  readonly part: PilePart;
  readonly shards: ShardRange;
  /** Its directory in the staging directory; undefined: it writes to the files of all. */
  readonly own: string | undefined;
  readonly directory: string;
}

function shareOf({ plan, index, log }: ClusterJob, { layout, work }: DecidedOutput): Share {
  const { piles } = work;
  const { stagingDirectory } = plan;
  const taskCount = taskCountOf(plan, 'shuffle');
  const shards = shareOfShards(layout.cuts, piles, index, taskCount);
  if (layout.compression === undefined)
    return {
      part: shareOfPiles(piles.totals, index, taskCount),
      shards,
      own: undefined,
      directory: stagingDirectory,
    };
  const own = `task-${index}-${log.attempt}`;
  return { part: pilesOfShards(layout, shards, piles.totals), shards, own, directory: join(stagingDirectory, own) };
}

async function writeShare(
  { plan, directory: jobDirectory, gates }: ClusterJob,
  { part, shards, own, directory }: Share,
  { layout, work, threads }: DecidedOutput,
): Promise<Pick<ShuffledNote, 'own' | 'headerBytes' | 'ranges'>> {
  const { output, stagingDirectory } = plan;
  const gate = gates.gateOf(stagingDirectory, 'output');
  if (own !== undefined) ensurePrivateDirectory(directory, 'output');
  const staged = new StagedOutput(output, { stagingDirectory: directory, jobDirectory }, gate);
  const target = ofTask(staged.begin(layout, []), shards);
  if (own === undefined) lengthenStaged(stagingDirectory, layout, work.piles.totals, part);
  const written = await shuffleRanges({ ...work, target, part, deletesStripes: false }, threads);
  const ranges = own === undefined ? written : written.map((range) => withoutOthers(range, shards));
  const touched = new Set(ranges.flatMap(({ regions }) => regions.map(({ shard }) => shard)));
  await severalAtOnce(touched, (shard) => syncPath(stagedPath(directory, shard)));
  if (own !== undefined) await syncPath(directory);
  await syncPath(stagingDirectory);
  return {
    own: own ?? null,
    headerBytes: layout.ends.headerBytes,
    ranges: ranges.toSorted((a, b) => a.first - b.first),
  };
}

function ofTask(target: OutputTarget, own: ShardRange): OutputTarget {
  return target.kind === 'appended' ? { ...target, own } : target;
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

function withoutOthers(range: FinishedRange, { first, end }: ShardRange): FinishedRange {
  return { ...range, regions: range.regions.filter(({ shard }) => shard >= first && shard < end) };
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
    const byteLength = ends.headerBytes + (endByte - begin.pileByte) + ends.trailerOf(0).byteLength;
    withFile(openStagedOutput(stagedPath(stagingDirectory, shard)), (file) => lengthenFile(file, byteLength));
    begin = next ?? begin;
  }
}
