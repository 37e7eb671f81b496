import { type CheckReport, checkShuffled } from '../../checks/check-shuffled.js';
import type { OrderTest } from '../../checks/order-tests.js';
import type { OrderVerdict } from '../../checks/order-verdict.js';
import { VerificationError } from '../../errors.js';
import { formatBytes, formatPlural, formatSeconds } from '../../values/format-numbers.js';
import type { CommandDefinition } from '../command.js';
import { chooseInputs } from '../named-files.js';
import { printReport } from '../standard-streams.js';

const notes = `
check-shuffled takes the files one after the other, as a reader would, and reads
a sample of large ones. The verdict is one of four: shuffled, as far as visible;
nothing to see (an order would not be visible in such records); locally
shuffled, as by a shuffle buffer; or not shuffled. The last two end with exit
code 4. docs/CHECKING.md explains the tests.

Examples:
  pileshuf check-shuffled train/
  pileshuf check-shuffled shard-*.jsonl.gz --field .source --id .id --json
`;

export const command: CommandDefinition<'check-shuffled'> = {
  name: 'check-shuffled',
  operands: [['<files...>', 'files, directories or quoted globs, in their order']],
  notes,
  async run({ operands, values, display, reporter, callbacks, tuning }) {
    const report = await checkShuffled({ ...values, inputs: chooseInputs(operands, []), ...callbacks }, tuning);
    reporter.close();
    await printReport(report, describe(report), display);
    if (isOrdered(report.verdict)) throw new VerificationError(`the records are ${WORDS[report.verdict]}`);
  },
};

const WORDS: Readonly<Record<OrderVerdict, string>> = {
  shuffled: 'shuffled, as far as visible',
  'nothing-to-see': 'nothing to see: an order of such records would not be visible',
  'locally-shuffled': 'locally shuffled: neighbours are in random order, but parts of the data differ',
  'not-shuffled': 'not shuffled: neighbours are alike, or in order',
};

function isOrdered(verdict: OrderVerdict): boolean {
  return verdict === 'locally-shuffled' || verdict === 'not-shuffled';
}

function describe(report: CheckReport): string[] {
  const { files, records, isCounted, bytes, sampledRecords, windows, seconds, verdict, drift, neighbours } = report;
  const sampled = `looked at ${formatPlural(sampledRecords, 'record')} in ${formatPlural(windows, 'place')}`;
  return [
    `data         ${formatPlural(files, 'file')}, ${isCounted ? '' : 'about '}${formatPlural(records, 'record')}, ${formatBytes(bytes)}; ${sampled} (${formatSeconds(seconds)})`,
    `verdict      ${WORDS[verdict]}`,
    ...(windows === 0 ? ['             there are too few records to test'] : []),
    ...(windows === 0 ? [] : [`drift        ${describeTest(drift)}`, `neighbours   ${describeTest(neighbours)}`]),
    ...describeTravel(report),
    ...report.profile.map(({ name, deviations }) => `${name.padEnd(13)}${sparkline(deviations)}`),
  ];
}

function describeTest({ isSeen, probability, families }: OrderTest): string {
  if (!isSeen) return `none seen (p = ${formatProbability(probability)})`;
  const strong = families.filter((each) => each.probability <= 1e-4).map(({ name }) => name);
  return `seen in ${strong.join(', ')} (p ${probability < 1e-12 ? '< 1e-12' : `= ${formatProbability(probability)}`})`;
}

function formatProbability(probability: number): string {
  return probability >= 0.01 ? probability.toFixed(2) : probability.toExponential(0);
}

function describeTravel({ travel, verdict, records }: CheckReport): string[] {
  if (travel === undefined) return [];
  const { mean, median, deviation, ascending } = travel;
  const moved = `by their numbers, records are ${formatShare(mean)} of the data away from their place (median ${formatShare(median)}; random: 33% and 29%); ${formatShare(ascending)} of neighbours ascend (random: 50%)`;
  const bufferRecords = formatPlural(Number((deviation * records).toPrecision(2)), 'record');
  const isBuffered = verdict === 'locally-shuffled' && deviation < LEAST_RANDOM_DEVIATION;
  return [
    `travel       ${moved}`,
    ...(isBuffered ? [`             as after a shuffle buffer of about ${bufferRecords}`] : []),
  ];
}

/** The least standard deviation of a random order, as a part of the data; 0.41 is expected. */
const LEAST_RANDOM_DEVIATION = 0.35;

function formatShare(share: number): string {
  const percent = share * 100;
  return `${percent >= 10 ? percent.toFixed(0) : percent >= 1 ? percent.toFixed(1) : percent.toFixed(2)}%`;
}

const BLOCKS = '▁▂▃▄▅▆▇█';
/** The least scale, so that the noise of a random order stays low. */
const LEAST_SCALE = 6;

/** A column for each part of the data: low, in the middle, or high. */
function sparkline(deviations: readonly number[]): string {
  const scale = Math.max(LEAST_SCALE, ...deviations.map(Math.abs));
  return deviations
    .map((value) => BLOCKS[Math.min(BLOCKS.length - 1, Math.floor(((value / scale + 1) / 2) * BLOCKS.length))] ?? '')
    .join('');
}
