import type { ShufflePreview, TogetherPreview } from '../../job/preview-report.js';
import { previewShuffle, previewTogether } from '../../job/preview-shuffle.js';
import type { MemoryOfPass1, MemoryOfPass2 } from '../../plan/memory-plan.js';
import type { Expected } from '../../plan/sampled-records.js';
import { formatBytes, formatCount, formatPlural, sizeWord } from '../../values/format-numbers.js';
import type { CommandDefinition } from '../command.js';
import { hintAtTerminal } from '../named-files.js';
import { nameFlags } from '../option-names.js';
import { printReport } from '../standard-streams.js';
import { togetherCallOf, togetherJobOf } from '../together-call.js';
import { shuffleCallOf, shuffleJobOf } from './shuffle-command.js';

const notes = `
plan takes the options of the main command, and says what that job will need:
memory, temp data, output, open files. It fails where the job would fail at its
start, and writes no output. docs/CHECKING.md explains the lines.

Examples:
  pileshuf plan corpus/ -o shuffled.jsonl -S 8G
  pileshuf plan corpus/ -o out --shards 128 --compress zstd --json
`;

export const command: CommandDefinition<'plan'> = {
  name: 'plan',
  operands: [['[inputs...]', 'files, directories, quoted globs, or - for standard input']],
  notes,
  async run({ operands, values, given, display, reporter, callbacks, tuning }) {
    const { signal, onWarning } = callbacks;
    const together = togetherCallOf({ operands, values, given });
    let report: ShufflePreview | TogetherPreview;
    if (together === undefined) {
      const asked = shuffleCallOf({ operands, values });
      // A plan reads names from standard input, and never records.
      const job = await shuffleJobOf(asked, signal, () => hintAtTerminal([], asked.inputLists, reporter.hint));
      report = await previewShuffle({ ...job, signal, onWarning }, tuning);
    } else report = await previewTogether({ ...(await togetherJobOf(together)), signal, onWarning }, tuning);
    reporter.close();
    await printReport(report, described(report), { json: display.json });
  },
};

function described(report: ShufflePreview | TogetherPreview): readonly string[] {
  if (!('members' in report)) return describePreview(report);
  return report.members.flatMap((member) => [`member      ${member.name}`, ...describePreview(member)]);
}

/** The width of a line; names of files may be longer. */
const COLUMNS = 80;
const LABEL_COLUMNS = 12;

type Row = readonly [label: string, text: string];

export function describePreview(preview: ShufflePreview): readonly string[] {
  const rows: readonly Row[] = [
    ...inputRows(preview),
    ...workRows(preview),
    ...memoryRows(preview),
    ...diskRows(preview),
    ...preview.advice.map(({ text }, i): Row => [i === 0 ? 'advice' : '', nameFlags(text)]),
  ];
  return rows.flatMap(([label, text]) => wrapped(label, text));
}

function inputRows({ inputs, resumed }: ShufflePreview): Row[] {
  const { count, bytes, codecs, records, recordBytes } = inputs;
  const kinds = Object.entries(codecs).map(([name, files]) =>
    files === count ? name : `${formatCount(files)} ${name}`,
  );
  const size = bytes === undefined ? 'unknown size' : formatBytes(bytes);
  return [
    ['inputs', `${formatPlural(count, 'input')}, ${size} (${kinds.join(', ')})`],
    ['records', records === undefined ? 'unknown number' : `${countRange(records)}, ${bytesRange(recordBytes)}`],
    ...(resumed === undefined ? [] : [describeResumed(resumed)]),
  ];
}

function describeResumed({ pileSets, outputBytes }: NonNullable<ShufflePreview['resumed']>): Row {
  return ['resumed', `${formatPlural(pileSets, 'slice')} and ${formatBytes(outputBytes)} of output are done`];
}

function workRows({ slices, workers, piles, isResumable, inputs, output, memory }: ShufflePreview): Row[] {
  const levels = piles.levels > 1 ? `, in ${piles.levels} levels: each record is put on ${piles.levels} piles` : '';
  const place = piles.stayInMemory
    ? ', which stay in memory'
    : memory.pass1.poolBytes > 0
      ? ', on disk where they do not fit in memory'
      : ' on disk';
  const hasStream = output.kind === 'stream' || inputs.codecs['stream'] !== undefined;
  const advice = hasStream ? '' : '; --resume starts one that can';
  return [
    ['work', `${formatPlural(slices, 'slice')} for ${formatPlural(workers, 'worker')}`],
    ['piles', `${formatCount(piles.count)}${place}${levels}`],
    ['resume', isResumable ? 'the job can be resumed' : `the job cannot be resumed${advice}`],
  ];
}

