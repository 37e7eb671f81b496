/** `pileshuf inspect`: what a store holds. */
import { Command } from 'commander';
import { inspectStore, type StoreReport } from '../../index.js';
import { oneLine } from '../one-line.js';
import { parseCommand } from '../options/parse-command.js';
import { declareStoreArgument } from '../options/store-options.js';
import { formatBytes, formatCount } from '../quantity.js';
import { printToStandardOutput } from '../standard-streams.js';
import type { Subcommand } from '../subcommand.js';
import { plural } from './describe-garbage.js';

interface Values {
  readonly verify?: boolean;
  readonly json?: boolean;
}

export const run: Subcommand = async (argv, { signal }) => {
  const parsed = parseCommand<Values>(declareCommand(), argv);
  if (parsed.kind === 'print') return printToStandardOutput(parsed.text);
  const { operands, values } = parsed;
  const report = await inspectStore(operands[0] ?? '', { verify: values.verify, signal });
  const lines = values.json === true ? [JSON.stringify(report)] : describeStore(report).map(oneLine);
  await printToStandardOutput(lines.map((line) => `${line}\n`).join(''));
};

function declareCommand(): Command {
  const command = new Command('pileshuf inspect').description(
    'Shows what a pile store holds, on standard output, and compares its manifest, indexes and sizes of files.',
  );
  declareStoreArgument(command, 'directory of the store');
  return command
    .option('--verify', 'read every record, and compare all checksums')
    .option('--json', 'print one JSON object');
}

function describeStore(report: StoreReport): string[] {
  const { piles, pileBytes, generations, removedPileSets, writers } = report;
  const { least, mean, most } = pileBytes;
  const skew = mean > 0 ? `, the largest ${(most / mean).toFixed(2)} times the mean` : '';
  return [
    `store       ${report.id} in ${report.directory}, seed ${JSON.stringify(report.seed)}`,
    `state       ${report.state}, of ${report.time}`,
    `records     ${formatCount(report.records)}, ${formatBytes(report.bytes)} (${formatCount(report.bytes)} bytes), the longest ${formatBytes(report.longestRecordBytes)}`,
    `checksum    ${report.checksum}${report.verified ? ', verified: every record was read' : ''}`,
    `on disk     ${formatBytes(report.diskBytes)} in ${plural(report.pileSets, 'pile set')}`,
    `piles       ${formatCount(piles)}, of ${formatBytes(least)} to ${formatBytes(most)}, ${formatBytes(mean)} on average${skew}`,
    ...(removedPileSets > 0 ? [`removed     ${plural(removedPileSets, 'pile set')}, for pileshuf gc to delete`] : []),
    ...(writers > 0 ? [`writers     ${plural(writers, 'writer')} at work, or ended before their time`] : []),
    `inputs      ${formatCount(report.inputs)} in ${plural(generations.length, 'generation')}${generations.length > 0 ? ':' : ''}`,
    ...generations.map(
      ({ name, time, commits, inputs, records, bytes, checksum }) =>
        `  ${name}  of ${time}, ${plural(commits, 'commit')}, ${plural(inputs, 'input')}, ${plural(records, 'record')}, ${formatBytes(bytes)}, checksum ${checksum}`,
    ),
  ];
}
