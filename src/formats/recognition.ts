/**
 * Tells what files hold, by the beginning and the name of each, from one table. Read as lines, a file that is not text
 * is cut at every byte that looks like a newline, and nothing puts it together again. So first decoded bytes refuse an
 * input, and names alone only where they are all that is known: those of outputs, and of the files of a directory. To
 * add a format: a line in the table, or `files` of a kind of records.
 */
import { basename } from 'node:path';
import { InputError, UsageError } from '../errors.js';
import { andOtherInputs } from '../values/format-numbers.js';
import { detectCodec, withoutCodecSuffix } from './codec-table.js';
import { codecOfName, OUTPUT_CODECS } from './encoder-table.js';
import { type AnyRecordKind, type RecordKind, recordKinds } from './framing-table.js';
import type { RecordFormat } from './record-format.js';
import type { FileFormat, Nature, RefusedFormat } from './record-kind.js';
import { extensionOfRows, type KnownRowFormat, rowFormats, unreadRows } from './rows/registry.js';
import type { RowFacts } from './rows/row-format.js';
import { BLOCK_BYTES } from './tar-header.js';
import { wideEncodingOf } from './wide-text.js';

/** Enough for the magic bytes of all formats, the furthest being those of a tar header. */
export const FORMAT_HEAD_BYTES = BLOCK_BYTES;

const CONVERT = 'convert it to lines';
const EXTRACT = 'extract it';
const LEAVE_OUT = 'leave it out';
const decodeBy = (program: string) => `give \`decompressProgram\` '${program}'`;
const compressedBy = (program: string) => `data that ${program} has compressed`;

const ROWS_REMEDY =
  'name its file, not compressed, to shuffle, verify or check-shuffled, without options about records; else convert it to lines';
const ARCHIVE = 'an archive';
const ALIGNMENTS = 'compressed alignments or variants';

