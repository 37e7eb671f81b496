import { followSlurm, type SlurmOutcome } from '../../cluster/slurm-follow.js';
import {
  describeLaterOnSlurm,
  describeSlurm,
  resumeOnSlurm,
  type SlurmSubmission,
  submitLaterToSlurm,
  submitToSlurm,
} from '../../cluster/slurm-job.js';
import { UsageError } from '../../errors.js';
import type { SlurmTaskOptions } from '../../options/cluster-options.js';
import type { OptionFlag } from '../../options/option.js';
import { formatBytes, formatCount, formatPlural } from '../../values/format-numbers.js';
import type { CommandCall, CommandDefinition } from '../command.js';
import { printReport, printToStandardOutput } from '../standard-streams.js';
import { typedParts } from '../typed-words.js';
import { clusterJobOptions, readClusterJobOptions } from './cluster-plan-command.js';

const notes = `
It submits an array of scatter tasks, an array of shuffle tasks, and the commit,
each of which waits for the one before. With --unique and --unique-by, an array
of measure tasks comes between the two. An array of verify tasks reads a large
output back before the commit. All nodes must see the inputs, the output, the
job directory, pileshuf and Node under the same paths. The output has the bytes
of the same command on one machine: see docs/CLUSTER.md.

A task that fails is tried once more. A task whose node is lost runs on another
node. If a task fails again, nothing more of the job runs: mend the cause and
give --resume, which submits only the tasks that are not done. "pileshuf cluster
status" shows how far the job is.

Examples:
  pileshuf cluster slurm /data/corpus -o /data/out --job-dir /data/job \\
    --shards 512 --tasks 64 --partition cpu --time 2:00:00 --mem 32G --wait
  pileshuf cluster slurm --resume --job-dir /data/job
`;

type Call = CommandCall<'cluster slurm'>;

export const command: CommandDefinition<'cluster slurm'> = {
  name: 'cluster slurm',
  operands: [['[inputs...]', 'files, directories or quoted globs']],
  notes,
  async run(call) {
    const { values, reporter, callbacks } = call;
    if (values.dryRun === true) return printDryRun(call);
    const submission = values.dependency === undefined ? await submitNow(call) : await submitLater(call);
    if (submission === undefined) return reporter.close();
    const isDone = submission.jobs.length === 0 && values.dependency === undefined;
    if (values.wait !== true || isDone) return reporter.close();
    const outcome = await followSlurm(submission, callbacks);
    reporter.done(describeOutcome(outcome), outcome);
  },
};

async function submitNow(call: Call): Promise<SlurmSubmission> {
  const { resume } = call.values;
  const submission = await (resume === true ? resumeOnSlurm(resumeOptionsOf(call)) : submitNew(call));
  await printReport(submission, describeSubmission(submission), call.display);
  return submission;
}

async function submitLater(call: Call): Promise<SlurmSubmission | undefined> {
  const job = await submitLaterToSlurm(...planJobOf(call));
  const { jobDir, id, log } = job;
  const lines = [
    `job directory  ${jobDir}`,
    `plan           job ${id}, after ${call.values.dependency}; it submits the other jobs`,
    `log            ${log}`,
  ];
  await printReport({ jobDir, log, jobs: [{ kind: 'plan', id, tasks: 1 }] }, lines, call.display);
  if (call.values.wait !== true) return undefined;
  const submission = await job.planned(call.callbacks);
  await printReport(submission, describeSubmission(submission), call.display);
  return submission;
}

