/**
 * Formats of files that are not text. Read as lines, such a file is cut at every byte that looks like a newline, and
 * nothing puts it together again. The first decoded bytes tell the format, never the name. To add a format: a line in
 * the table. A format whose magic bytes may begin a text also needs a NUL near them, because text has none. Below are
 * UTF-16 and UTF-32 text, and files that hold no data.
 */
import { detectCodec, withoutCodecSuffix } from './codec-table.js';
import type { RecordFormat } from './record-format.js';
import { BLOCK_BYTES, parseTarHeader } from './tar-header.js';

/** Enough for the magic bytes of all formats, the furthest being those of a tar header. */
export const FORMAT_HEAD_BYTES = BLOCK_BYTES;

export interface ForeignFormat {
  readonly name: string;
  readonly remedy: string;
}

interface FormatEntry extends ForeignFormat {
  readonly magics?: readonly string[];
  /** The magic bytes may begin a text: they count only where a NUL follows. */
  readonly needsNul?: true;
  /** Absent: the magic bytes decide. @param head as latin1, with a NUL in it. */
  matches?(head: string): boolean;
}

const CONVERT = 'convert it to lines';
const EXTRACT = 'extract it';
const LEAVE_OUT = 'leave it out';
const decodeBy = (program: string) => `give \`decompressProgram\` '${program}'`;
const compressedBy = (program: string) => `data that ${program} has compressed`;

const formats: readonly FormatEntry[] = [
  { name: 'a NumPy array (.npy)', remedy: "give `records: { by: 'npy' }`", magics: ['\x93NUMPY'] },
  {
    name: 'a tar archive',
    remedy: "give `records: { by: 'webdataset' }` if it consists of samples, extract it if it does not",
    matches: isTar,
  },
  { name: 'TFRecords', remedy: "give `records: { by: 'tfrecord' }`", matches: isTfrecord },
  { name: 'Parquet data', remedy: CONVERT, magics: ['PAR1', 'PARE'], needsNul: true },
  // Feather files are Arrow files, or older ones of this magic.
  { name: 'Arrow data', remedy: CONVERT, magics: ['ARROW1', 'FEA1'], needsNul: true },
  { name: 'Arrow data', remedy: CONVERT, matches: isArrowStream },
  { name: 'ORC data', remedy: CONVERT, magics: ['ORC'], needsNul: true },
  { name: 'Avro data', remedy: CONVERT, magics: ['Obj\x01'] },
  { name: 'a Hadoop sequence file', remedy: CONVERT, magics: ['SEQ\x04', 'SEQ\x05', 'SEQ\x06'] },
  { name: 'HDF5 data', remedy: CONVERT, magics: ['\x89HDF\r\n\x1a\n'] },
  { name: 'MATLAB data', remedy: CONVERT, magics: ['MATLAB 5.0 MAT-file', 'MATLAB 7.3 MAT-file'], needsNul: true },
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
];

const withoutNul = new Map<number, FormatEntry[]>();
for (const format of formats) {
  if (format.matches !== undefined || format.needsNul === true) continue;
  for (const first of new Set(format.magics?.map((magic) => magic.charCodeAt(0))))
    withoutNul.set(first, [...(withoutNul.get(first) ?? []), format]);
}

/** @param head at least `FORMAT_HEAD_BYTES` or all; up to 8 KiB, more bytes make formats without magic bytes surer. */
export function foreignFormatOf(head: Buffer, nul = head.indexOf(0)): ForeignFormat | undefined {
  const isWithNul = nul >= 0 && nul < FORMAT_HEAD_BYTES;
  // There may be many thousands of inputs, most of them text, for which no magic bytes are candidates.
  const candidates = isWithNul ? formats : (withoutNul.get(head[0] ?? 0) ?? []);
  const text = candidates.length === 0 ? '' : head.toString('latin1', 0, FORMAT_HEAD_BYTES);
  const format = candidates.find(
    ({ magics, matches }) =>
      (magics === undefined || magics.some((magic) => text.startsWith(magic))) && (matches?.(text) ?? true),
  );
  return format ?? compressedFormatOf(head) ?? (nul < 0 ? undefined : wideFormatOf(head));
}

