import { resolve } from 'node:path';
import { realPathOf } from '../io/paths.js';
import { type AttemptRecord, readAttempts } from './attempt-log.js';
import {
  ARRAY_KINDS,
  type ArrayKind,
  arrayKindsOf,
  type ClusterPlan,
  expectedBytesOf,
  type ReadBackBy,
  readBackBy,
  type TaskKind,
  taskCountOf,
} from './cluster-plan.js';
import type { ClusterOutput } from './commit-job.js';
import { isCleanedUp, readCommittedNote } from './commit-job.js';
import { findPlan, unfinishedTasks } from './open-job.js';
import { readSlurmNote } from './slurm-settings.js';

export interface PassStatus {
  readonly tasks: number;
  readonly done: number;
  /** The indexes of the tasks that are not done. */
  readonly unfinished: readonly number[];
  /** The rate of all attempts that run now; undefined: none has reported yet. */
  readonly bytesPerSecond: number | undefined;
  readonly secondsLeft: number | undefined;
}

/** An attempt that has not ended, as it last reported. */
export interface RunningAttempt
  extends Pick<AttemptRecord, 'kind' | 'index' | 'host' | 'pid' | 'bytesDone' | 'bytesTotal'> {
  /** The start by the clock of its host, as ISO 8601. */
  readonly startedAt: string;
  /** The time of the last report of the attempt. A killed attempt reports no more. */
  readonly toldAt: string;
}

/** A task that is not done, and whose last attempt failed. */
export interface FailedTask extends Pick<AttemptRecord, 'kind' | 'index' | 'host' | 'pid'> {
  readonly failedAt: string;
  readonly error: string;
}

export interface ClusterStatus {
  readonly jobDir: string;
  /** The kind of tasks to be done now. `committed`: the output is there, and the temp data is removed. */
  readonly state: TaskKind | 'committed';
  /** Undefined when the job is committed, or has no such tasks. */
  readonly scatter: PassStatus | undefined;
  /** The tasks that find what stays of equal records. Undefined, too, if the job has none. */
  readonly measure: PassStatus | undefined;
  readonly shuffle: PassStatus | undefined;
  /** The tasks that read a large output back. Undefined, too, if the job has none. */
  readonly verify: PassStatus | undefined;
  /**
   * The task that reads the output back before it is published. Undefined: the job was committed, and its note is gone.
   */
  readonly readBackBy: ReadBackBy | undefined;
  readonly running: readonly RunningAttempt[];
  readonly failed: readonly FailedTask[];
  /** The directory of the logs of Slurm's tasks. Undefined: Slurm runs none, or the job is committed. */
  readonly logDir: string | undefined;
  /** Undefined until the output is there. `state` is `commit` until the commit has removed the temp data. */
  readonly output: CommittedOutput | undefined;
}

export type CommittedOutput = Pick<ClusterOutput, 'records' | 'bytes' | 'seed' | 'checksum' | 'duplicates'>;

const NO_PASSES = { scatter: undefined, measure: undefined, shuffle: undefined, verify: undefined };

/**
 * Says how far a planned job is, as seen from this machine.
 * @throws UsageError if there is no planned job.
 */
export async function clusterStatus(jobDir: string): Promise<ClusterStatus> {
  const found = await findPlan(jobDir);
  if (found === undefined) {
    const directory = realPathOf(resolve(jobDir), 'temp');
    const note = readCommittedNote(directory);
    const { records = 0, bytes = 0, seed = '', checksum = '', duplicates, readBackBy } = note ?? {};
    return {
      jobDir: directory,
      state: isCleanedUp(directory) ? 'committed' : 'commit',
      ...NO_PASSES,
      readBackBy,
      running: [],
      failed: [],
      logDir: undefined,
      output: { records, bytes, seed, checksum, duplicates },
    };
  }
  const { directory, plan } = found;
  const left = new Map<TaskKind, readonly number[]>();
  for (const kind of ARRAY_KINDS) left.set(kind, unfinishedTasks(found, kind));
  const isLeft = ({ kind, index }: AttemptRecord) => left.get(kind)?.includes(index) !== false;
  const attempts = readAttempts(directory).filter(isLeft);
  const last = [...new Map(attempts.map((attempt) => [`${attempt.kind} ${attempt.index}`, attempt])).values()];
  const running = last.filter(({ state }) => state === 'running');
  const failed = last.filter(({ state }) => state === 'failed');
  const passes = arrayKindsOf(plan).map((kind) => [kind, passStatus(plan, kind, left.get(kind) ?? [], running)]);
  return {
    jobDir: directory,
    state: ARRAY_KINDS.find((kind) => left.get(kind)?.length !== 0) ?? 'commit',
    ...NO_PASSES,
    ...Object.fromEntries(passes),
    readBackBy: readBackBy(plan),
    running: running.map((attempt) => {
      const { bytesDone, bytesTotal, startedAt, toldAt } = attempt;
      return { ...whoOf(attempt), bytesDone, bytesTotal, startedAt: timeOf(startedAt), toldAt: timeOf(toldAt) };
    }),
    failed: failed.map((attempt) => {
      return { ...whoOf(attempt), failedAt: timeOf(attempt.toldAt), error: attempt.error ?? '' };
    }),
    logDir: readSlurmNote(directory)?.logDir,
    output: undefined,
  };
}

function whoOf({ kind, index, host, pid }: AttemptRecord) {
  return { kind, index, host, pid };
}

function passStatus(
  plan: ClusterPlan,
  kind: ArrayKind,
  unfinished: readonly number[],
  running: readonly AttemptRecord[],
): PassStatus {
  const tasks = taskCountOf(plan, kind);
  const own = running.filter((attempt) => attempt.kind === kind);
  const rate = own.reduce((sum, { bytesDone, startedAt, toldAt }) => {
    return toldAt > startedAt ? sum + (1000 * bytesDone) / (toldAt - startedAt) : sum;
  }, 0);
  const leftBytes = expectedBytesOf(plan, kind, unfinished) - own.reduce((sum, { bytesDone }) => sum + bytesDone, 0);
  return {
    tasks,
    done: tasks - unfinished.length,
    unfinished,
    bytesPerSecond: rate > 0 ? Math.round(rate) : undefined,
    secondsLeft: rate > 0 ? Math.max(0, Math.round(leftBytes / rate)) : undefined,
  };
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
