/**
 * Runs a planned job on Slurm: an array of scatter tasks, arrays of other tasks, and the commit; each depends on the
 * one before. Slurm may lose a job, run a task twice at the same time, and give an id again. So what is done is what
 * has its record in the job directory, and a later submission asks for the rest.
 */
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { PileshufError, SystemError, UsageError } from '../errors.js';
import { makeOwnDirectory } from '../io/directories.js';
import { listNames, realPathOf, statPath } from '../io/paths.js';
import { VisibilityDeadline } from '../io/wait-until-visible.js';
import {
  SLURM_LATER_OPTIONS,
  SLURM_OPTIONS,
  SLURM_RESUME_OPTIONS,
  type SlurmFollowOptions,
  type SlurmLaterOptions,
  type SlurmOptions,
  type SlurmResumeOptions,
} from '../options/cluster-options.js';
import type { Tuning } from '../plan/memory-plan.js';
import { requireKnownOptions } from '../values/known-options.js';
import { ARRAY_KINDS, type ArrayKind, PLAN_NAME, TASK_KINDS, type TaskKind, taskCountOf } from './cluster-plan.js';
import { removeJobFiles } from './commit-job.js';
import { type FoundJob, findPlan, unfinishedTasks } from './open-job.js';
import { type ClusterPlanReport, planCluster } from './plan-cluster.js';
import {
  cancel,
  isActive,
  isStuck,
  readArraySize,
  readNodes,
  readQueue,
  requireSlurm,
  submit,
  testRequest,
  USUAL_ARRAY_SIZE,
  VISIBLE_SECONDS,
  watchJobs,
} from './slurm-calls.js';
import { describePlanFailure } from './slurm-diagnosis.js';
import {
  commandLine,
  foldTasks,
  planSubmission,
  requestWords,
  type SlurmJob,
  submissionText,
  taskSubmission,
} from './slurm-script.js';
import {
  completeSlurmSettings,
  explainTooLarge,
  limitsOf,
  logDirectoryOf,
  type NodeSize,
  neededResources,
  planOptionsOf,
  readSlurmNote,
  recordMemoryOf,
  type SlurmNote,
  writeSlurmNote,
} from './slurm-settings.js';

export interface SubmittedJob {
  readonly kind: TaskKind;
  readonly id: string;
  /** Indexes of the array; 1 for a commit. Undefined: an earlier call submitted the job. */
  readonly tasks: number | undefined;
}

export interface SlurmSubmission {
  readonly jobDir: string;
  readonly logDir: string;
  /** The jobs in the order in which they can run; empty if all was done. */
  readonly jobs: readonly SubmittedJob[];
  /** True if an earlier call submitted these jobs, and nothing was submitted now. */
  readonly wereQueued: boolean;
  /** The plan, if this call made it. */
  readonly plan: ClusterPlanReport | undefined;
}

const NOTHING_NEW = { jobs: [], wereQueued: false, plan: undefined };

/**
 * Plans a job and submits its tasks: all of them, or none. What Slurm can refuse at once it refuses before the plan.
 * @param program what a task calls: Node and its script.
 * @throws SystemError ERR_SLURM with Slurm's own words.
 */
export async function submitToSlurm(
  options: SlurmOptions,
  tuning: Partial<Tuning> = {},
  program: readonly string[] = ownProgram(),
): Promise<SlurmSubmission> {
  requireKnownOptions('submitToSlurm()', options, SLURM_OPTIONS);
  const { jobDir, signal } = options;
  const asked = completeSlurmSettings(options, undefined, {}, resolve(jobDir));
  const memoryBytes = await requirePossible(asked);
  const arraySize = await readArraySize();
  const plan = await planCluster({ ...planOptionsOf(options), cpusPerTask: asked.cpusPerTask, memoryBytes }, tuning);
  const settings = completeSlurmSettings(options, undefined, {}, plan.jobDir);
  const submission = await submitJobs(plan.jobDir, settings, arraySize, program, signal);
  return { ...submission, plan };
}

/**
 * Submits the tasks of a planned job that have no record. If jobs of an earlier call are still queued, it submits only
 * those after the last one: that call was killed before it could.
 * @throws UsageError if there is no planned job.
 */