function compressedFormatOf(head: Uint8Array): ForeignFormat | undefined {
  const codec = detectCodec(head);
  return codec && { name: `${codec.name} data that are compressed once more`, remedy: 'decompress it once' };
}

function wideFormatOf(head: Buffer): ForeignFormat | undefined {
  const encoding = wideEncodingOf(head);
  return (
    encoding && {
      name: `what looks like ${encoding} text`,
      remedy: `convert it to UTF-8 (iconv -f ${encoding} -t UTF-8)`,
    }
  );
}

/** By the magic of POSIX or GNU; older headers have only their checksum. */
function isTar(head: string): boolean {
  if (head.startsWith('ustar\0', 257) || head.startsWith('ustar  \0', 257)) return true;
  return (
    head.length === BLOCK_BYTES &&
    head.includes('\0') &&
    typeof parseTarHeader(Buffer.from(head, 'latin1')) === 'object'
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

/** The length of a first record of less than 4 GiB, and its masked checksum. */
function isTfrecord(head: string): boolean {
  if (head.length < 12 || !head.startsWith('\0\0\0\0', 4)) return false;
  const bytes = Buffer.from(head.slice(0, 12), 'latin1');
  const crc = crc32c(bytes.subarray(0, 8));
  return bytes.readUInt32LE(8) === (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

export const NAME_OF_FASTQ = /\.(?:fastq|fq)$/i;

interface NamedFormat extends ForeignFormat {
  readonly suffix: RegExp;
  readonly firstByte: string;
  /** Records are lines after a header. */
  readonly hasHeader?: true;
}

/**
 * Text formats with a header, or with more than a line a record. The name and the first byte must fit: a name alone
 * says too little (`.fa` is also Persian, `.vcf` a visiting card).
 */
const namedFormats: readonly NamedFormat[] = [
  {
    name: 'sequences (FASTA)',
    remedy: "give `records: { by: 'fasta' }`",
    suffix: /\.(?:fa|fas|fasta|fna|faa|ffn)$/i,
    firstByte: '>',
  },
  { name: 'reads (FASTQ)', remedy: "give `records: { by: 'fastq' }`", suffix: NAME_OF_FASTQ, firstByte: '@' },
  { name: 'variants behind a header (VCF)', ...behindHeader('#'), suffix: /\.vcf$/i },
  { name: 'alignments behind a header (SAM)', ...behindHeader('@'), suffix: /\.sam$/i },
];

function behindHeader(firstByte: string) {
  return { remedy: `give \`header.prefix\` '${firstByte}'`, firstByte, hasHeader: true } as const;
}

export function namedFormatOf(
  path: string,
  head: Uint8Array,
  { linesAssumed, header }: RecordFormat,
): ForeignFormat | undefined {
  if (!linesAssumed) return undefined;
  const name = withoutCodecSuffix(path);
  return namedFormats.find(
    ({ suffix, firstByte, hasHeader }) =>
      head[0] === firstByte.charCodeAt(0) && suffix.test(name) && !(hasHeader && header !== undefined),
  );
}

/**
 * Recognises UTF-16 and UTF-32 text without a mark. Lines of such a text cannot be cut at the byte 0x0a: a newline has
 * other bytes around it, and other characters have that byte.
 */

export const WIDE_HEAD_BYTES = 8192;

type WideEncoding = 'UTF-16LE' | 'UTF-16BE' | 'UTF-32LE' | 'UTF-32BE';

/** In UTF-8 text, a smaller share of every other byte is control characters, even where NULs have got into it. */
const LEAST_CONTROL_SHARE = 0.75;
/** Characters that are in no text; damaged or cut text has a few. */
const MOST_STRANGE_SHARE = 0.01;
/** In text of one byte a character, a larger share of pairs is two printable ASCII characters. */
const MOST_ASCII_PAIRS = 0.5;

/** A shorter text must have a blank or newline, and few bytes that look like newlines. */
const FEW_CHARACTERS = 256;

/**
 * The encoding in which the bytes are text. The digits, blanks and newlines of any language have a NUL in it. But NULs
 * get into other text, too, and Chinese in UTF-16 has few of them, so all bytes are looked at.
 */
function wideEncodingOf(head: Buffer): WideEncoding | undefined {
  const bytes = head.subarray(0, WIDE_HEAD_BYTES);
  return (
    likelier(readAs('UTF-32LE', bytes), readAs('UTF-32BE', bytes)) ??
    (isNarrow(bytes) ? undefined : likelier(readAs('UTF-16LE', bytes), readAs('UTF-16BE', bytes)))
  );
}

interface Reading {
  readonly encoding: WideEncoding;
  /** Blanks and newlines: with its bytes in the wrong order, a text has hardly any. */
  readonly blanks: number;
}

function likelier(a: Reading | undefined, b: Reading | undefined): WideEncoding | undefined {
  return (b === undefined || (a !== undefined && a.blanks >= b.blanks) ? a : b)?.encoding;
}

function readAs(encoding: WideEncoding, bytes: Buffer): Reading | undefined {
  const unitBytes = encoding.startsWith('UTF-16') ? 2 : 4;
  const unitAt = (at: number) =>
    encoding.endsWith('LE') ? bytes.readUIntLE(at, unitBytes) : bytes.readUIntBE(at, unitBytes);
  const count = Math.floor(bytes.byteLength / unitBytes);
  const most = MOST_STRANGE_SHARE * count;
  let [strange, blanks, isInPair] = [0, 0, false];
  for (let i = 0; i < count && strange <= most; i++) {
    const unit = unitAt(i * unitBytes);
    if (unit === 0x20 || unit === 0x0a || unit === 0x0d) blanks += 1;
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    const isOfNewlines = count < FEW_CHARACTERS && (unit >> 8 === 0x0a || unit >> 8 === 0x0d);
    if (isInPair !== isLow || !isOfText(unit) || isOfNewlines) strange += 1;
    isInPair = unitBytes === 2 && unit >= 0xd800 && unit <= 0xdbff;
  }
  const isEnough = count >= FEW_CHARACTERS || (blanks > 0 && blanks < count);
  return strange <= most && isEnough ? { encoding, blanks } : undefined;
}

/** No text has control characters, characters for private use, or codes that are no characters. */
function isOfText(unit: number): boolean {
  if (unit < 0x20) return unit >= 0x09 && unit <= 0x0d;
  if (unit > 0xffff) return unit < 0xf0000;
  return !(unit >= 0x7f && unit <= 0x9f) && !(unit >= 0xe000 && unit <= 0xf8ff) && unit < 0xfffe;
}

/** Whether the bytes are better read one by one: as UTF-8, or as an older code with ASCII in it. */
function isNarrow(bytes: Buffer): boolean {
  const isAscii = (byte: number) => byte >= 0x20 && byte < 0x7f;
  // Lines may be short.
  const isControl = (byte: number) => byte < 0x20 && byte !== 0x0a;
  const pairs = Math.floor(bytes.byteLength / 2);
  let [first, second, ascii] = [0, 0, 0];
  for (let at = 0; at < 2 * pairs; at += 2) {
    const [a = 0, b = 0] = [bytes[at], bytes[at + 1]];
    if (isControl(a)) first += 1;
    if (isControl(b)) second += 1;
    if (isAscii(a) && isAscii(b)) ascii += 1;
  }
  if (ascii > MOST_ASCII_PAIRS * pairs) return true;
  return Math.max(first, second) < LEAST_CONTROL_SHARE * pairs && isUtf8(bytes);
}

/** The last character may be cut off. */
function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
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

export function holdsNothing(file: Buffer): boolean {
  return file.byteLength === 0 || (file.byteLength <= MOST_BYTES && WITHOUT_CONTENT.test(file.toString('hex')));
}
