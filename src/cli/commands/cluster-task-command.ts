import type { TaskKind } from '../../cluster/cluster-plan.js';
import { type ClusterTaskReport, runClusterTask } from '../../cluster/run-cluster-task.js';
import { formatBytes, formatPlural, formatSeconds } from '../../values/format-numbers.js';
import { parseWhole } from '../../values/parse-values.js';
import type { CommandDefinition } from '../command.js';
import { describeBlank, describeDuplicates, describeEmptyShards, describeWeighed } from '../report-text.js';
import { printToStandardOutput } from '../standard-streams.js';
import { jsonLine } from '../visible-text.js';

const notes = `
Scatter tasks run in any order, on any machine. Shuffle tasks need all scatter
tasks, the commit needs all shuffle tasks; each says which are missing. Measure
tasks, of a job with --unique, run between them. A verify task, of a large
output, reads back what the shuffle task of its index wrote. Run a task again if
it failed, was killed or was lost. A task that is done already says so and exits
with 0, and so does a task that the plan does not have. A task may run twice at
the same time.

Examples:
  pileshuf cluster task scatter --job-dir job --index 7
  pileshuf cluster task shuffle --job-dir job --index 3 --stride 16
  pileshuf cluster task commit --job-dir job
`;

export const command: CommandDefinition<'cluster task'> = {
  name: 'cluster task',
  operands: [['<kind>', 'scatter, measure, shuffle, verify or commit']],
  notes,
  async run({ operands: [typed = ''], values, display, reporter, callbacks }) {
    const { jobDir = '', taskIndex, stride, waitSeconds, scratchDir } = values;
    // The library refuses other words.
    const kind = typed as TaskKind;
    const task = {
      kind,
      jobDir,
      taskIndex: taskIndex ?? (kind === 'commit' ? undefined : indexFromScheduler()),
      stride,
      waitSeconds,
      scratchDir,
      signal: callbacks.signal,
      onWarning: callbacks.onWarning,
    };
    const report = await runClusterTask(task, performance.now() / 1000);
    if (display.json === true) {
      reporter.close();
      await printToStandardOutput(`${jsonLine(report)}\n`);
    } else reporter.done(describeTask(report), report);
  },
};

/** The variables in which schedulers give the index of a task in an array. */
const INDEX_VARIABLES = ['SLURM_ARRAY_TASK_ID', 'JOB_COMPLETION_INDEX', 'AWS_BATCH_JOB_ARRAY_INDEX'] as const;

function indexFromScheduler(): number | undefined {
  for (const name of INDEX_VARIABLES) {
    const text = process.env[name];
    if (text !== undefined && text !== '') return parseWhole(text, name);
  }
  return undefined;
}

function describeTask({ kind, done, wereDone, bytes, seconds, wasCommitted, output }: ClusterTaskReport): string {
  if (wasCommitted) return 'the job is committed already';
  if (output !== undefined) {
    const { records, blank, bytes, duplicates, seed, checksum } = output;
    const counts = [
      formatPlural(records, 'record'),
      ...describeBlank(blank),
      formatBytes(bytes),
      ...describeDuplicates(duplicates),
    ];
    const further = [...describeWeighed(output), ...describeEmptyShards(output)].map((words) => `, ${words}`);
    return `committed ${counts.join(', ')} in ${formatSeconds(seconds)}, seed ${JSON.stringify(seed)}, checksum ${checksum}${further.join('')}`;
  }
  if (done.length + wereDone.length === 0) return `the plan has no such ${kind} task: nothing to do`;
  const named = (tasks: readonly number[]) => `${kind} ${tasks.length === 1 ? 'task' : 'tasks'} ${tasks.join(', ')}`;
  return [
    ...(done.length > 0 ? [`did ${named(done)}, ${formatBytes(bytes)} in ${formatSeconds(seconds)}`] : []),
    ...(wereDone.length > 0 ? [`${named(wereDone)} ${wereDone.length === 1 ? 'was' : 'were'} done already`] : []),
  ].join('; ');
}