export async function resumeOnSlurm(
  options: SlurmResumeOptions,
  program: readonly string[] = ownProgram(),
): Promise<SlurmSubmission> {
  requireKnownOptions('resumeOnSlurm()', options, SLURM_RESUME_OPTIONS);
  const { jobDir, signal } = options;
  const found = await findPlan(jobDir);
  if (found === undefined) {
    const directory = realPathOf(resolve(jobDir), 'temp');
    // The commit may have been killed when the output was there.
    removeJobFiles(directory, (error) => {
      throw error;
    });
    return { ...NOTHING_NEW, jobDir: directory, logDir: logDirectoryOf(options, directory) };
  }
  const { directory, plan } = found;
  requireSlurm();
  const noted = readSlurmNote(directory);
  const settings = completeSlurmSettings(options, noted, neededResources(plan), directory);
  const queued = noted === undefined ? [] : await cancelStuckJobs(settings.token);
  if (queued.some(({ kind }) => kind === 'commit'))
    return { ...NOTHING_NEW, jobDir: directory, logDir: settings.logDir, jobs: queued, wereQueued: true };
  return submitJobs(directory, settings, await readArraySize(), program, signal, queued);
}

/** Cancels jobs that can never start. @returns the others, in the order in which they can run. */
async function cancelStuckJobs(token: string): Promise<SubmittedJob[]> {
  const queue = await readQueue(token);
  await cancel([...new Set(queue.filter(isStuck).map(({ jobId }) => jobId))]);
  const active = queue.filter(isActive);
  return TASK_KINDS.flatMap((kind) => {
    const ids = new Set(active.filter((task) => task.kind === kind).map(({ jobId }) => jobId));
    return [...ids].map((id) => ({ kind, id, tasks: undefined }));
  });
}

/**
 * Describes a submission as text: the calls of sbatch and the scripts. Nothing is submitted, planned or written. A
 * new job has as many tasks of each pass as were asked for; a plan may make fewer.
 */
export async function describeSlurm(
  options: SlurmOptions | SlurmResumeOptions,
  program: readonly string[] = ownProgram(),
): Promise<string> {
  const isNew = 'tasks' in options;
  requireKnownOptions('describeSlurm()', options, isNew ? SLURM_OPTIONS : SLURM_RESUME_OPTIONS);
  const found = isNew ? undefined : await findPlan(options.jobDir);
  if (!isNew && found === undefined) return '';
  const directory = found?.directory ?? resolve(options.jobDir);
  const noted = found === undefined ? undefined : readSlurmNote(directory);
  const settings = completeSlurmSettings(
    options,
    noted,
    found === undefined ? {} : neededResources(found.plan),
    directory,
  );
  if (isNew && settings.taskMemoryBytes > 0) recordMemoryOf(settings, undefined);
  const arraySize = await readArraySize().catch(() => USUAL_ARRAY_SIZE);
  const jobs = isNew ? newJobs(options, arraySize) : found === undefined ? [] : jobsLeft(found, arraySize);
  const described = jobs.map((job, i) =>
    submissionText(taskSubmission(directory, settings, program, job, jobs[i - 1]?.kind.toUpperCase())),
  );
  const profile = isNew ? options.profile && resolve(options.profile) : found?.plan.profile?.path;
  // As JSON, a name is one line.
  const note = profile === undefined ? [] : [`# The commit writes where the time went to ${JSON.stringify(profile)}\n`];
  return [...described, ...note].join('\n');
}

/** Has Slurm check what tasks ask for. @returns the memory of a task for records. */
async function requirePossible(settings: SlurmNote): Promise<number> {
  requireSlurm();
  const [ofTask, ofCommit] = [limitsOf(settings, 'scatter'), limitsOf(settings, 'commit')];
  const differs = ofTask.time !== ofCommit.time || ofTask.memoryBytes !== ofCommit.memoryBytes;
  for (const kind of differs ? (['scatter', 'commit'] as const) : (['scatter'] as const))
    await withLimitsExplained(settings, kind, testRequest(requestWords(settings, kind)));
  return recordMemoryOf(settings, await smallestNode(settings));
}

