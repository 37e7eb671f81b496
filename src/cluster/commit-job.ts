/**
 * The last task of a job: verifies the output, moves it into place, removes all else. Killed anywhere, it runs again.
 */
import { StagedOutputError } from '../errors.js';
import { moveIntoPlace } from '../io/durable.js';
import { openStagedOutput, shortenFile, versionOf, withFile } from '../io/files.js';
import { nameExists } from '../io/paths.js';
import type { SplitReport } from '../job/options.js';
import { reportShards, summarizeSplits } from '../job/split-report.js';
import type { FinishedRange, ShuffledNote } from '../job-directory/notes.js';
import { checksumTextOf, type PileTotals } from '../piles/pile-totals.js';
import { type CommitJournal, readJournal } from '../sinks/commit-journal.js';
import type { OutputLayout } from '../sinks/output-layout.js';
import type { FilesPlace } from '../sinks/output-place.js';
import { recordBytesOf, stagedPath, type WrittenRegion } from '../sinks/output-target.js';
import { StagedOutput } from '../sinks/staged-output.js';
import { neighboursAtSeams, neighboursOfOneKey } from '../stages/sample-places.js';
import { type ClusterPlan, readBackBy } from './cluster-plan.js';
import { writeClusterProfile } from './cluster-profile.js';
import { CommitClaim } from './commit-claim.js';
import { removeRest, writeCommitted } from './committed-job.js';
import { type DecidedOutput, decideOutput } from './job-piles.js';
import { type ClusterJob, isCommitted } from './open-job.js';
import { readShuffleRecords, requireUndamaged, requireWritten } from './read-back.js';
import { pathsOfShards, requireDone } from './task-arrays.js';

export interface ClusterOutput {
  readonly records: number;
  /** Without the headers of shards. */
  readonly bytes: number;
  readonly seed: string;
  /** Multiset checksum, 16 hex digits. */
  readonly checksum: string;
  /** Final paths; none for one output. */
  readonly shards: readonly string[];
  readonly splits: readonly SplitReport[] | undefined;
  readonly emptyShards?: number | undefined;
  /**
   * The records dropped because an equal one is kept. Undefined if equal records stay, and if an earlier commit was killed
   * while the outputs got their names.
   */
  readonly duplicates: { readonly records: number; readonly bytes: number } | undefined;
  /** The records that `skipBlank` left out. Undefined as `duplicates` is. */
  readonly blank: { readonly records: number; readonly bytes: number } | undefined;
}

/** @returns undefined if another process has committed the job meanwhile. */
export async function commitJob(job: ClusterJob): Promise<ClusterOutput | undefined> {
  const { directory, plan, patience, stop, gates, log, scope } = job;
  // When outputs move, or the job is committed, all tasks were done.
  const isOver = () => isCommitted(directory) || readJournal(directory) !== undefined;
  await requireWritten(job, isOver);
  await requireDone(job, 'verify', isOver);
  const claim = await CommitClaim.take(directory, patience, stop);
  if (claim === undefined) return undefined;
  scope.releases.push(() => claim.release());
  const place = placeNow(plan.output);
  const directories = { stagingDirectory: plan.stagingDirectory, jobDirectory: directory };
  const staged = new StagedOutput(place, directories, gates.gateOf(plan.stagingDirectory, 'output'));
  const noted = readJournal(directory);
  const { journal, duplicates, blank } =
    noted === undefined ? await prepareMoves(job, staged) : { journal: noted, duplicates: undefined, blank: undefined };
  const shards = await staged.finish(journal);
  const output = { ...reportOf(plan, journal, shards), duplicates, blank };
  const { records, bytes, seed, checksum } = output;
  const summary = { records, bytes, seed, checksum, duplicates };
  await writeCommitted(directory, {
    stagingDirectory: plan.stagingDirectory,
    readBackBy: readBackBy(plan),
    ...summary,
  });
  writeClusterProfile(job, output);
  log.stop();
  // Its last change must not come after the removal.
  await claim.release().catch(scope.warn);
  removeRest(directory, scope.warn);
  return output;
}

async function prepareMoves(
  job: ClusterJob,
  staged: StagedOutput,
): Promise<Pick<ClusterOutput, 'duplicates' | 'blank'> & { readonly journal: CommitJournal }> {
  const { plan, control } = job;
  const records = readShuffleRecords(job);
  const decided = await decideOutput(job);
  const { work, layout, splits, found, duplicates, threads } = decided;
  found.beginnings.tell(job.inputs, 'output', job.onWarning);
  const { piles } = work;
  await requireNoJoins(records, work);
  await requireUndamaged(job, records, readBackBy(plan) === 'commit' ? threads : undefined);
  await completeFiles(job, staged, decided, records);
  const { shardCount } = layout.cuts;
  const moves = await staged.prepareCommit(
    {
      shardCount,
      records: piles.records,
      bytes: piles.bytes,
      checksum: checksumTextOf(piles.checksum),
      splits: summarizeSplits(splits, layout.cuts),
    },
    control,
  );
  await staged.noteMoves(moves);
  const blank = plan.spec.read.skipsBlank === true ? found.blank : undefined;
  return { journal: moves.journal, duplicates, blank };
}

