/** What a job will need, in lines of at most 80 columns for people; names of files may be longer. */
import type { ShufflePreview } from '../jobs/preview-report.js';
import type { MemoryOfPass1, MemoryOfPass2 } from '../plan/memory-plan.js';
import type { Expected } from '../plan/sampled-records.js';
import { formatBytes, formatCount, formatPlural, sizeWord } from '../quantity.js';
import { nameFlags } from './option-table.js';

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
    ...(resumed === undefined
      ? []
      : [
          [
            'resumed',
            `${formatPlural(resumed.pileSets, 'slice')} and ${formatBytes(resumed.outputBytes)} of output are done`,
          ] as const,
        ]),
  ];
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
  spareBytes: 'spare',
};
const PASS_2_WORDS: Readonly<Record<keyof MemoryOfPass2, string>> = {
  outputBufferBytes: 'output buffers',
  pileBytes: 'loaded piles',
  poolBytes: 'pool of piles',
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
    ['memory', `${formatBytes(budgetBytes)} (-S${size === undefined ? '' : ` ${size}`})`],
    ['  pass 1', parts(pass1, PASS_1_WORDS)],
    ['  pass 2', parts(pass2, PASS_2_WORDS)],
  ];
}

function diskRows({ temp, output, openFiles, devices }: ShufflePreview): Row[] {
  const { kind, path, records, bytes, files, compression, splits } = output;
  const place = kind === 'stream' ? (path ?? 'standard output') : path;
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

function tempText({ bytes, directories }: ShufflePreview['temp']): string {
  const places = directories.join(', ');
  if (bytes === undefined) return `unknown size, in ${places}`;
  return bytes.most === 0 ? 'none' : `${bytesRange(bytes)}, in ${places}`;
}

/** `12 records`, `about 1,200 records (1,190 to 1,210)` */
function countRange({ least, expected, most }: Expected): string {
  if (least === most) return formatPlural(expected, 'record');
  const [from = '', about = 0, to = ''] = [
    formatCount(threeDigits(least)),
    threeDigits(expected),
    formatCount(threeDigits(most)),
  ];
  return `about ${formatPlural(about, 'record')} (${from} to ${to})`;
}

/** An estimate has no more digits. */
function threeDigits(count: number): number {
  return Number(count.toPrecision(3));
}

function bytesRange(bytes: Expected | undefined): string {
  if (bytes === undefined) return 'unknown size';
  const [least, expected, most] = [bytes.least, bytes.expected, bytes.most].map(formatBytes);
  return least === most ? `${expected}` : `about ${expected} (${least} to ${most})`;
}

/** The text after its label, in lines that break between words. */
function wrapped(label: string, text: string): string[] {
  const lines: string[] = [];
  let line = label.padEnd(LABEL_COLUMNS);
  let isEmpty = true;
  for (const word of text.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = ' '.repeat(LABEL_COLUMNS);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
