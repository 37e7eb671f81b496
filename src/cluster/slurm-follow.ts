/**
 * Follows a job on Slurm to its end. The records in the job directory say what is done; the queue says only whether
 * anybody still works on the rest, and what became of tasks that could tell nothing.
 */
import { SystemError } from '../errors.js';
import { VisibilityDeadline } from '../io/wait-until-visible.js';
import type { SlurmFollowOptions } from '../options/cluster-options.js';
import type { ShuffleProgress } from '../options/progress.js';
import { CALLBACK_OPTIONS } from '../options/shuffle-options.js';
import { requireKnownOptions } from '../values/known-options.js';
import {
  type ArrayKind,
  arrayKindsOf,
  type ClusterPlan,
  expectedBytesOf,
  type TaskKind,
  tasksOf,
} from './cluster-plan.js';
import { type ClusterStatus, clusterStatus } from './cluster-status.js';
import { isCleanedUp } from './commit-job.js';
import { findPlan } from './open-job.js';
import { groupActive, isActive, type SlurmTask, VISIBLE_SECONDS, watchJobs } from './slurm-calls.js';
import { describeFailures, describeUnfinished } from './slurm-diagnosis.js';
import { resumeCommand, type SlurmSubmission } from './slurm-job.js';
import { readSlurmNote, type SlurmNote } from './slurm-settings.js';

export type SlurmOutcome = NonNullable<ClusterStatus['output']>;

/**
 * Waits until the output of the job is there.
 * @throws SystemError ERR_SLURM that tells which tasks failed and how; ABORT_ERR with the ids of the jobs, which go on.
 */
export async function followSlurm(
  submission: SlurmSubmission,
  options: SlurmFollowOptions = {},
): Promise<SlurmOutcome> {
  requireKnownOptions('followSlurm()', options, CALLBACK_OPTIONS);
  const { signal, onProgress = () => {}, onWarning } = options;
  const { jobDir, jobs } = submission;
  const note = readSlurmNote(jobDir);
  const planned = await findPlan(jobDir);
  const tell = planned === undefined ? () => {} : progressReporter(planned.plan, onProgress);
  const { found, ended } = await watchJobs(note?.token ?? '', jobs, { signal, onWarning }, async (tasks) => {
    const status = await clusterStatus(jobDir);
    if (status.output !== undefined && status.state === 'committed') return status.output;
    tell(status, tasks);
    return undefined;
  });
  const output = found ?? (await outputOfCommit(jobDir, ended, signal));
  if (output !== undefined) return output;
  throw await failureOf(await clusterStatus(jobDir), ended, submission, note);
}

/** The output of a commit that Slurm says has ended well. It may not show here yet. */
async function outputOfCommit(
  jobDir: string,
  tasks: readonly SlurmTask[],
  signal: AbortSignal | undefined,
): Promise<SlurmOutcome | undefined> {
  if (!tasks.some(({ kind, state }) => kind === 'commit' && state === 'COMPLETED')) return undefined;
  const deadline = new VisibilityDeadline(VISIBLE_SECONDS, signal);
  await deadline.waitUntilFound(jobDir, () => isCleanedUp(jobDir) || undefined);
  return (await clusterStatus(jobDir)).output;
}

const MOST_CAUSES = 3;

async function failureOf(
  status: ClusterStatus,
  ended: readonly SlurmTask[],
  { jobDir, jobs, logDir }: SlurmSubmission,
  note: SlurmNote | undefined,
): Promise<SystemError> {
  const causes = note === undefined ? [] : await describeFailures(status, ended, jobs, note);
  const more = causes.length - MOST_CAUSES;
  const ids = jobs.map(({ id }) => id).join(', ');
  const what =
    causes.length > 0
      ? `${causes.slice(0, MOST_CAUSES).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
      : `Slurm has no job ${ids} any more, and ${describeUnfinished(status)}`;
  return new SystemError(
    'ERR_SLURM',
    `${what}; logs are in ${logDir}; ${resumeCommand(jobDir)} submits what is not done`,
  );
}

function progressReporter(plan: ClusterPlan, onProgress: (progress: ShuffleProgress) => void) {
  const bytesOf = (kind: ArrayKind) => expectedBytesOf(plan, kind, tasksOf(plan, kind));
  const phases = [
    ...arrayKindsOf(plan).map((kind) => ({ phase: kind, bytes: bytesOf(kind) })),
    { phase: 'commit' as const, bytes: 0 },
  ];
  let phase: TaskKind | undefined;
  let beganAt = 0;
  let bytesResumed = 0;
  return (status: ClusterStatus, tasks: readonly SlurmTask[]) => {
    const { state } = status;
    if (state === 'committed') return;
    const bytesTotal = state === 'commit' ? undefined : bytesOf(state);
    const bytesDone = state === 'commit' ? 0 : Math.round(bytesOf(state) * doneShare(status, state));
    if (phase !== state) {
      phase = state;
      beganAt = performance.now();
      bytesResumed = bytesDone;
    }
    const phaseSeconds = (performance.now() - beganAt) / 1000;
    // Disks and memory are those of other machines: this one only waits.
    const here = { disks: [], memory: undefined, tasks: queuedOf(state, tasks) };
    onProgress({ phase: state, phases, bytesDone, bytesResumed, bytesTotal, phaseSeconds, ...here });
  };
}

function queuedOf(kind: TaskKind, tasks: readonly SlurmTask[]): ShuffleProgress['tasks'] {
  const active = tasks.filter((task) => task.kind === kind && isActive(task));
  const waiting = active.filter(({ state }) => !/^(RUNNING|COMPLETING|CONFIGURING)$/.test(state));
  const reasons = [...new Set(groupActive(waiting).map(({ state, reason = state }) => reason))];
  return { running: active.length - waiting.length, waiting: waiting.length, reasons };
}

function doneShare(status: ClusterStatus, kind: ArrayKind): number {
  const pass = status[kind];
  if (pass === undefined) return 0;
  const begun = status.running
    .filter((each) => each.kind === kind && each.bytesTotal > 0)
    .reduce((sum, { bytesDone, bytesTotal }) => sum + Math.min(1, bytesDone / bytesTotal), 0);
  return Math.min(1, (pass.done + begun) / pass.tasks);
}