/** Slurm says only that it has no such node. */
async function withLimitsExplained<T>(settings: SlurmNote, kind: TaskKind, asked: Promise<T>): Promise<T> {
  return asked.catch(async (error: unknown) => {
    const reason = explainTooLarge(await readNodes(settings.partition).catch(() => []), settings, kind);
    if (reason !== undefined && error instanceof PileshufError) error.message = `${error.message}: ${reason}`;
    throw error;
  });
}

/** Needed only for a task that asks for all memory of its node. */
async function smallestNode({ taskMemoryBytes, partition, cpusPerTask }: SlurmNote): Promise<NodeSize | undefined> {
  if (taskMemoryBytes > 0) return undefined;
  const nodes = await readNodes(partition);
  const able = nodes.filter(({ cpus }) => cpus >= cpusPerTask);
  return able.toSorted((a, b) => a.memoryBytes - b.memoryBytes)[0] ?? nodes[0];
}

function ownProgram(): string[] {
  const root = dirname(createRequire(import.meta.url).resolve('pileshuf/package.json'));
  return [process.execPath, join(root, 'dist', 'bundle', 'main.cjs')];
}

/** The jobs of a plan that has as many tasks as it may have. */
function newJobs({ tasks, unique, uniqueBy }: SlurmOptions, arraySize: number): SlurmJob[] {
  const unfinished = Array.from({ length: tasks }, (_, task) => task);
  const hasMeasure = unique === true || uniqueBy !== undefined;
  // Whether there are verify tasks depends on the size of the output, which only a plan knows.
  const kinds: readonly ArrayKind[] = hasMeasure ? ['scatter', 'measure', 'shuffle'] : ['scatter', 'shuffle'];
  return [...kinds.map((kind) => ({ kind, array: foldTasks(unfinished, tasks, arraySize) })), COMMIT];
}

function jobsLeft(found: FoundJob, arraySize: number): SlurmJob[] {
  const arrays = ARRAY_KINDS.flatMap((kind) => {
    const unfinished = unfinishedTasks(found, kind);
    return unfinished.length === 0
      ? []
      : [{ kind, array: foldTasks(unfinished, taskCountOf(found.plan, kind), arraySize) }];
  });
  return [...arrays, COMMIT];
}

const COMMIT: SlurmJob = { kind: 'commit', array: undefined };

/** @param queued the first jobs, which an earlier call submitted before it was killed. */
async function submitJobs(
  directory: string,
  settings: SlurmNote,
  arraySize: number,
  program: readonly string[],
  signal: AbortSignal | undefined,
  queued: readonly SubmittedJob[] = [],
): Promise<SlurmSubmission> {
  const { logDir } = settings;
  const found = await findPlan(directory);
  const left = found === undefined ? [] : jobsLeft(found, arraySize);
  const isLater = ({ kind }: SlurmJob) =>
    queued.every((job) => TASK_KINDS.indexOf(job.kind) < TASK_KINDS.indexOf(kind));
  const submitted: SubmittedJob[] = [...queued];
  try {
    await writeSlurmNote(directory, settings);
    makeOwnDirectory(logDir, 'job');
    for (const job of left.filter(isLater)) {
      signal?.throwIfAborted();
      const submission = taskSubmission(directory, settings, program, job, submitted.at(-1)?.id);
      const id = await withLimitsExplained(settings, job.kind, submit(submission));
      submitted.push({ kind: job.kind, id, tasks: job.array?.indexes.length ?? 1 });
    }
  } catch (error) {
    throw await cancelSubmission(error, directory, settings.token, submitted, signal);
  }
  return { jobDir: directory, logDir, jobs: submitted, wereQueued: false, plan: undefined };
}