async function completeFiles(
  job: ClusterJob,
  staged: StagedOutput,
  { layout, work }: DecidedOutput,
  records: readonly ShuffledNote[],
): Promise<void> {
  const { stagingDirectory } = job.plan;
  requireAllPiles(records, work.piles.totals, job);
  await takeShards(job, records);
  const regions = records.flatMap(({ ranges }) => ranges.flatMap((range) => range.regions));
  shorten(stagingDirectory, layout, regions);
  await staged.complete(layout, regions, job.control);
  staged.verify(layout, regions);
}

/** A directory of shards may have appeared, or gone, since the plan. */
function placeNow(place: FilesPlace): FilesPlace {
  return place.kind === 'file' ? place : { ...place, exists: nameExists(place.path, 'output') };
}

/** Each task has compared its piles with what was scattered: only whether all are there is left to check. */
function requireAllPiles(
  records: readonly ShuffledNote[],
  { recordBytes }: PileTotals,
  { directory }: ClusterJob,
): void {
  const isWritten = new Uint8Array(recordBytes.length);
  for (const { ranges } of records) for (const { first, end } of ranges) isWritten.fill(1, first, end);
  const missing = recordBytes.findIndex((bytes, pile) => bytes > 0 && isWritten[pile] !== 1);
  if (missing === -1) return;
  throw new StagedOutputError(`no task of ${directory} has written pile ${missing}`);
}

/** Compares the samples at the seams between tasks, where readers would join two of one key. */
async function requireNoJoins(records: readonly ShuffledNote[], { samples }: DecidedOutput['work']): Promise<void> {
  if (samples === undefined) return;
  let last: FinishedRange | undefined;
  for (const { ranges } of records) {
    const withSamples = ranges.filter(({ ends }) => ends !== undefined && ends !== null);
    const [first] = withSamples;
    if (first === undefined) continue;
    // Two tasks that share a pile have both compared its samples.
    const neighbours = last !== undefined && last.end <= first.first ? neighboursAtSeams([last, first]) : undefined;
    if (neighbours !== undefined) throw await neighboursOfOneKey(neighbours, samples);
    last = withSamples.at(-1);
  }
}

/** Moves the shards of each task's first attempt to where a local job has them. Another attempt may have begun. */
async function takeShards(job: ClusterJob, records: readonly ShuffledNote[]): Promise<void> {
  for (const record of records) {
    const pathOf = await pathsOfShards(job, record);
    for (const shard of new Set(record.ranges.flatMap(({ regions }) => regions.map((region) => region.shard)))) {
      const [from, to] = [pathOf(shard), stagedPath(job.plan.stagingDirectory, shard)];
      if (from !== to) moveIntoPlace(from, to);
    }
  }
}

/**
 * Cuts off what tasks had added so that no machine writes past the end of a file. Opens each file, so that this machine
 * asks for its size.
 */
function shorten(stagingDirectory: string, { cuts, ends }: OutputLayout, regions: readonly WrittenRegion[]): void {
  const ofShard = new Map<number, WrittenRegion[]>();
  for (const region of regions) {
    const others = ofShard.get(region.shard);
    if (others === undefined) ofShard.set(region.shard, [region]);
    else others.push(region);
  }
  for (let shard = 0; shard < cuts.shardCount; shard++) {
    const path = stagedPath(stagingDirectory, shard);
    if (!nameExists(path, 'output')) continue;
    const own = ofShard.get(shard) ?? [];
    const end = own.reduce((most, region) => Math.max(most, region.end), 0);
    const byteLength = ends.headerBytes + end + ends.trailerOf(recordBytesOf(own)).byteLength;
    withFile(openStagedOutput(path), (file) => {
      if (versionOf(file).byteLength > byteLength) shortenFile(file, byteLength);
    });
  }
}

function reportOf(
  plan: ClusterPlan,
  journal: CommitJournal,
  shards: readonly string[],
): Omit<ClusterOutput, 'duplicates' | 'blank'> {
  const { records, bytes, checksum, splits } = journal;
  return {
    records,
    bytes,
    seed: plan.spec.key.seed,
    checksum,
    ...reportShards({ records, splits }, shards),
  };
}
