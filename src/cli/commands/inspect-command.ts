import { inspectStore, type StoreReport } from '../../job/inspect-store.js';
import { formatBytes, formatCount, formatExactBytes, formatPlural } from '../../values/format-numbers.js';
import type { CommandDefinition } from '../command.js';
import { unownedWords } from '../report-text.js';
import { printReport } from '../standard-streams.js';

const notes = `
The contents go to standard output. Without --verify, pileshuf compares the
manifest, the indexes and the sizes of files.
`;

export const command: CommandDefinition<'inspect'> = {
  name: 'inspect',
  operands: [['<store>', 'directory of the store']],
  notes,
  async run({ operands: [store = ''], values, display, reporter, callbacks, tuning }) {
    const report = await inspectStore(store, { ...values, ...callbacks }, tuning);
    reporter.close();
    await printReport(report, describeStore(report), { json: display.json });
  },
};

function describeStore(report: StoreReport): string[] {
  const { piles, pileBytes, generations, removedPileSets, unowned, writers } = report;
  const { least, mean, most } = pileBytes;
  const skew = mean > 0 ? `, the largest ${(most / mean).toFixed(2)} times the mean` : '';
  return [
    `store       ${report.id} in ${report.directory}, seed ${JSON.stringify(report.seed)}`,
    `state       ${report.state}, of ${report.time}`,
    `records     ${formatCount(report.records)}, ${formatExactBytes(report.bytes)}, the longest ${formatBytes(report.longestRecordBytes)}`,
    `checksum    ${report.checksum}${report.verified ? ', verified: every record was read' : ''}`,
    `on disk     ${formatBytes(report.diskBytes)} in ${formatPlural(report.pileSets, 'pile set')}`,
    `piles       ${formatCount(piles)}, of ${formatBytes(least)} to ${formatBytes(most)}, ${formatBytes(mean)} on average${skew}`,
    ...(removedPileSets > 0
      ? [`removed     ${formatPlural(removedPileSets, 'pile set')}, for pileshuf gc to delete`]
      : []),
    ...(unowned.pileSets > 0 ? [`unowned     ${unownedWords(unowned)}; pileshuf gc --give-up-lost deletes them`] : []),
    ...(writers > 0 ? [`writers     ${formatPlural(writers, 'writer')} at work, or killed`] : []),
    `inputs      ${formatCount(report.inputs)} in ${formatPlural(generations.length, 'generation')}${generations.length > 0 ? ':' : ''}`,
    ...generations.map(
      ({ name, time, commits, inputs, records, bytes, checksum }) =>
        `  ${name}  of ${time}, ${formatPlural(commits, 'commit')}, ${formatPlural(inputs, 'input')}, ${formatPlural(records, 'record')}, ${formatBytes(bytes)}, checksum ${checksum}`,
    ),
  ];
}
