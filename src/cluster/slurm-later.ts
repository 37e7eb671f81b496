/**
 * A job whose inputs other jobs of Slurm still write. A plan lists the inputs, so nobody can plan it yet. The plan is a
 * job of its own that waits for the others, plans on its node, and submits the tasks from there.
 */
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PileshufError, SystemError, UsageError } from '../errors.js';
import { listNames, realPathOf, statPath } from '../io/paths.js';
import { requireKnownOptions } from '../known-options.js';
import { PLAN_NAME } from './cluster-plan.js';
import { findPlan } from './open-job.js';
import { submit } from './slurm-calls.js';
import { describePlanFailure } from './slurm-diagnosis.js';
import type { SlurmFollowOptions } from './slurm-follow.js';
import { ownProgram, requirePossible, resumeOnSlurm, type SlurmSubmission } from './slurm-job.js';
import { VISIBLE_SECONDS, WatchedQueue } from './slurm-queue.js';
import { begunAs, commentOf, preparation, quoteForShell, requestWords, shellFor } from './slurm-script.js';
import { SLURM_TASK_OPTIONS, type SlurmNote, type SlurmTaskOptions, settle } from './slurm-settings.js';
import { Patience } from './until-visible.js';

/** A job that is to be planned after others. */
export interface SlurmLaterOptions extends SlurmTaskOptions {
  /** New or empty, on storage that all nodes share. */
  readonly jobDir: string;
  /** What the plan waits for, as sbatch writes it: `afterok:123`. */
  readonly dependency: string;
}

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

const LATER_OPTIONS: Readonly<Record<keyof SlurmLaterOptions, unknown>> = {
  jobDir: true,
  dependency: true,
  ...SLURM_TASK_OPTIONS,
};

/**
 * Has Slurm plan a job when other jobs have ended, which write its inputs. The plan then submits the tasks.
 * @param words of the command that plans and submits, from `cluster` on; it does not wait.
 * @throws SystemError ERR_SLURM with Slurm's own words; UsageError for a job directory in which there is something.
 */
export async function submitLaterToSlurm(words: readonly string[], options: SlurmLaterOptions): Promise<SlurmPlanJob> {
  const { jobDir, settings, sbatch, script, log } = planJobOf(words, options);
  const [name] = statPath(jobDir, 'temp') === undefined ? [] : listNames(jobDir, 'temp');
  if (name !== undefined)
    throw new UsageError(
      `the job directory ${jobDir} holds ${name}; name one with \`jobDir\` that is empty or does not exist`,
    );
  await requirePossible(settings);
  const id = await submit(sbatch, script);
  return { jobDir, id, log, planned: (talk) => followPlan({ jobDir, id, log, settings }, talk) };
}

/** Describes that submission as text: the call of sbatch and its script. Nothing is submitted. */
export function describeLaterOnSlurm(words: readonly string[], options: SlurmLaterOptions): string {
  const { sbatch, script } = planJobOf(words, options);
  return `${sbatch.map(quoteForShell).join(' ')} <<'SCRIPT'\n${script}SCRIPT\n`;
}

/** The log lies beside the job directory, in which a plan wants nothing. */
function planJobOf(words: readonly string[], options: SlurmLaterOptions) {
  requireKnownOptions('submitLaterToSlurm()', options, LATER_OPTIONS);
  const jobDir = resolve(options.jobDir);
  const settings = settle(options, undefined, {}, jobDir);
  const { envCommand, token } = settings;
  const log = `${jobDir}.plan.log`;
  const sbatch = [
    'sbatch',
    '--parsable',
    ...requestWords(settings, 'plan'),
    `--comment=${commentOf(token, 'plan')}`,
    `--chdir=${process.cwd()}`,
    '--open-mode=append',
    `--output=${log.replaceAll('%', '%%')}`,
    `--dependency=${options.dependency}`,
    '--kill-on-invalid-dep=yes',
  ];
  const call = (argv: readonly string[]) => `exec ${[...ownProgram(), ...argv].map(quoteForShell).join(' ')}`;
  // Slurm runs it again if its node was lost.
  const script = `${shellFor(envCommand)}
node=\${SLURMD_NODENAME:-$(uname -n)}
echo "pileshuf: plan on $node, ${begunAs('$SLURM_JOB_ID')}, restart \${SLURM_RESTART_COUNT:-0}"
${preparation(envCommand)}if [ -e ${quoteForShell(join(jobDir, PLAN_NAME))} ]; then
  ${call(['cluster', 'slurm', '--resume', '--job-dir', jobDir])}
fi
${call(words)}
`;
  return { jobDir, settings, sbatch, script, log };
}

const PAUSE_MILLISECONDS = 2000;

async function followPlan(
  { jobDir, id, log, settings }: Pick<SlurmPlanJob, 'jobDir' | 'id' | 'log'> & { readonly settings: SlurmNote },
  { signal, onWarning = () => {} }: Parameters<SlurmPlanJob['planned']>[0],
): Promise<SlurmSubmission> {
  const job = { kind: 'plan', id } as const;
  const queue = new WatchedQueue(settings.token, [job], onWarning);
  for (;;) {
    await queue.read();
    if (queue.hasEnded) break;
    await sleep(PAUSE_MILLISECONDS, undefined, { signal }).catch(() => {});
    if (signal?.aborted === true)
      throw new PileshufError(
        'aborted',
        'ABORT_ERR',
        `no longer waiting; job ${id} stays in Slurm and submits the others, and scancel ${id} ends it`,
      );
  }
  const hasSucceeded = queue.ended.some(({ state }) => state === 'COMPLETED');
  const plan = await findPlan(jobDir, new Patience(hasSucceeded ? VISIBLE_SECONDS : 0, signal)).catch(() => 'none');
  if (plan !== 'none') return resumeOnSlurm({ jobDir: realPathOf(jobDir, 'temp'), signal });
  const failure = await describePlanFailure(queue.ended, job, log, settings);
  throw new SystemError(
    'ERR_SLURM',
    `${failure ?? `Slurm has no job ${id} any more`}; its log is ${log}; nothing is planned`,
  );
}
