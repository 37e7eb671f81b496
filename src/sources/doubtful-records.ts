/**
 * Looks for inputs whose records are not what the job takes for records: refuses those whose first bytes say so, and
 * warns of those whose first bytes or names raise a doubt.
 */
import { basename } from 'node:path';
import { InputError } from '../errors.js';
import type { Codec } from '../formats/codec.js';
import { withoutCodecSuffix } from '../formats/codec-table.js';
import { type Finding, headBytesOf, lookAt } from '../formats/first-look.js';
import { framingOf } from '../formats/framing-table.js';
import { LINES_OF_READ } from '../formats/framings/fastq.js';
import { recordsOfName } from '../formats/recognition.js';
import { isHeldToText, type RecordFormat } from '../formats/record-format.js';
import { openForRead, readBytes, withFile } from '../io/files.js';
import { doubtsOf } from './beginnings.js';
import type { Input } from './source.js';

/** Usually all inputs of a job are of one format, so before the job only so many compressed files are looked at. */
const PEEKED_FILES = 16;
/** Enough for the first block of most zstd files. */
const PEEKED_BYTES = 64 * 1024;
const CSV = /\.csv$/i;
const TSV = /\.tsv$/i;
/** Names that sequencers and archives give: `reads_R1_001.fastq`, `reads.R2.fq`, `SRR000001_1.fastq`. */
const MATE = /[._-]R[12](?=[._-]|$)|_[12](?=\.[^.]*$)/i;

/**
 * Looks at all plain files, and at the first compressed ones. The task that reads the beginning of another input looks
 * at it then.
 */
export function refuseForeignFiles(
  inputs: readonly Input[],
  format: RecordFormat,
  onWarning: (line: string) => void,
): void {
  if (!isHeldToText(format)) return;
  let leftToPeek = PEEKED_FILES;
  for (const input of inputs) {
    if (input.kind !== 'file') continue;
    const { path, codec } = input;
    const isPeeked = codec !== undefined && leftToPeek > 0;
    if (isPeeked) leftToPeek -= 1;
    const finding = isPeeked ? findingOf(path, codec, format) : input.finding;
    if (finding instanceof InputError) throw finding;
  }
  doubtsOf(inputs).tell(inputs, onWarning);
}

function findingOf(path: string, { decodeHead }: Codec, format: RecordFormat): Finding | undefined {
  const bytes = withFile(openForRead(path, 'input'), (file) => readBytes(file, 0, PEEKED_BYTES));
  const { kept } = decodeHead(bytes, headBytesOf(path, format));
  return lookAt({ head: kept, isWhole: false, path }, format);
}

/** Warns, in one line for all inputs, of names that plain lines seldom have. */
export function warnOfNamesOfRecords(
  inputs: readonly Input[],
  { linesAssumed, header }: RecordFormat,
  keepsHeaders: boolean,
  onWarning: (line: string) => void,
): void {
  if (!linesAssumed) return;
  const headers = keepsHeaders ? 'give `header.lines` 1' : 'take the header off';
  const ifHeader = header === undefined ? [`${headers} if it begins with one`] : [];
  const kinds: [format: string, name: RegExp, advice: readonly string[]][] = [
    ['CSV', CSV, ["give `records: { by: 'csv' }` if a field may hold a newline", ...ifHeader]],
    ['TSV', TSV, ifHeader],
  ];
  const parts = kinds.flatMap(([format, name, advice]) => {
    const named = namesOf(inputs.filter(({ path }) => name.test(withoutCodecSuffix(path))));
    return named === undefined || advice.length === 0 ? [] : [`for ${format} (${named}) ${advice.join(' and ')}`];
  });
  if (parts.length === 0) return;
  onWarning(
    `each line is a record; ${parts.join('; ')}; \`records: { by: 'lines' }\` takes lines without this warning`,
  );
}

/** Warns, in one line for all inputs, of reads whose mates are in another file: no two files get the same order. */
export function warnOfMates(
  inputs: readonly Input[],
  { framing, linesAssumed }: RecordFormat,
  canAlign: boolean,
  onWarning: (line: string) => void,
): void {
  const names = new Set(inputs.map(({ path }) => withoutCodecSuffix(basename(path))));
  const hasFourLines = framing !== undefined && framingOf(framing).recordEnd?.every === LINES_OF_READ;
  const named = namesOf(
    inputs.filter(({ path }) => {
      const name = withoutCodecSuffix(basename(path));
      if (!MATE.test(name)) return false;
      return recordsOfName(name)?.by === 'fastq'
        ? hasFourLines || linesAssumed
        : hasFourLines && names.has(mateOf(name));
    }),
  );
  if (named === undefined) return;
  const advice = canAlign
    ? 'give R1 and R2 to `together` (docs/CHOOSING-RECORDS.md)'
    : `interleave R1 and R2 first and give \`records.linesPerRecord\` ${2 * LINES_OF_READ} (docs/FORMATS.md)`;
  onWarning(
    `mates in two files do not stay aligned when they are shuffled by themselves, not even with the same seed: ${named}; ${advice}`,
  );
}

function mateOf(name: string): string {
  return name.replace(MATE, (mark) => mark.replace(/[12]$/, (digit) => (digit === '1' ? '2' : '1')));
}

function namesOf([first, ...others]: readonly Input[]): string | undefined {
  if (first === undefined) return undefined;
  return others.length === 0
    ? first.path
    : `${first.path} and ${others.length} other ${others.length === 1 ? 'input' : 'inputs'}`;
}
