/** One task of a planned job, on this machine. `plan-cluster.ts` says how tasks make a job. */
import { hostname, tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../errors.js';
import { realPathOf, statPath } from '../io/paths.js';
import { VisibilityDeadline } from '../io/wait-until-visible.js';
import { runJob } from '../job/job.js';
import { peakMemoryBytes } from '../job/shuffle-report.js';
import { tempDirOfEnvironment } from '../job/temp-disks.js';
import { CLUSTER_TASK_OPTIONS, type TaskOptions } from '../options/cluster-options.js';
import { requireKnownOptions } from '../values/known-options.js';
import { runMeasureTask, runScatterTask, runShuffleTask } from './array-tasks.js';
import { AttemptLog } from './attempt-log.js';
import { TASK_KINDS, type TaskKind, taskCountOf } from './cluster-plan.js';
import { type ClusterOutput, commitJob, removeJobFiles } from './commit-job.js';
import { type ClusterJob, isCommitted, openClusterJob, type TaskAttempt } from './open-job.js';
import { runVerifyTask } from './read-back.js';
import { ADVICE_OF_TASKS, adviseInError, adviseInWarnings } from './task-advice.js';

export interface ClusterTaskOptions extends TaskOptions {
  /** There is one task of the kind `commit`, without an index. */
  readonly kind: TaskKind;
  /** The job directory that `planCluster` made. */
  readonly jobDir: string;
}

export interface ClusterTaskReport {
  readonly kind: TaskKind;
  /** The tasks that this call did. None, and none in `wereDone`: the plan has no task of this index. */
  readonly done: readonly number[];
  /** The tasks that were done before. */
  readonly wereDone: readonly number[];
  /** Stored bytes of inputs (scatter) or output (verify); else of records: read (measure), or in the output. */
  readonly bytes: number;
  readonly seconds: number;
  /** The most memory that the process had, in RAM, since it started. */
  readonly peakMemoryBytes: number;
  /** True if the whole job was committed before. */
  readonly wasCommitted: boolean;
  /** The output that a commit made. */
  readonly output: ClusterOutput | undefined;
}

const DEFAULT_WAIT_SECONDS = 60;

/**
 * Does a task that a scheduler has started. A task that was done before is not done again, and an index beyond the plan
 * has nothing to do: an array is sized before the plan.
 * @throws UsageError for a job directory without a plan; SystemError ERR_NOT_READY if tasks that must be done first are
 *   not.
 * @param startSeconds how long the process took to start, if the task is all that it does.
 */
export async function runClusterTask(options: ClusterTaskOptions, startSeconds = 0): Promise<ClusterTaskReport> {
  requireKnownOptions('runClusterTask()', options, CLUSTER_TASK_OPTIONS);
  const began = performance.now();
  const report = await runTask(adviseInWarnings(options, ADVICE_OF_TASKS), startSeconds);
  return { ...report, seconds: (performance.now() - began) / 1000, peakMemoryBytes: peakMemoryBytes() };
}

type UntimedReport = Omit<ClusterTaskReport, 'seconds' | 'peakMemoryBytes'>;

async function runTask(options: ClusterTaskOptions, startSeconds: number): Promise<UntimedReport> {
  const { kind, taskIndex: index = 0, stride, waitSeconds = DEFAULT_WAIT_SECONDS, signal } = options;
  requireOptions(options);
  const deadline = new VisibilityDeadline(waitSeconds, signal);
  const done: number[] = [];
  const wereDone: number[] = [];
  let bytes = 0;
  let output: ClusterOutput | undefined;
  for (let task = index; ; task += stride ?? 1) {
    // Only the first task of a process had to wait for its start.
    const log = new AttemptLog(kind, task, task === index ? startSeconds : 0);
    const { value } = await runJob(options, (scope) => runOne(options, { index: task, deadline, log, scope }));
    if (value.isCommitted) return { kind, done, wereDone, bytes, wasCommitted: true, output: undefined };
    if (task >= value.count) {
      break;
    }
    if (value.bytes === undefined) wereDone.push(task);
    else done.push(task);
    bytes += value.bytes ?? 0;
    output = value.output;
    if (stride === undefined) break;
  }
  return { kind, done, wereDone, bytes, wasCommitted: false, output };
}

interface TaskOutcome {
  /** Tasks of this kind in the plan. */
  readonly count: number;
  /** The bytes of the task. Undefined: it was done before. */
  readonly bytes?: number | undefined;
  readonly output?: ClusterOutput | undefined;
  readonly isCommitted?: boolean;
}

async function runOne(
  { kind, jobDir, scratchDir = tempDirOfEnvironment() ?? tmpdir(), signal, onWarning = () => {} }: ClusterTaskOptions,
  attempt: Pick<TaskAttempt, 'index' | 'deadline' | 'log' | 'scope'>,
): Promise<TaskOutcome> {
  const { index, log, scope } = attempt;
  const job = await openClusterJob(jobDir, { ...attempt, kind, scratchDir, signal, onWarning });
  if (job === undefined) {
    // A commit before was killed at its very end.
    if (kind === 'commit') removeJobFiles(realPathOf(resolve(jobDir), 'temp'), scope.warn);
    return { count: 0, isCommitted: true };
  }
  const { plan, directory } = job;
  const count = taskCountOf(plan, kind);
  if (index >= count) return { count };
  log.begin(directory);
  try {
    await requireStaging(job);
    const outcome = await TASKS[kind](job);
    if (outcome.isCommitted === true) {
      // The process that committed may have removed all but what this one told since.
      log.stop();
      removeJobFiles(directory, scope.warn);
    }
    log.done(plan.profile === undefined ? undefined : outcome.bytes);
    return { count, ...outcome };
  } catch (error) {
    const reason = job.stop.reason ?? error;
    adviseInError(reason, ADVICE_OF_TASKS);
    log.failed(reason);
    throw reason;
  }
}

const TASKS: Readonly<Record<TaskKind, (job: ClusterJob) => Promise<Omit<TaskOutcome, 'count'>>>> = {
  scatter: async (job) => ({ bytes: await runScatterTask(job) }),
  measure: async (job) => ({ bytes: await runMeasureTask(job) }),
  shuffle: async (job) => ({ bytes: await runShuffleTask(job) }),
  verify: async (job) => ({ bytes: await runVerifyTask(job) }),
  async commit(job) {
    const output = await commitJob(job);
    return output === undefined ? { isCommitted: true } : { bytes: output.bytes, output };
  },
};

function requireOptions({ kind, taskIndex, stride }: ClusterTaskOptions): void {
  // Callers without types may pass anything.
  if (!TASK_KINDS.includes(kind))
    throw new UsageError(`a task is of the kind ${TASK_KINDS.slice(0, -1).join(', ')} or commit, not ${String(kind)}`);
  if (kind === 'commit') {
    if ((taskIndex ?? 0) !== 0) throw new UsageError('there is one commit: leave out `taskIndex`');
    if (stride !== undefined) throw new UsageError('there is one commit: leave out `stride`');
  } else if (taskIndex === undefined)
    throw new UsageError(`nothing says which ${kind} task; give \`taskIndex\`, from 0 on`);
}

/**
 * A task looks first for the directory in which outputs are staged. A directory of the same path on another disk does
 * not have it. So a machine that does not see the output is found out before it has read a byte.
 */
async function requireStaging({ directory, plan, deadline }: ClusterJob): Promise<void> {
  const { stagingDirectory, output } = plan;
  const isThere = () =>
    statPath(stagingDirectory, 'output')?.isDirectory() === true || isCommitted(directory) || undefined;
  if ((await deadline.waitUntilFound(dirname(stagingDirectory), isThere)) === true) return;
  throw new UsageError(
    `${hostname()} does not see ${stagingDirectory}, which the plan made for the output ${output.path}; put the output on storage that all machines share`,
    'ERR_OUTPUT_PLACE',
  );
}
