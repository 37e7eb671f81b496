/**
 * The last task of a job: verifies the output, moves it into place, removes all else but a mark. Killed anywhere, it runs
 * again.
 */
import { dirname, join } from 'node:path';
import { StagedOutputError } from '../errors.js';
import { isAttemptName } from '../io/atomic-files.js';
import { removeDirectory } from '../io/directories.js';
import { removeFile } from '../io/files.js';
import { checksumText, object, oneOf, optional, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames, nameExists, statPath } from '../io/paths.js';
import { moveIntoPlace } from '../io/rename-and-sync.js';
import { NOTHING_KNOWN, type ReportedRecords, reportKept } from '../job/shuffle-report.js';
import { type ReportedOutput, reportOutput, summaryOf } from '../job/split-report.js';
import { CLUSTER_COMMITTED_FILE } from '../job-directory/job-paths.js';
import { NoteKind, type ShuffledNote } from '../job-directory/notes.js';
import { type CommitJournal, readJournal } from '../places/outputs/commit-journal.js';
import type { OutputPlace } from '../places/outputs/output-place.js';
import { StagedOutput } from '../places/outputs/staged-output.js';
import { stagedPath } from '../sinks/output-target.js';
import { errorForNeighboursOfOneKey, neighboursAtSeams } from '../stages/sample-places.js';
import { decideClusterOutput, openOutputPlace } from './array-tasks.js';
import { writeClusterProfile } from './attempt-log.js';
import { ATTEMPTS_NAME, CLUSTER_REMEDY, COMMITTED_NAME, DATA_NAME, PLAN_NAME, readBackBy } from './cluster-plan.js';
import { acquireCommitLease } from './commit-lease.js';
import { type ClusterJob, isCommitted, pathsOfShards, waitUntilDone } from './open-job.js';
import { readShuffleRecords, requireUndamaged, requireWritten } from './read-back.js';

/** A committed output. If an earlier commit was killed while the outputs got their names, no `ReportedRecords` are known. */
export interface ClusterOutput extends ReportedOutput, ReportedRecords {
  readonly seed: string;
  /** The path or address of the output. */
  readonly output: string;
}

/** @returns undefined if another process has committed the job meanwhile. */
export async function commitJob(job: ClusterJob): Promise<ClusterOutput | undefined> {
  const { directory, plan, deadline, stop, gates, log, scope } = job;
  const { stagingDirectory } = plan;
  // When outputs move, or the job is committed, all tasks were done.
  const isOver = () => isCommitted(directory) || readJournal(directory) !== undefined;
  await requireWritten(job, isOver);
  await waitUntilDone(job, 'verify', isOver);
  const releaseLease = await acquireCommitLease(directory, deadline, stop);
  if (releaseLease === undefined) return undefined;
  scope.releases.push(releaseLease);
  const place = await openOutputPlace(job);
  const directories = { stagingDirectory, jobDirectory: directory };
  const staged = new StagedOutput(place, directories, gates.gateOf(stagingDirectory, 'output'));
  const noted = readJournal(directory);
  const { journal, kept } =
    noted === undefined ? await verifyAndJournal(job, staged, place) : { journal: noted, kept: NOTHING_KNOWN };
  const { records, bytes, checksum, ...ofShards } = reportOutput(journal, await staged.finishMoves(journal));
  const summary = { records, bytes, seed: plan.spec.key.seed, checksum };
  await writeCommitted(directory, {
    stagingDirectory,
    readBackBy: readBackBy(plan),
    ...summary,
    duplicates: kept.duplicates,
  });
  writeClusterProfile(job, summary);
  log.stop();
  // Its last change must not come after the removal.
  await releaseLease().catch(scope.warn);
  // What attempts have begun that nobody took.
  await place.discardStaged?.(stagingDirectory).catch(scope.warn);
  removeJobFiles(directory, scope.warn);
  return { ...summary, ...ofShards, ...kept, output: plan.output.path };
}

