/** `pileshuf cluster plan`: plans a shuffle as tasks for several machines. */
import type { ClusterPlanReport } from '../../cluster/make-plan.js';
import { planCluster } from '../../cluster/plan-job.js';
import { UsageError } from '../../errors.js';
import type { CommandDefinition } from '../command.js';
import { resolveInputIds, resolveInputs } from '../input-list.js';
import { countOfRecords } from '../option-values.js';
import { refuseMistypedWords } from '../other-words.js';
import { formatBytes, formatPlural } from '../quantity.js';
import { readSeedFrom } from '../random-seed.js';
import { printToStandardOutput } from '../standard-streams.js';
import { jsonLine, oneLine } from '../visible-text.js';

const notes = `
Any scheduler that can count runs the tasks: all scatter tasks, then all shuffle
tasks, then the commit. The output has the same bytes as that of the same
command on one machine, without "cluster plan" and the options of tasks.

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
  async run({ operands, values, reporter, signal, tuning }) {
    const { inputLists = [], inputIds, randomSource, mix, json, progress: _, quiet: __, ...rest } = values;
    const { output, jobDir, tasks, ...options } = rest;
    if (operands.length === 0 && inputLists.length === 0)
      throw new UsageError('name the inputs: tasks cannot share standard input');
    // The parser makes sure of these.
    if (output === undefined || jobDir === undefined || tasks === undefined)
      throw new RangeError('an option that must be given is missing');
    refuseMistypedWords(operands, 'cluster plan');
    const report = await planCluster(
      {
        ...options,
        output,
        jobDir,
        tasks,
        headCount: countOfRecords(options.headCount),
        inputs: await resolveInputs(operands, inputLists, signal),
        inputIds: await resolveInputIds(inputIds, signal),
        seed: randomSource === undefined ? options.seed : await readSeedFrom(randomSource, false),
        mix: mix === undefined ? undefined : await (await import('../mix-file.js')).readMix(mix, signal),
        signal,
        onWarning: reporter.warning,
      },
      tuning,
    );
    reporter.close();
    const lines = json === true ? [jsonLine(report)] : describePlan(report).map(oneLine);
    await printToStandardOutput(lines.map((line) => `${line}\n`).join(''));
  },
};

function describePlan(report: ClusterPlanReport): string[] {
  const { jobDir, scatterTasks, shuffleTasks, cpusPerTask, memoryBytes } = report;
  const inputs = `${formatPlural(report.inputCount, 'input')}, about ${formatBytes(report.expectedBytes)}`;
  return [
    `job directory  ${jobDir}`,
    `inputs         ${inputs}, seed ${JSON.stringify(report.seed)}`,
    `scatter tasks  ${scatterTasks}, indexes 0 to ${scatterTasks - 1}`,
    `shuffle tasks  ${shuffleTasks}, indexes 0 to ${shuffleTasks - 1}`,
    `each task      ${formatPlural(cpusPerTask, 'thread')}, ${formatBytes(memoryBytes)} for records`,
  ];
}
