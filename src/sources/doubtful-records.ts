/**
 * Looks for inputs whose records are not what the job takes for records: refuses those whose first bytes or names say
 * so, and warns of those whose first bytes or names raise a doubt.
 */
import { basename } from 'node:path';
import { InputError } from '../errors.js';
import { withoutCodecSuffix } from '../formats/codec-table.js';
import { examineFirstBytes, headBytesOf } from '../formats/first-bytes.js';
import { framingOf } from '../formats/framing-table.js';
import { LINES_OF_READ } from '../formats/framings/fastq.js';
import { linesHeader } from '../formats/headers/leading-header.js';
import { recordsOfName } from '../formats/recognition.js';
import { type RecordFormat, requiresText } from '../formats/record-format.js';
import { readBytes, withFile } from '../io/files.js';
import { openInput } from '../places/inputs/input-kinds.js';
import { type FileInput, type Inputs, isFileInput } from './input.js';
import { doubtsOf } from './start-findings.js';

/** Usually all inputs of a job are of one format, so before the job only so many compressed files are looked at. */
const PEEKED_FILES = 16;
/** Enough for the first block of most zstd files. */
const PEEKED_BYTES = 64 * 1024;
const TABLE = /\.(?:csv|tsv|tab|psv)$/;
/** Names that sequencers and archives give: `reads_R1_001.fastq`, `reads.R2.fq`, `SRR000001_1.fastq`. */
const MATE = /[._-]R[12](?=[._-]|$)|_[12](?=\.[^.]*$)/i;

/**
 * Looks at all plain files, and at the first compressed ones. The task that reads the beginning of another input looks
 * at it then. Refuses names of tables unless the caller says what a record or a header is.
 * @param mayHaveHeaders whether the output can have a header, so that a line may advise one.
 */
export function refuseForeignFiles(
  inputs: Inputs,
  format: RecordFormat,
  mayHaveHeaders: boolean,
  onWarning: (line: string) => void,
): void {
  if (!requiresText(format)) return;
  let leftToPeek = PEEKED_FILES;
  for (const input of inputs.filter(isFileInput)) {
    const { path, codec } = input;
    const isPeeked = codec !== undefined && leftToPeek > 0;
    if (isPeeked) leftToPeek -= 1;
    const finding = isPeeked
      ? examineFirstBytes({ head: headOf(input, headBytesOf(path, format)), isWhole: false, path }, format)
      : input.finding;
    if (finding instanceof InputError) throw finding;
  }
  doubtsOf(inputs).tell(inputs, onWarning);
  if (format.linesAssumed) refuseNamesOfTables(inputs, format, mayHaveHeaders, onWarning);
  else warnOfEqualFirstRows(inputs, format, mayHaveHeaders, onWarning);
}

/** @param mostReturnedBytes as for `decodeHead`. */
function headOf({ path, codec }: FileInput, mostReturnedBytes: number): Uint8Array {
  const bytes = withFile(openInput(path), (file) => readBytes(file, 0, PEEKED_BYTES));
  return codec === undefined ? bytes : codec.decodeHead(bytes, mostReturnedBytes).bytes;
}

function refuseNamesOfTables(
  inputs: Inputs,
  { header }: RecordFormat,
  mayHaveHeaders: boolean,
  onWarning: (line: string) => void,
): void {
  const named = namesOf(inputs.filter(({ path }) => TABLE.test(withoutCodecSuffix(path.toLowerCase()))));
  if (named === undefined) return;
  if (header !== undefined) {
    onWarning(`each line of ${named} is a record; give \`records: { by: 'csv' }\` if a field may hold a newline`);
    return;
  }
  const [before, ofHeader] = mayHaveHeaders
    ? ['', ' `header.lines` 1 if the first line is a header,']
    : ['take headers off first, and ', ''];
  throw new InputError(
    'ERR_INPUT_FORMAT',
    `${named}: its name stands for a table, whose rows may hold newlines and whose first line may be a header; ${before}give \`records: { by: 'csv' }\` if fields may be quoted,${ofHeader} or \`records: { by: 'lines' }\` if each line is a record`,
  );
}

/** Equal first rows are most likely headers, which would lie among the rows. */
function warnOfEqualFirstRows(
  inputs: Inputs,
  { framing, header }: RecordFormat,
  mayHaveHeaders: boolean,
  onWarning: (line: string) => void,
): void {
  if (header !== undefined || framing === undefined || framingOf(framing).hasQuotedFields !== true) return;
  const pathOfRow = new Map<string, string>();
  for (const input of inputs.filter(isFileInput).slice(0, PEEKED_FILES)) {
    const row = firstRowOf(input);
    const earlier = pathOfRow.get(row);
    if (row !== '' && earlier !== undefined) {
      const advice = mayHaveHeaders ? 'give `header.lines` 1' : 'take it off first';
      onWarning(
        `${earlier} and ${input.path} begin with the same row, which is a record like others; if it is a header, ${advice}`,
      );
      return;
    }
    pathOfRow.set(row, input.path);
  }
}

/** Empty: so is the input, or its first row is long. */
function firstRowOf(input: FileInput): string {
  const head = Buffer.from(headOf(input, PEEKED_BYTES));
  const header = linesHeader({ count: 1, lineEnd: '0a', isQuoted: true }).measure(head, false, input.path);
  return Buffer.from(header?.bytes ?? []).toString('latin1');
}

/** Warns, in one line for all inputs, of reads whose mates are in another file: no two files get the same order. */
export function warnOfMates(
  inputs: Inputs,
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

function namesOf([first, ...others]: Inputs): string | undefined {
  if (first === undefined) return undefined;
  return others.length === 0
    ? first.path
    : `${first.path} and ${others.length} other ${others.length === 1 ? 'input' : 'inputs'}`;
}