/** Completes the files that tasks have written, verifies them, and writes down how they get their names. */
async function verifyAndJournal(
  job: ClusterJob,
  staged: StagedOutput,
  place: OutputPlace,
): Promise<{ readonly journal: CommitJournal; readonly kept: ReportedRecords }> {
  const { plan, control, directory } = job;
  const records = readShuffleRecords(job);
  const decided = await decideClusterOutput(job);
  const { output, layout, threads } = decided;
  const { piles, samples } = output.work;
  decided.scattered.found.startFindings.tell(job.inputs, 'output', job.onWarning);
  const ranges = records.flatMap((record) => record.ranges);
  const neighbours = neighboursAtSeams(ranges);
  if (neighbours !== undefined && samples !== undefined) throw await errorForNeighboursOfOneKey(neighbours, samples);
  await requireUndamaged(job, records, readBackBy(plan) === 'commit' ? threads : undefined);
  // Each task has compared its piles with what was scattered: only whether all are there is left to check.
  const isWritten = new Uint8Array(plan.memory.pileCount);
  for (const { first, end } of ranges) isWritten.fill(1, first, end);
  const missing = piles.totals.recordBytes.findIndex((bytes, pile) => bytes > 0 && isWritten[pile] !== 1);
  if (missing !== -1) throw new StagedOutputError(`no task of ${directory} has written pile ${missing}`);
  await moveShardsOfTasks(job, records, place);
  const regions = ranges.flatMap((range) => range.regions);
  staged.truncate(regions, layout, true);
  await staged.complete(layout, regions, control);
  staged.verify(layout, regions);
  const journal = await staged.prepareCommit(summaryOf(piles, { layout, regions }, decided, plan.spec), control);
  await staged.journalMoves(journal);
  return { journal, kept: reportKept(plan.spec, plan.weighing, decided, piles) };
}

/** Moves the shards of each task's first attempt to where a local job has them. Another attempt may have begun. */
async function moveShardsOfTasks(job: ClusterJob, records: readonly ShuffledNote[], place: OutputPlace): Promise<void> {
  for (const record of records) {
    const pathOf = await pathsOfShards(job, record);
    for (const shard of new Set(record.ranges.flatMap(({ regions }) => regions.map((region) => region.shard)))) {
      const [from, to] = [pathOf(shard), stagedPath(job.plan.stagingDirectory, shard)];
      if (from === to) continue;
      // A commit that was killed between the two moves the rest.
      const [note, noteTo] = [place.notePath?.(dirname(from), shard), place.notePath?.(dirname(to), shard)];
      if (note !== undefined && noteTo !== undefined && nameExists(note, 'output')) moveIntoPlace(note, noteTo);
      moveIntoPlace(from, to);
    }
  }
}

const shape = object({
  stagingDirectory: text,
  records: wholeNumber(),
  bytes: wholeNumber(),
  seed: text,
  checksum: checksumText,
  /**
   * The records that were dropped. Absent: no record could be dropped as equal to another, or nobody knows any more.
   */
  duplicates: optional(object({ records: wholeNumber(), bytes: wholeNumber() })),
  readBackBy: oneOf('verify', 'commit', 'nobody'),
});

type CommittedNote = ValueOf<typeof shape>;

const COMMITTED = new NoteKind({
  kind: CLUSTER_COMMITTED_FILE.kind,
  version: 2,
  mostBytes: 2 ** 20,
  shape,
  remedy: CLUSTER_REMEDY,
  // An attempt that found the outputs moving does not know the duplicates.
  agreed: ({ records, bytes, checksum }) => [records, bytes, checksum],
});

async function writeCommitted(jobDirectory: string, note: CommittedNote): Promise<void> {
  await COMMITTED.write(jobDirectory, COMMITTED_NAME, note, 'the commit');
}

export function readCommittedNote(jobDirectory: string): CommittedNote | undefined {
  return COMMITTED.read(jobDirectory, COMMITTED_NAME);
}

/** Returns whether a committed job has removed all that it needs no more, as far as this machine sees. */
export function isCleanedUp(jobDirectory: string): boolean {
  return statPath(join(jobDirectory, PLAN_NAME), 'temp') === undefined;
}

const JOB_FILE_NAME =
  /^(inputs|slices|cuts|head|splits|slurm|commit|committing|(measure|shuffle|verify|damaged)-\d{6,}(-\d+)?|[a-z0-9-]+\.index)$/;

/**
 * Removes the staged outputs, then everything in the job directory but the marker and what is not of a job. A task that
 * still runs somewhere finds its files gone, and fails. The plan goes last: beside the marker it tells that something
 * may be left.
 */
export function removeJobFiles(jobDirectory: string, warn: (error: unknown) => void): void {
  let hasFailed = false;
  const attempt = (remove: () => void) => {
    try {
      remove();
    } catch (error) {
      hasFailed = true;
      warn(error);
    }
  };
  attempt(() => {
    const stagingDirectory = readCommittedNote(jobDirectory)?.stagingDirectory;
    if (stagingDirectory !== undefined) removeDirectory(stagingDirectory);
  });
  attempt(() => removeDirectory(join(jobDirectory, DATA_NAME)));
  attempt(() => removeDirectory(join(jobDirectory, ATTEMPTS_NAME)));
  attempt(() => {
    for (const name of listNames(jobDirectory, 'temp'))
      if (JOB_FILE_NAME.test(name) || isAttemptName(name)) removeFile(join(jobDirectory, name), 'temp');
  });
  if (!hasFailed) attempt(() => removeFile(join(jobDirectory, PLAN_NAME), 'temp'));
}
