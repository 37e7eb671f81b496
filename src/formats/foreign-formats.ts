/**
 * Formats of files that are not text. Read as lines, such a file is cut at every byte that looks like a newline, and
 * nothing puts it together again. The first decoded bytes tell the format; a name never does. To add a format: a line in
 * the table. A format whose magic bytes may begin a text also needs a NUL near them, because text has none.
 */
import { detectCodec } from './codec-table.js';
import { BLOCK_BYTES, parseTarHeader } from './tar-header.js';
import { wideEncodingOf } from './wide-text.js';

/** The magic bytes of all formats lie within so many bytes: those of a tar header. */
export const FORMAT_HEAD_BYTES = BLOCK_BYTES;

export interface ForeignFormat {
  /** Completes "INPUT holds". */
  readonly name: string;
  /** What to do, in the imperative. */
  readonly remedy: string;
}

interface FormatEntry extends ForeignFormat {
  /** @param head as latin1. */
  matches(head: string): boolean;
}

const CONVERT = 'convert it to lines';
const EXTRACT = 'extract it';
const LEAVE_OUT = 'leave it out';
/** @param program that reads standard input. */
const decodeBy = (program: string) => `give \`decompressProgram\` '${program}'`;
const compressedBy = (program: string) => `data that ${program} has compressed`;

const formats: readonly FormatEntry[] = [
  { name: 'a NumPy array (.npy)', remedy: "give `records: { by: 'npy' }`", matches: begins('\x93NUMPY') },
  {
    name: 'a tar archive',
    remedy: "give `records: { by: 'webdataset' }` if it consists of samples, extract it if it does not",
    matches: isTar,
  },
  { name: 'TFRecords', remedy: "give `records: { by: 'tfrecord' }`", matches: isTfrecord },
  { name: 'Parquet data', remedy: CONVERT, matches: beginsAndHasNul('PAR1', 'PARE') },
  // Feather files are Arrow files, or older ones of this magic.
  { name: 'Arrow data', remedy: CONVERT, matches: beginsAndHasNul('ARROW1', 'FEA1') },
  { name: 'Arrow data', remedy: CONVERT, matches: isArrowStream },
  { name: 'ORC data', remedy: CONVERT, matches: beginsAndHasNul('ORC') },
  { name: 'Avro data', remedy: CONVERT, matches: begins('Obj\x01') },
  { name: 'a Hadoop sequence file', remedy: CONVERT, matches: begins('SEQ\x04', 'SEQ\x05', 'SEQ\x06') },
  { name: 'HDF5 data', remedy: CONVERT, matches: begins('\x89HDF\r\n\x1a\n') },
  { name: 'MATLAB data', remedy: CONVERT, matches: beginsAndHasNul('MATLAB 5.0 MAT-file', 'MATLAB 7.3 MAT-file') },
  { name: 'R data', remedy: CONVERT, matches: begins('X\n\0\0', 'RDX2\nX\n', 'RDX3\nX\n') },
  { name: 'a Python pickle', remedy: CONVERT, matches: begins('\x80\x02', '\x80\x03', '\x80\x04', '\x80\x05') },
  { name: 'an SQLite database', remedy: CONVERT, matches: begins('SQLite format 3\0') },
  { name: 'a DuckDB database', remedy: CONVERT, matches: (head) => head.startsWith('DUCK', 8) && head.includes('\0') },
  { name: 'an LMDB database', remedy: CONVERT, matches: (head) => head.startsWith('\xde\xc0\xef\xbe', 16) },
  { name: 'tensors (.safetensors)', remedy: LEAVE_OUT, matches: isSafetensors },
  { name: 'a model (.gguf)', remedy: LEAVE_OUT, matches: beginsAndHasNul('GGUF') },
  {
    name: 'the index of tokens of Megatron (.idx)',
    remedy: 'leave it out, and give its .bin file with `records.recordBytes`',
    matches: begins('MMIDIDX\0', 'TNTIDX\0'),
  },
  { name: 'WARC records', remedy: CONVERT, matches: begins('WARC/0.', 'WARC/1.') },
  { name: 'BAM alignments', remedy: CONVERT, matches: begins('BAM\x01') },
  { name: 'CRAM alignments', remedy: CONVERT, matches: begins('CRAM\x02', 'CRAM\x03') },
  { name: 'BCF variants', remedy: CONVERT, matches: begins('BCF\x02') },
  {
    name: 'a zip archive (.npz, .pt and .xlsx are zip archives)',
    remedy: EXTRACT,
    matches: begins('PK\x03\x04', 'PK\x05\x06'),
  },
  { name: 'a 7z archive', remedy: EXTRACT, matches: begins('7z\xbc\xaf\x27\x1c') },
  { name: 'a RAR archive', remedy: EXTRACT, matches: begins('Rar!\x1a\x07') },
  { name: compressedBy('compress'), remedy: decodeBy('gzip -dc'), matches: begins('\x1f\x9d') },
  { name: compressedBy('lzma'), remedy: decodeBy('xz -dc'), matches: begins('\x5d\0\0') },
  { name: compressedBy('lzip'), remedy: decodeBy('lzip -dc'), matches: begins('LZIP\0', 'LZIP\x01') },
  { name: compressedBy('lzop'), remedy: decodeBy('lzop -dc'), matches: begins('\x89LZO\0\r\n\x1a\n') },
  { name: compressedBy('snappy'), remedy: 'decompress it', matches: begins('\xff\x06\0\0sNaPpY') },
  { name: compressedBy('zlib'), remedy: decodeBy('pigz -dc'), matches: begins('x\x01', 'x\x9c') },
  { name: 'UTF-32 text', remedy: 'convert it to UTF-8', matches: begins('\xff\xfe\0\0', '\0\0\xfe\xff') },
  { name: 'UTF-16 text', remedy: 'convert it to UTF-8', matches: begins('\xff\xfe', '\xfe\xff') },
  { name: 'a PDF document', remedy: CONVERT, matches: begins('%PDF-') },
  { name: 'an old Office document', remedy: CONVERT, matches: begins('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1') },
  { name: 'a PNG image', remedy: LEAVE_OUT, matches: begins('\x89PNG\r\n\x1a\n') },
  { name: 'a JPEG image', remedy: LEAVE_OUT, matches: begins('\xff\xd8\xff') },
  { name: 'a GIF image', remedy: LEAVE_OUT, matches: beginsAndHasNul('GIF87a', 'GIF89a') },
  { name: 'a TIFF image', remedy: LEAVE_OUT, matches: begins('II*\0', 'MM\0*') },
  {
    name: 'a BMP image',
    remedy: LEAVE_OUT,
    matches: (head) => head.startsWith('BM') && head.startsWith('\0\0\0\0', 6),
  },
  { name: 'sound, pictures or video (RIFF)', remedy: LEAVE_OUT, matches: beginsAndHasNul('RIFF') },
  // What stands before the frames of MP3, and such frames, also of AAC.
  {
    name: 'sound or video',
    remedy: LEAVE_OUT,
    matches: begins('ID3\x02', 'ID3\x03', 'ID3\x04', '\xff\xf1', '\xff\xf3', '\xff\xf9', '\xff\xfa', '\xff\xfb'),
  },
  { name: 'sound or video', remedy: LEAVE_OUT, matches: begins('OggS\0', 'fLaC\0', '\x1a\x45\xdf\xa3') },
  { name: 'sound or video', remedy: LEAVE_OUT, matches: isMp4 },
  {
    name: 'a program',
    remedy: LEAVE_OUT,
    matches: begins('\x7fELF', '\0asm', '\xca\xfe\xba\xbe', '\xfe\xed\xfa', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe'),
  },
  { name: 'a program', remedy: LEAVE_OUT, matches: beginsAndHasNul('MZ') },
  {
    name: 'notes that macOS keeps beside files',
    remedy: LEAVE_OUT,
    matches: begins('\0\x05\x16\x07', '\0\0\0\x01Bud1'),
  },
];

/**
 * @param head the first bytes of an input, at least `FORMAT_HEAD_BYTES` or all of it. The more there are, up to 8 KiB, the
 *   surer is what has no magic bytes.
 */
export function foreignFormatOf(head: Uint8Array): ForeignFormat | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, FORMAT_HEAD_BYTES));
  const text = bytes.toString('latin1');
  return formats.find(({ matches }) => matches(text)) ?? compressedFormatOf(head) ?? wideFormatOf(head);
}