/** Cancels what was submitted, even where the answer was lost. @returns the error to throw. */
async function cancelSubmission(
  error: unknown,
  directory: string,
  token: string,
  submitted: readonly SubmittedJob[],
  signal: AbortSignal | undefined,
): Promise<PileshufError> {
  const queued = await cancelStuckJobs(token).catch(() => []);
  const ids = [...new Set([...submitted, ...queued].map(({ id }) => id))];
  const left = await cancel(ids).then(
    () => 'nothing of it stays in the queue',
    () => `jobs ${ids.join(', ')} may still be in the queue`,
  );
  const message = `${left}; the plan is kept: ${resumeCommand(directory)} submits it again`;
  if (signal?.aborted === true)
    return new PileshufError('aborted', 'ABORT_ERR', `stopped before all was submitted; ${message}`);
  const problem = error instanceof Error ? error.message : String(error);
  return new SystemError('ERR_SLURM', `${problem}; ${message}`, { cause: error });
}

export function resumeCommand(directory: string): string {
  return commandLine(['pileshuf', 'cluster', 'slurm', '--resume', '--job-dir', directory]);
}

/**
 * The job of Slurm that makes a plan and submits its tasks. A plan lists the inputs, so nobody can plan a job whose inputs
 * other jobs still write. The plan waits for these, plans on its node, and submits the tasks from there.
 */
export interface SlurmPlanJob {
  readonly jobDir: string;
  readonly id: string;
  /** A file beside the job directory. */
  readonly log: string;
  /**
   * Waits until the plan is made.
   * @returns its jobs, which are submitted.
   * @throws SystemError ERR_SLURM that tells what failed; ABORT_ERR with the id of the job, which goes on.
   */
  planned(options: Pick<SlurmFollowOptions, 'signal' | 'onWarning'>): Promise<SlurmSubmission>;
}

/**
 * Has Slurm plan a job when other jobs have ended, which write its inputs. The plan then submits the tasks.
 * @param words of the command that plans and submits, from `cluster` on; it does not wait.
 * @throws SystemError ERR_SLURM with Slurm's own words; UsageError for a job directory in which there is something.
 */
export async function submitLaterToSlurm(words: readonly string[], options: SlurmLaterOptions): Promise<SlurmPlanJob> {
  const { jobDir, settings, submission, log } = planJobOf(words, options);
  const [name] = statPath(jobDir, 'temp') === undefined ? [] : listNames(jobDir, 'temp');
  if (name !== undefined)
    throw new UsageError(
      `the job directory ${jobDir} holds ${name}; name one with \`jobDir\` that is empty or does not exist`,
    );
  await requirePossible(settings);
  const id = await submit(submission);
  return {
    jobDir,
    id,
    log,
    async planned(callbacks) {
      const job = { kind: 'plan', id } as const;
      const { ended } = await watchJobs(settings.token, [job], callbacks);
      const hasSucceeded = ended.some(({ state }) => state === 'COMPLETED');
      const deadline = new VisibilityDeadline(hasSucceeded ? VISIBLE_SECONDS : 0, callbacks.signal);
      if ((await findPlan(jobDir, deadline).catch(() => 'none')) !== 'none')
        return resumeOnSlurm({ jobDir: realPathOf(jobDir, 'temp'), signal: callbacks.signal });
      const failure = await describePlanFailure(ended, job, log, settings);
      throw new SystemError(
        'ERR_SLURM',
        `${failure ?? `Slurm has no job ${id} any more`}; its log is ${log}; nothing is planned`,
      );
    },
  };
}

/** Describes that submission as text: the call of sbatch and its script. Nothing is submitted. */
export function describeLaterOnSlurm(words: readonly string[], options: SlurmLaterOptions): string {
  return submissionText(planJobOf(words, options).submission);
}

/** The log lies beside the job directory, in which a plan wants nothing. */
function planJobOf(words: readonly string[], options: SlurmLaterOptions) {
  requireKnownOptions('submitLaterToSlurm()', options, SLURM_LATER_OPTIONS);
  const jobDir = resolve(options.jobDir);
  const settings = completeSlurmSettings(options, undefined, {}, jobDir);
  const log = `${jobDir}.plan.log`;
  const submission = planSubmission(settings, { log, dependency: options.dependency }, join(jobDir, PLAN_NAME), {
    plan: [...ownProgram(), ...words],
    resume: [...ownProgram(), 'cluster', 'slurm', '--resume', '--job-dir', jobDir],
  });
  return { jobDir, settings, submission, log };
}
