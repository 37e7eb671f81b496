/**
 * A job whose inputs other jobs of Slurm still write. A plan lists the inputs, so nobody can plan it yet. The plan is a
 * job of its own that waits for the others, plans on its node, and submits the tasks from there.
 */
import { join, resolve } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import { listNames, realPathOf, statPath } from '../io/paths.js';
import { requireKnownOptions } from '../known-options.js';
import { SLURM_LATER_OPTIONS, type SlurmFollowOptions, type SlurmLaterOptions } from '../options/cluster-options.js';
import { PLAN_NAME } from './cluster-plan.js';
import { findPlan } from './open-job.js';
import { submit } from './slurm-calls.js';
import { describePlanFailure } from './slurm-diagnosis.js';
import { ownProgram, requirePossible, resumeOnSlurm, type SlurmSubmission } from './slurm-job.js';
import { VISIBLE_SECONDS, watchJobs } from './slurm-queue.js';
import { planSubmission, textOf } from './slurm-script.js';
import { settle } from './slurm-settings.js';
import { Patience } from './until-visible.js';

/** The job of Slurm that makes a plan and submits its tasks. */
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
    async planned(talk) {
      const job = { kind: 'plan', id } as const;
      const { ended } = await watchJobs(settings.token, [job], talk);
      const hasSucceeded = ended.some(({ state }) => state === 'COMPLETED');
      const patience = new Patience(hasSucceeded ? VISIBLE_SECONDS : 0, talk.signal);
      if ((await findPlan(jobDir, patience).catch(() => 'none')) !== 'none')
        return resumeOnSlurm({ jobDir: realPathOf(jobDir, 'temp'), signal: talk.signal });
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
  return textOf(planJobOf(words, options).submission);
}

/** The log lies beside the job directory, in which a plan wants nothing. */
function planJobOf(words: readonly string[], options: SlurmLaterOptions) {
  requireKnownOptions('submitLaterToSlurm()', options, SLURM_LATER_OPTIONS);
  const jobDir = resolve(options.jobDir);
  const settings = settle(options, undefined, {}, jobDir);
  const log = `${jobDir}.plan.log`;
  const submission = planSubmission(settings, { log, dependency: options.dependency }, join(jobDir, PLAN_NAME), {
    plan: [...ownProgram(), ...words],
    resume: [...ownProgram(), 'cluster', 'slurm', '--resume', '--job-dir', jobDir],
  });
  return { jobDir, settings, submission, log };
}