const formats: readonly FileFormat[] = [
  ...recordKinds.flatMap(({ files = [] }) => files),
  ...Object.entries(rowFormats).map(lineOfRows),
  // Feather files are Arrow files, or older ones of this magic.
  { name: 'Arrow data', remedy: CONVERT, magics: ['ARROW1', 'FEA1'], needsNul: true },
  { name: 'Arrow data', remedy: CONVERT, matches: isArrowStream },
  { name: 'ORC data', remedy: CONVERT, magics: ['ORC'], needsNul: true },
  { name: 'Avro data', remedy: CONVERT, magics: ['Obj\x01'] },
  { name: 'a Hadoop sequence file', remedy: CONVERT, magics: ['SEQ\x04', 'SEQ\x05', 'SEQ\x06'] },
  { name: 'MATLAB data', remedy: CONVERT, magics: ['MATLAB 5.0 MAT-file'], needsNul: true },
  {
    name: 'MATLAB data (HDF5 with columns as rows)',
    remedy: 'write them transposed with h5py: `output[NAME] = array[()].T`',
    magics: ['MATLAB 7.3 MAT-file'],
    needsNul: true,
  },
  { name: 'R data', remedy: CONVERT, magics: ['X\n\0\0', 'RDX2\nX\n', 'RDX3\nX\n'] },
  { name: 'a Python pickle', remedy: CONVERT, magics: ['\x80\x02', '\x80\x03', '\x80\x04', '\x80\x05'] },
  { name: 'an SQLite database', remedy: CONVERT, magics: ['SQLite format 3\0'] },
  { name: 'a DuckDB database', remedy: CONVERT, matches: (head) => head.startsWith('DUCK', 8) },
  { name: 'an LMDB database', remedy: CONVERT, matches: (head) => head.startsWith('\xde\xc0\xef\xbe', 16) },
  // The length of the description, then the description, a JSON object.
  {
    name: 'tensors (.safetensors)',
    remedy: LEAVE_OUT,
    matches: (head) => head.startsWith('\0\0\0', 5) && head.startsWith('{', 8),
  },
  { name: 'a model (.gguf)', remedy: LEAVE_OUT, magics: ['GGUF'], needsNul: true },
  {
    name: 'the index of tokens of Megatron (.idx)',
    remedy: 'leave it out, and give its .bin file with `records.recordBytes`',
    magics: ['MMIDIDX\0', 'TNTIDX\0'],
  },
  { name: 'WARC records', remedy: CONVERT, magics: ['WARC/0.', 'WARC/1.'] },
  { name: 'BAM alignments', remedy: CONVERT, magics: ['BAM\x01'] },
  { name: 'CRAM alignments', remedy: CONVERT, magics: ['CRAM\x02', 'CRAM\x03'] },
  { name: 'BCF variants', remedy: CONVERT, magics: ['BCF\x02'] },
  {
    name: 'a zip archive (.npz, .pt and .xlsx are zip archives)',
    remedy: EXTRACT,
    magics: ['PK\x03\x04', 'PK\x05\x06'],
  },
  { name: 'a 7z archive', remedy: EXTRACT, magics: ['7z\xbc\xaf\x27\x1c'] },
  { name: 'a RAR archive', remedy: EXTRACT, magics: ['Rar!\x1a\x07'] },
  { name: compressedBy('compress'), remedy: decodeBy('gzip -dc'), magics: ['\x1f\x9d'] },
  { name: compressedBy('lzma'), remedy: decodeBy('xz -dc'), magics: ['\x5d\0\0'] },
  { name: compressedBy('lzip'), remedy: decodeBy('lzip -dc'), magics: ['LZIP\0', 'LZIP\x01'] },
  { name: compressedBy('lzop'), remedy: decodeBy('lzop -dc'), magics: ['\x89LZO\0\r\n\x1a\n'] },
  { name: compressedBy('snappy'), remedy: 'decompress it', magics: ['\xff\x06\0\0sNaPpY'] },
  { name: compressedBy('zlib'), remedy: decodeBy('pigz -dc'), magics: ['x\x01', 'x\x9c'] },
  { name: 'UTF-32 text', remedy: 'convert it to UTF-8', magics: ['\xff\xfe\0\0', '\0\0\xfe\xff'] },
  { name: 'UTF-16 text', remedy: 'convert it to UTF-8', magics: ['\xff\xfe', '\xfe\xff'] },
  { name: 'a PDF document', remedy: CONVERT, magics: ['%PDF-'] },
  { name: 'an old Office document', remedy: CONVERT, magics: ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'] },
  { name: 'a PNG image', remedy: LEAVE_OUT, magics: ['\x89PNG\r\n\x1a\n'] },
  { name: 'a JPEG image', remedy: LEAVE_OUT, magics: ['\xff\xd8\xff'] },
  { name: 'a GIF image', remedy: LEAVE_OUT, magics: ['GIF87a', 'GIF89a'], needsNul: true },
  { name: 'a TIFF image', remedy: LEAVE_OUT, magics: ['II*\0', 'MM\0*'] },
  {
    name: 'a BMP image',
    remedy: LEAVE_OUT,
    magics: ['BM'],
    matches: (head) => head.startsWith('\0\0\0\0', 6),
  },
  { name: 'sound, pictures or video (RIFF)', remedy: LEAVE_OUT, magics: ['RIFF'], needsNul: true },
  // Tags before the frames of MP3, and frames of MP3 and AAC.
  {
    name: 'sound or video',
    remedy: LEAVE_OUT,
    magics: ['ID3\x02', 'ID3\x03', 'ID3\x04', '\xff\xf1', '\xff\xf3', '\xff\xf9', '\xff\xfa', '\xff\xfb'],
  },
  { name: 'sound or video', remedy: LEAVE_OUT, magics: ['OggS\0', 'fLaC\0', '\x1a\x45\xdf\xa3'] },
  // The length and the type of the first box of MP4.
  {
    name: 'sound or video',
    remedy: LEAVE_OUT,
    matches: (head) => head.startsWith('\0\0') && head.startsWith('ftyp', 4),
  },
  {
    name: 'a program',
    remedy: LEAVE_OUT,
    magics: ['\x7fELF', '\0asm', '\xca\xfe\xba\xbe', '\xfe\xed\xfa', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe'],
  },
  { name: 'a program', remedy: LEAVE_OUT, magics: ['MZ'], needsNul: true },
  {
    name: 'notes that macOS keeps beside files',
    remedy: LEAVE_OUT,
    magics: ['\0\x05\x16\x07', '\0\0\0\x01Bud1'],
  },
  { name: 'variants after a header (VCF)', rareEndings: 'vcf', ...behindHeader('#') },
  { name: 'alignments after a header (SAM)', endings: 'sam', nature: 'records', ...behindHeader('@') },

  { endings: 'arrow|feather', nature: 'records', output: 'Arrow' },
  { endings: 'orc', nature: 'records', output: 'ORC' },
  { endings: 'avro', nature: 'records', output: 'Avro' },
  { endings: 'npz', nature: 'records', output: ARCHIVE },
  { endings: 'bam', nature: 'records', output: ALIGNMENTS },
  ...ofNature('records', 'jsonl|ndjson|jsonlines|ldjson tsv|tab psv warc bin'),
  ...ofNature('documents', 'txt|text md|markdown rst json html|htm|xhtml xml yaml|yml'),
  ...ofNature(
    'sources',
    'c|h cc|cpp|cxx|hh|hpp cu py|pyi|pyx js|mjs|cjs|jsx ts|mts|cts|tsx java kt scala go rs rb php pl|pm lua r jl swift m|mm cs fs hs ml|mli ex|exs erl clj lisp el scm sql s|asm f|f90 pas d dart zig nim v vhd sh|bash|zsh css|scss|less vue svelte tex',
  ),
  // Without `.pt` and `.br`, which are languages, too.
  { endings: 'xls|xlsx', output: 'a spreadsheet' },
  { endings: 'zip|7z|rar|tgz|tbz2|txz', output: ARCHIVE },
  { endings: 'pkl|pickle|safetensors', output: 'a file of tensors' },
  { endings: 'cram|bcf', output: ALIGNMENTS },
  { endings: 'sqlite|sqlite3|duckdb', output: 'a database' },
];

function lineOfRows([name, { magics, needsNul, endings }]: [string, KnownRowFormat]): RefusedFormat {
  const line = { name: `${name} data`, remedy: ROWS_REMEDY, magics, nature: 'records', output: name } as const;
  return { ...line, endings: endings.join('|'), ...(needsNul && { needsNul }) };
}

function ofNature(nature: Nature, words: string): FileFormat[] {
  return words.split(' ').map((endings) => ({ endings, nature }));
}

/** A name alone says too little (`.vcf` is also a visiting card): the first byte must fit, too. */
function behindHeader(firstByte: string) {
  return { remedy: `give \`header.prefix\` '${firstByte}'`, firstByte, hasHeader: true } as const;
}

const refused = formats.filter(isRefused);
function isRefused(format: FileFormat): format is RefusedFormat {
  return format.remedy !== undefined;
}
/** The first byte shows these, if the name fits. */
const named = refused.filter(({ firstByte }) => firstByte !== undefined);
/** First bytes show these, whatever the name is. */
const binary = refused.filter(({ magics, matches }) => magics !== undefined || matches !== undefined);
const withoutNul = new Map<number, RefusedFormat[]>();
for (const format of binary) {
  if (format.matches !== undefined || format.needsNul === true) continue;
  for (const first of new Set(format.magics?.map((magic) => magic.charCodeAt(0))))
    withoutNul.set(first, [...(withoutNul.get(first) ?? []), format]);
}

/**
 * Returns the refused format that first bytes show.
 * @param head at least `FORMAT_HEAD_BYTES` or all; up to 8 KiB, more bytes make formats without magic bytes surer.
 */
export function foreignFormatOf(head: Buffer, nul = head.indexOf(0)): RefusedFormat | undefined {
  const isWithNul = nul >= 0 && nul < FORMAT_HEAD_BYTES;
  // There may be many thousands of inputs, most of them text, for which no magic bytes are candidates.
  const candidates = isWithNul ? binary : (withoutNul.get(head[0] ?? 0) ?? []);
  const text = candidates.length === 0 ? '' : head.toString('latin1', 0, FORMAT_HEAD_BYTES);
  const format = candidates.find(
    ({ magics, matches }) =>
      (magics === undefined || magics.some((magic) => text.startsWith(magic))) && (matches?.(text) ?? true),
  );
  if (format !== undefined) return format;
  const rows = rowsBehind(head.byteLength, (at, byteLength) => head.subarray(at, at + byteLength));
  if (rows !== undefined) return refused.find(({ output }) => output === rows);
  return compressedFormatOf(head) ?? (nul < 0 ? undefined : wideFormatOf(head));
}

type ReadBytes = (position: number, byteLength: number) => Uint8Array;

/** Returns the rows of a file. @param head at least `FORMAT_HEAD_BYTES`, or all of the file. @param read as for `findStart`. */
export function rowsIn(path: string, head: Buffer, byteLength: number, read: ReadBytes): RowFacts | undefined {
  const format = foreignFormatOf(head);
  // Rows may begin after the head, in any file: names and NULs tell where to look.
  const mayBeBehind = format === undefined && (head.includes(0) || isOfRows(outputOf(path)));
  const rows = mayBeBehind ? rowsBehind(byteLength, read) : format?.output;
  return isOfRows(rows) ? unreadRows(rows) : undefined;
}

/** The format of rows that begin anywhere in a file. */
function rowsBehind(byteLength: number, read: ReadBytes): string | undefined {
  const known = Object.entries(rowFormats);
  return known.find(([, { findStart }]) => findStart?.(byteLength, read) !== undefined)?.[0];
}

/** Refuses a file that has the name of rows, and not their first bytes. */
export function refuseNameOfRows(path: string, head: Uint8Array): void {
  const format = outputOf(path);
  if (!isOfRows(format)) return;
  const problem = head.byteLength === 0 ? 'it is empty' : `its first bytes are not those of ${format} data`;
  throw new InputError(
    'ERR_INPUT_FORMAT',
    `${path}: its name stands for ${format}, and ${problem}; make the file again, leave it out, or give \`records: { by: 'lines' }\` if it holds lines`,
  );
}

function compressedFormatOf(head: Uint8Array): RefusedFormat | undefined {
  const codec = detectCodec(head);
  return codec && { name: `${codec.name} data that are compressed once more`, remedy: 'decompress it once' };
}

function wideFormatOf(head: Buffer): RefusedFormat | undefined {
  const encoding = wideEncodingOf(head);
  return (
    encoding && {
      name: `what looks like ${encoding} text`,
      remedy: `convert it to UTF-8 (iconv -f ${encoding} -t UTF-8)`,
    }
  );
}

/** The mark of a message, then the length of its description: a multiple of 8, less than 16 MiB. */
function isArrowStream(head: string): boolean {
  return (
    head.startsWith('\xff\xff\xff\xff') &&
    head.charCodeAt(4) % 8 === 0 &&
    head.startsWith('\0', 7) &&
    head.startsWith('\0\0\0', 9)
  );
}

/** Returns the format of a text with a header, or with more than a line a record: the name and the first byte must fit. */
export function namedFormatOf(
  path: string,
  head: Uint8Array,
  { linesAssumed, header }: RecordFormat,
): RefusedFormat | undefined {
  const [first] = head;
  // There may be many thousands of inputs.
  const candidates = linesAssumed ? named.filter(({ firstByte }) => firstByte?.charCodeAt(0) === first) : [];
  if (candidates.length === 0) return undefined;
  const ending = endingOf(path);
  return candidates.find(
    ({ hasHeader, endings, rareEndings }) =>
      [endings, rareEndings].some((words) => words?.split('|').includes(ending)) &&
      !(hasHeader === true && header !== undefined),
  );
}

/** The last ending in lower case, apart from those of codecs. Empty: there is none. */
function endingOf(path: string): string {
  return /\.([^.]+)$/.exec(basename(withoutCodecSuffix(path)))?.[1]?.toLowerCase() ?? '';
}

const formatOfEnding = new Map(
  formats.flatMap((format) => format.endings?.split('|').map((ending) => [ending, format] as const) ?? []),
);

/** Returns what an ending says of a file in a directory. Endings of one kind have the same word. */
export function natureOfEnding(ending: string): { readonly nature: Nature; readonly word: string } {
  const { nature = 'unknown', endings = ending } = formatOfEnding.get(ending) ?? {};
  return nature === 'unknown' ? { nature, word: ending } : { nature, word: endings };
}

/** The kind of records that files of this name hold. */
export function recordsOfName(path: string): AnyRecordKind | undefined {
  const format = formatOfEnding.get(endingOf(path));
  return recordKinds.find(({ files = [] }) => format !== undefined && files.includes(format));
}

/** Returns whether only files of this kind can hold its records, so that a name says enough. */
export function isBinary({ files = [] }: AnyRecordKind): boolean {
  return files.some(({ magics, matches }) => magics !== undefined || matches !== undefined);
}

const OTHER_CODECS = /\.(?:Z|lzma|lz|lzo|snappy)$/;

/**
 * Refuses names of outputs that promise a format which pileshuf does not write: a reader would take the file for one.
 * @param output one file: the endings of shards follow those of the inputs.
 * @param mayHoldRows whether the inputs may hold rows, so that the output has their format.
 * @param stream an input that is read from its beginning to its end, as no rows are.
 */
export function refuseOtherFormats(
  output: string,
  kind: RecordKind['by'] | undefined,
  mayHoldRows = false,
  stream?: string,
): void {
  const codec = codecOfName(output);
  if (codec === undefined && (withoutCodecSuffix(output) !== output || OTHER_CODECS.test(output)))
    throw new UsageError(
      `the output ${output}: its name stands for a codec that pileshuf does not write; name it .gz or .zst (${OUTPUT_CODECS.join(' or ')}), or write to standard output and compress that`,
    );
  const format = outputOf(output);
  if (isOfRows(format)) {
    if (mayHoldRows) return;
    if (stream !== undefined)
      throw new UsageError(
        `${stream}: ${format} data cannot be read from a stream; name the file, or name the output ${output} after its records, such as .jsonl or .csv`,
      );
    throw new UsageError(
      `the output ${output}: its name stands for ${format}, which this job does not write: no input is of that format, or an option says what the records are; name it after its records, such as .jsonl or .csv`,
    );
  }
  if (format !== undefined)
    throw new UsageError(
      `the output ${output}: its name stands for ${format}, which pileshuf does not write; name it after its records, such as .jsonl or .csv, and convert it afterwards`,
    );
  const expected = recordsOfName(output);
  if (expected === undefined || !isBinary(expected) || kind === undefined || kind === expected.by) return;
  throw new UsageError(
    `the output ${output}: its name stands for a format that holds other records; give \`records: { by: '${expected.by}' }\` for inputs of that format, or name it after its records`,
  );
}

/** Refuses names of an output of rows that promise lines, or what else it is not. */
export function requireNameOfRows(output: string, rows: string): void {
  const format = formatOfEnding.get(endingOf(output));
  if (codecOfName(output) === undefined && (format === undefined || format.output === rows)) return;
  throw new UsageError(
    `the output ${output}: the rows of ${rows} files become ${rows}, and its name stands for something else; name it ${extensionOfRows(rows)}`,
  );
}

/** The format that an output of this name would be taken for. */
function outputOf(path: string): string | undefined {
  return formatOfEnding.get(endingOf(path))?.output;
}

export function isOfRows(format: string | undefined): format is string {
  return format !== undefined && Object.hasOwn(rowFormats, format);
}

/** Files that hold no data: pointers to data elsewhere, and compressed files of nothing. */

export interface Pointer {
  readonly what: string;
  readonly command: string;
}

const POINTERS: readonly (Pointer & { readonly pattern: RegExp })[] = [
  {
    what: 'a Git LFS pointer',
    command: 'git lfs pull',
    pattern: /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\r?\n/,
  },
  { what: 'a git-annex pointer', command: 'git annex get', pattern: /^\/annex\/objects\/[^\n]+\n/ },
];

/** @throws InputError ERR_INPUT_FORMAT if there is a pointer. */
export function refusePointers([first, ...others]: readonly (Pointer & { readonly path: string })[]): void {
  if (first === undefined) return;
  throw new InputError(
    'ERR_INPUT_FORMAT',
    `${first.path}${andOtherInputs(others.length)} is ${first.what}, not the data; run ${first.command}`,
  );
}

const LINE_BYTES = 512;

export function pointerIn(head: Buffer): Pointer | undefined {
  const text = head.toString('latin1', 0, LINE_BYTES);
  return POINTERS.find(({ pattern }) => pattern.test(text));
}

/** Whole files, in hex. Each pattern fits a header alone: no content, however short, may fit in it. */
const WITHOUT_CONTENT = new RegExp(
  `^(?:${[
    // gzip, without and with the name of a file, and BGZF.
    '1f8b08(?:00.{12}|08.{12}(?:(?!00)..)+00)(?:0300|010000ffff)0{16}',
    '1f8b08040000000000ff0600424302001b0003000000000000000000',
    // bzip2, xz, and zstd with and without the size of its content.
    '425a683[1-9]17724538509000000000',
    'fd377a585a00.{52}',
    '28b52ffd(?:0[04]..|2[04]00|8[04]..0{8}|a[04]0{8}|c[04]..0{16}|e[04]0{16})010000(?:99e9d851)?',
    // lz4
    '04224d18.{6}0{8}(?:055dcc02)?',
  ].join('|')})$`,
);
/** gzip writes the name of a file to its header. */
const MOST_BYTES = 300;

/** Returns whether a file is empty, or a compressed file without content. */
export function holdsNothing(file: Buffer): boolean {
  return file.byteLength === 0 || (file.byteLength <= MOST_BYTES && WITHOUT_CONTENT.test(file.toString('hex')));
}