/** Decoded bytes that are compressed again. */
function compressedFormatOf(head: Uint8Array): ForeignFormat | undefined {
  const codec = detectCodec(head);
  return codec && { name: `${codec.name} data that are compressed once more`, remedy: 'decompress it once' };
}

/** Text of two or four bytes a character, without a mark. */
function wideFormatOf(head: Uint8Array): ForeignFormat | undefined {
  const encoding = wideEncodingOf(head);
  return (
    encoding && {
      name: `what looks like ${encoding} text`,
      remedy: `convert it to UTF-8 (iconv -f ${encoding} -t UTF-8)`,
    }
  );
}

function begins(...magics: readonly string[]): FormatEntry['matches'] {
  return (head) => magics.some((magic) => head.startsWith(magic));
}

function beginsAndHasNul(...magics: readonly string[]): FormatEntry['matches'] {
  return (head) => magics.some((magic) => head.startsWith(magic)) && head.includes('\0');
}

/** By the magic of POSIX or of GNU; older headers have only their checksum. */
function isTar(head: string): boolean {
  if (head.startsWith('ustar\0', 257) || head.startsWith('ustar  \0', 257)) return true;
  return (
    head.length === BLOCK_BYTES &&
    head.includes('\0') &&
    typeof parseTarHeader(Buffer.from(head, 'latin1')) === 'object'
  );
}

/** The mark of a message, and the bytes of its description: a multiple of 8, and less than 16 MiB. */
function isArrowStream(head: string): boolean {
  return (
    head.startsWith('\xff\xff\xff\xff') &&
    head.charCodeAt(4) % 8 === 0 &&
    head.startsWith('\0', 7) &&
    head.startsWith('\0\0\0', 9)
  );
}

/** The length of a first record of less than 4 GiB, and its checksum. */
function isTfrecord(head: string): boolean {
  if (head.length < 12 || !head.startsWith('\0\0\0\0', 4)) return false;
  const bytes = Buffer.from(head.slice(0, 12), 'latin1');
  const crc = crc32c(bytes.subarray(0, 8));
  return bytes.readUInt32LE(8) === (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** CRC-32C of a few bytes, bit by bit. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

/** The bytes of its description, and the description, which is a JSON object. */
function isSafetensors(head: string): boolean {
  return head.startsWith('\0\0\0', 5) && head.startsWith('{', 8);
}

/** The length of a first box, and its type. */
function isMp4(head: string): boolean {
  return head.startsWith('\0\0') && head.startsWith('ftyp', 4);
}