const PASS_1_WORDS: Readonly<Record<keyof MemoryOfPass1, string>> = {
  pileBufferBytes: 'pile buffers',
  readWindowBytes: 'read windows',
  tableBytes: 'tables',
  poolBytes: 'pool of piles',
  transferBytes: 'fetches and uploads',
  spareBytes: 'spare',
};
const PASS_2_WORDS: Readonly<Record<keyof MemoryOfPass2, string>> = {
  outputBufferBytes: 'output buffers',
  pileBytes: 'loaded piles',
  poolBytes: 'pool of piles',
  transferBytes: 'fetches and uploads',
  spareBytes: 'spare',
};

function memoryRows({ memory }: ShufflePreview): Row[] {
  const { budgetBytes, pass1, pass2 } = memory;
  const size = sizeWord(budgetBytes);
  const parts = <Name extends string>(sizes: Readonly<Record<Name, number>>, words: Readonly<Record<Name, string>>) =>
    (Object.keys(words) as Name[])
      .filter((name) => sizes[name] > 0)
      .map((name) => `${words[name]} ${formatBytes(sizes[name])}`)
      .join(', ');
  return [
    ['memory', `${formatBytes(budgetBytes)}${size === undefined ? '' : ` (-S ${size})`}`],
    ['  pass 1', parts(pass1, PASS_1_WORDS)],
    ['  pass 2', parts(pass2, PASS_2_WORDS)],
  ];
}

function diskRows({ temp, output, openFiles, devices }: ShufflePreview): Row[] {
  const { kind, path, records, bytes, files, compression, splits, rowGroups } = output;
  const place = path ?? 'standard output';
  const cut = kind === 'shards' && files !== undefined ? ` in ${formatPlural(files, 'file')}` : '';
  const encoded = compression === undefined ? '' : `, ${compression}`;
  const limit = openFiles.limit === undefined ? '' : `, and the limit is ${formatCount(openFiles.limit)} (ulimit -n)`;
  const size = bytes === undefined ? 'unknown size' : bytesRange(bytes);
  return [
    ['temp data', tempText(temp)],
    ['output', `${records === undefined ? '' : `${countRange(records)}, `}${size}${encoded}${cut}, to ${place}`],
    ...(splits ?? []).map(
      ({ name, records: ofSplit }): Row => [
        '',
        `split ${name}: ${ofSplit === undefined ? 'unknown number' : countRange(ofSplit)}`,
      ],
    ),
    ...(rowGroups === undefined ? [] : [rowGroupRow(rowGroups)]),
    ['open files', `${formatCount(openFiles.most)} at most${limit}`],
    ...devices.map(({ name, class: kindOfDisk, uses, calls, freeBytes }, i): Row => {
      const words = { inputs: 'inputs', temp: 'temp data', output: 'output' };
      const limits = [
        ...(calls === undefined ? [] : [`${formatPlural(calls, 'call')} at a time`]),
        ...(freeBytes === undefined ? [] : [`${formatBytes(freeBytes)} free`]),
      ];
      const text = [`${name} (${kindOfDisk}) for ${uses.map((use) => words[use]).join(', ')}`, ...limits].join(', ');
      return [i === 0 ? 'disks' : '', text];
    }),
  ];
}

function rowGroupRow({ count, records, recordBytes }: NonNullable<ShufflePreview['output']['rowGroups']>): Row {
  const each = `${formatPlural(Number(records.toPrecision(3)), 'row')}, ${formatBytes(recordBytes)} before encoding`;
  return ['row groups', `about ${formatCount(count)}, each of about ${each}`];
}

function tempText({ bytes, directories }: ShufflePreview['temp']): string {
  const places = directories.join(', ');
  if (bytes === undefined) return `unknown size, in ${places}`;
  return bytes.most === 0 ? 'none' : `${bytesRange(bytes)}, in ${places}`;
}

/** `12 records`, `about 1,200 records (1,190 to 1,210)` */
function countRange({ least, expected, most }: Expected): string {
  if (least === most) return formatPlural(expected, 'record');
  // An estimate has no more than three digits.
  const [from = 0, about = 0, to = 0] = [least, expected, most].map((count) => Number(count.toPrecision(3)));
  const range = from === to ? '' : ` (${formatCount(from)} to ${formatCount(to)})`;
  return `about ${formatPlural(about, 'record')}${range}`;
}

function bytesRange(bytes: Expected | undefined): string {
  if (bytes === undefined) return 'unknown size';
  const [least, expected, most] = [bytes.least, bytes.expected, bytes.most].map(formatBytes);
  return least === most ? `${expected}` : `about ${expected} (${least} to ${most})`;
}

/** The text after its label, in lines that break between words. */
function wrapped(label: string, text: string): string[] {
  const lines = [...text.matchAll(LINE)].map(([, line = '']) => line);
  return lines.map((line, i) => `${(i === 0 ? label : '').padEnd(LABEL_COLUMNS)}${line}`);
}

/** Matches as many words as fit, or one that is too long. */
const LINE = new RegExp(`([^]{1,${COLUMNS - LABEL_COLUMNS}}|[^ ]+)(?: |$)`, 'g');