/** The words of the command that the job of the plan calls, and the options of that job. */
function planJobOf(call: Call): Parameters<typeof submitLaterToSlurm> {
  const { argv, values } = call;
  const { dependency = '', resume, inputLists = [] } = values;
  if (resume === true)
    throw new UsageError('--dependency cannot be combined with --resume, because the plan has been made; leave it out');
  if (inputLists.some(({ path }) => path === '-'))
    throw new UsageError('--dependency: the plan reads the list of inputs later, on a node; give the list as a file');
  const { words, slurm } = partsOf(call);
  const { jobDir } = clusterJobOptions(words);
  const isOfOtherJob = (name = '') => ['dependency', 'wait', 'dry-run'].includes(name);
  const typed = typedParts(argv).flatMap((part) => (isOfOtherJob(part.long?.name) ? [] : part.words));
  return [typed, { ...slurm, jobDir, dependency }];
}

/** The words of the job, and what Slurm is told of its tasks. */
function partsOf({ operands, values, given }: Call) {
  const { wait: _, dryRun: __, resume: ___, dependency: ____, ...options } = values;
  const names = given.filter(isForSlurm).map(({ sets }) => sets);
  const slurm = Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name)));
  return { words: { operands, values: options }, slurm: slurm as SlurmTaskOptions };
}

function isForSlurm({ group, sets }: OptionFlag): boolean {
  return group === 'Slurm' || sets === 'cpusPerTask' || sets === 'scratchDir';
}

async function submitNew(call: Call): Promise<SlurmSubmission> {
  const { words, slurm } = partsOf(call);
  return submitToSlurm({ ...(await readClusterJobOptions(words, call.callbacks)), ...slurm }, call.tuning);
}

const MAY_CHANGE = ['jobDir', 'json', 'progress', 'quiet'];

function resumeOptionsOf(call: Call) {
  const { operands, values, given, callbacks } = call;
  const decided = given.find((entry) => !isForSlurm(entry) && !MAY_CHANGE.includes(entry.sets));
  if (decided !== undefined || operands.length > 0) {
    const word = decided === undefined ? operands[0] : `--${decided.name}`;
    throw new UsageError(
      `${word} cannot be combined with --resume, because the plan in --job-dir has decided it; give only options for Slurm`,
    );
  }
  return { ...partsOf(call).slurm, jobDir: values.jobDir ?? '', signal: callbacks.signal };
}

async function printDryRun(call: Call): Promise<void> {
  const { words, slurm } = partsOf(call);
  const options = call.values.resume === true ? resumeOptionsOf(call) : { ...clusterJobOptions(words), ...slurm };
  const planJob = call.values.dependency === undefined ? [] : [describeLaterOnSlurm(...planJobOf(call))];
  const text = [...planJob, await describeSlurm(options)].join('\n');
  call.reporter.close();
  await printToStandardOutput(text);
}

function describeSubmission({ jobDir, logDir, jobs, plan }: SlurmSubmission): string[] {
  if (jobs.length === 0) return [`job directory  ${jobDir}`, 'all is done    the job is committed'];
  const inputs = plan && `${formatPlural(plan.inputCount, 'input')}, about ${formatBytes(plan.expectedBytes)}`;
  const each = plan && `${formatPlural(plan.cpusPerTask, 'thread')}, ${formatBytes(plan.memoryBytes)} for records`;
  return [
    `job directory  ${jobDir}`,
    ...(plan === undefined ? [] : [`inputs         ${inputs}, seed ${JSON.stringify(plan.seed)}`]),
    ...(each === undefined ? [] : [`each task      ${each}`]),
    ...jobs.map(({ kind, id, tasks }, i) => {
      const size = kind === 'commit' || tasks === undefined ? '' : `, array of ${formatCount(tasks)}`;
      const before = jobs[i - 1];
      const after = before === undefined || tasks === undefined ? '' : `, after ${before.id}`;
      return `${kind.padEnd(15)}job ${id}${size}${after}${tasks === undefined ? ', queued before' : ''}`;
    }),
    `logs           ${logDir}`,
  ];
}

function describeOutcome({ records, bytes, seed, checksum }: SlurmOutcome): string {
  return `committed ${formatCount(records)} records, ${formatBytes(bytes)}, seed ${JSON.stringify(seed)}, checksum ${checksum}`;
}
