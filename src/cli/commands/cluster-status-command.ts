import {
  type ClusterStatus,
  type CommittedOutput,
  clusterStatus,
  type PassStatus,
  type RunningAttempt,
} from '../../cluster/cluster-status.js';
import { type SlurmQueueEntry, slurmQueue } from '../../cluster/slurm-calls.js';
import { SystemError } from '../../errors.js';
import { formatBytes, formatCount, formatPlural, formatSeconds, nameSome } from '../../values/format-numbers.js';
import type { CommandDefinition } from '../command.js';
import { nameFlags } from '../option-names.js';
import { describeDuplicates } from '../report-text.js';
import { printReport } from '../standard-streams.js';

const notes = `
A task that is shown as done is done. Running tasks report every few seconds: a
killed task stays in the list, and its numbers no longer change.
`;

export const command: CommandDefinition<'cluster status'> = {
  name: 'cluster status',
  operands: [],
  notes,
  async run({ values, display, reporter }) {
    const { jobDir = '' } = values;
    const status = withFlags(await clusterStatus(jobDir));
    const queue = await slurmQueue(jobDir).catch((error: unknown) => {
      if (!(error instanceof SystemError)) throw error;
      reporter.warning(error.message);
      return [];
    });
    reporter.close();
    const lines = [...describeStatus(status), ...queue.map(describeQueued)];
    await printReport({ ...status, queue }, lines, display);
  },
};

/** Attempts tell their errors in the words of the library. */
function withFlags(status: ClusterStatus): ClusterStatus {
  return { ...status, failed: status.failed.map((each) => ({ ...each, error: nameFlags(each.error) })) };
}

function describeStatus(status: ClusterStatus): string[] {
  const { jobDir, state, running, failed, logDir, output } = status;
  if (output !== undefined) {
    const left = state === 'commit' ? ', and temp data is left: the commit removes it, also when it is run again' : '';
    return [`job      ${jobDir}: committed${left}`, ...describeCommitted(output), ...describeReader(status)];
  }
  return [
    `job      ${jobDir}: ${state === 'commit' ? 'all tasks are done; only the commit is left' : `${state} tasks are left`}`,
    ...PASSES.flatMap((name) => (status[name] === undefined ? [] : [describePass(name, status[name])])),
    ...describeReader(status),
    ...running.map(describeRunning),
    ...failed.map(
      ({ kind, index, host, failedAt, error }) => `failed   ${kind} ${index} on ${host} at ${failedAt}: ${error}`,
    ),
    ...(logDir === undefined ? [] : [`logs     ${logDir}`]),
  ];
}

function describeCommitted({ records, bytes, duplicates, seed, checksum }: CommittedOutput): string[] {
  const counts = [`${formatCount(records)} records`, formatBytes(bytes), ...describeDuplicates(duplicates)];
  return [`output   ${counts.join(', ')}, seed ${JSON.stringify(seed)}, checksum ${checksum}`];
}

const PASSES = ['scatter', 'measure', 'shuffle', 'verify'] as const;

function describeReader({ readBackBy }: ClusterStatus): string[] {
  if (readBackBy === undefined) return [];
  if (readBackBy === 'nobody') return ['output   not read back'];
  return [`output   read back by ${readBackBy === 'verify' ? 'verify tasks' : 'the commit'}`];
}

function describePass(name: string, { tasks, done, unfinished, bytesPerSecond, secondsLeft }: PassStatus): string {
  const left = unfinished.length === 0 ? '' : `, left ${nameSome(unfinished.map(String), MOST_NAMED_TASKS)}`;
  const rate = bytesPerSecond === undefined ? '' : `, ${formatBytes(bytesPerSecond)}/s`;
  const time = secondsLeft === undefined ? '' : `, about ${formatSeconds(secondsLeft)} left`;
  return `${name.padEnd(9)}${done} of ${tasks} tasks done${left}${rate}${time}`;
}

const MOST_NAMED_TASKS = 8;

function describeRunning({ kind, index, host, pid, startedAt, toldAt, bytesDone, bytesTotal }: RunningAttempt): string {
  const progress = bytesTotal === 0 ? '' : `, ${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`;
  return `runs     ${kind} ${index} on ${host}, process ${pid}, since ${startedAt}, heard of at ${toldAt}${progress}`;
}

function describeQueued({ kind, jobId, index, tasks, state, reason, advice }: SlurmQueueEntry): string {
  const what = kind === 'commit' ? '' : index === undefined ? `, ${formatPlural(tasks, 'task')}` : `, task ${index}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  return `slurm    ${kind}, job ${jobId}${what}: ${state}${why}${advice === undefined ? '' : `; ${advice}`}`;
}
