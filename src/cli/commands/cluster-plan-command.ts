import { type ClusterPlanReport, planCluster } from '../../cluster/plan-cluster.js';
import { SystemError, UsageError } from '../../errors.js';
import type { ClusterPlanOptions } from '../../options/cluster-options.js';
import { formatBytes, formatPlural } from '../../values/format-numbers.js';
import type { Callbacks, CommandDefinition, ParsedWords } from '../command.js';
import { readNamedFiles } from '../named-files.js';
import { printReport } from '../standard-streams.js';

const notes = `
Any scheduler that numbers its tasks can run them: all scatter tasks, then all
shuffle tasks, then the commit. With --unique and --unique-by, measure tasks
come between the scatter and the shuffle tasks. Before the commit of a large
output, verify tasks read it back. The output, decoded, has the bytes of the
same command on one machine, without "cluster plan" and the options of tasks.

All machines must see the inputs, the output and the job directory under the
same paths, and have the same version of pileshuf. Until the commit, the job
directory holds temp data of about the size of the records: docs/CLUSTER.md.

Examples:
  pileshuf cluster plan corpus/ -o out --shards 512 --job-dir job --tasks 64
  pileshuf cluster task scatter --job-dir job --index 0
  pileshuf cluster task shuffle --job-dir job --index 0
  pileshuf cluster task commit --job-dir job
`;

export const command: CommandDefinition<'cluster plan'> = {
  name: 'cluster plan',
  operands: [['[inputs...]', 'files, directories or quoted globs']],
  notes,
  async run({ operands, values, display, reporter, callbacks, tuning }) {
    const options = await readClusterJobOptions({ operands, values }, callbacks);
    const report = await planCluster(options, tuning);
    reporter.close();
    await printReport(report, describePlan(report), display).catch((error: unknown) => {
      if (!(error instanceof SystemError)) throw error;
      throw new SystemError(
        'ERR_IO',
        `${error.message}; the job is planned in ${report.jobDir} all the same, and \`clusterStatus\` shows its tasks`,
        { cause: error },
      );
    });
  },
};

function describePlan(report: ClusterPlanReport): string[] {
  const { jobDir, scatterTasks, measureTasks, shuffleTasks, verifyTasks } = report;
  const { cpusPerTask, memoryBytes } = report;
  const inputs = `${formatPlural(report.inputCount, 'input')}, about ${formatBytes(report.expectedBytes)}`;
  return [
    `job directory  ${jobDir}`,
    `inputs         ${inputs}, seed ${JSON.stringify(report.seed)}`,
    ...describeTasks('scatter', scatterTasks),
    ...describeTasks('measure', measureTasks),
    ...describeTasks('shuffle', shuffleTasks),
    ...describeTasks('verify', verifyTasks),
    `each task      ${formatPlural(cpusPerTask, 'thread')}, ${formatBytes(memoryBytes)} for records`,
  ];
}

function describeTasks(kind: string, count: number): string[] {
  return count === 0 ? [] : [`${`${kind} tasks`.padEnd(15)}${count}, indexes 0 to ${count - 1}`];
}

interface JobWords extends Pick<ParsedWords<'cluster plan'>, 'operands' | 'values'> {}

/** Returns the options of the plan as they were typed: no file that the words name is read. */
export function clusterJobOptions({ operands, values }: JobWords) {
  const { inputLists = [], inputIds: _, randomSource: __, mix: ___, ...others } = values;
  const { output, jobDir, tasks, ...rest } = others;
  if (operands.length === 0 && inputLists.length === 0)
    throw new UsageError('name the inputs: tasks cannot share standard input');
  if (output === undefined) throw new UsageError('--output is missing: tasks cannot share standard output');
  if (tasks === undefined) throw new UsageError('--tasks is missing: give the most tasks of each kind');
  // The parser makes sure of it.
  if (jobDir === undefined) throw new RangeError('an option that must be given is missing');
  return { ...rest, jobDir, tasks, output, inputs: operands };
}

export async function readClusterJobOptions(
  words: JobWords,
  { signal, onWarning }: Pick<Callbacks, 'signal' | 'onWarning'>,
): Promise<ClusterPlanOptions> {
  const asked = { ...clusterJobOptions(words), signal, onWarning };
  return { ...asked, ...(await readNamedFiles(words.values, words.operands, signal)) };
}
