/**
 * Formats of files that are not lines. Read as lines, such a file is cut at every byte that looks like a newline, and
 * nothing puts it together again. The first decoded bytes tell the format; a name never does. To add a format: a line in
 * the table. A format whose magic bytes may begin a text also needs a NUL near them, because text has none.
 */
import { InputError } from '../errors.js';
import { inputName } from '../io/input-source.js';
import { detectCodec } from './codec-table.js';
import { BLOCK_BYTES, parseTarHeader } from './tar-header.js';

/** So many bytes at the beginning of an input show its format: those of a tar header. */
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
  { name: 'HDF5 data', remedy: CONVERT, matches: begins('\x89HDF\r\n\x1a\n') },
  { name: 'a Python pickle', remedy: CONVERT, matches: begins('\x80\x04\x95', '\x80\x05\x95') },
  { name: 'an SQLite database', remedy: CONVERT, matches: begins('SQLite format 3\0') },
  { name: 'WARC records', remedy: CONVERT, matches: begins('WARC/1.') },
  { name: 'BAM alignments', remedy: CONVERT, matches: begins('BAM\x01') },
  { name: 'CRAM alignments', remedy: CONVERT, matches: begins('CRAM\x02', 'CRAM\x03') },
  { name: 'BCF variants', remedy: CONVERT, matches: begins('BCF\x02') },
  {
    name: 'a zip archive (.npz, .pt and .xlsx are zip archives)',
    remedy: EXTRACT,
    matches: begins('PK\x03\x04', 'PK\x05\x06'),
  },
  { name: 'a 7z archive', remedy: EXTRACT, matches: begins('7z\xbc\xaf\x27\x1c') },
  { name: 'UTF-16 text', remedy: 'convert it to UTF-8', matches: beginsAndHasNul('\xff\xfe', '\xfe\xff') },
  { name: 'a PDF document', remedy: CONVERT, matches: begins('%PDF-') },
  { name: 'a PNG image', remedy: 'leave it out', matches: begins('\x89PNG\r\n\x1a\n') },
  { name: 'a JPEG image', remedy: 'leave it out', matches: begins('\xff\xd8\xff') },
];

/** @param head the first `FORMAT_HEAD_BYTES` decoded bytes of an input, or more, or all of it. */
export function foreignFormatOf(head: Uint8Array): ForeignFormat | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, FORMAT_HEAD_BYTES));
  const text = bytes.toString('latin1');
  return formats.find(({ matches }) => matches(text)) ?? compressedFormatOf(head);
}

/** @param path as the caller names the input. */
export function foreignInput(path: string, { name, remedy }: ForeignFormat): InputError {
  return new InputError(
    'ERR_INPUT_FORMAT',
    `${inputName(path)} holds ${name}, not lines; ${remedy}, or give \`records: { by: 'lines' }\` to shuffle it as lines all the same`,
  );
}

/**
 * The decoded pieces of an input, which must be lines.
 * @param path as the caller names the input.
 * @throws InputError ERR_INPUT_FORMAT before the first piece.
 */
export async function* requireLines(pieces: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<Uint8Array, void> {
  let held: Uint8Array | undefined = new Uint8Array();
  for await (const piece of pieces) {
    if (held === undefined) {
      yield piece;
      continue;
    }
    // The next piece may take the place of this one.
    const head: Uint8Array = held.byteLength === 0 && isLongEnough(piece) ? piece : Buffer.concat([held, piece]);
    held = isLongEnough(head) ? undefined : head;
    if (held !== undefined) continue;
    refuseForeign(head, path);
    yield head;
  }
  if (held === undefined || held.byteLength === 0) return;
  refuseForeign(held, path);
  yield held;
}

function isLongEnough({ byteLength }: Uint8Array): boolean {
  return byteLength >= FORMAT_HEAD_BYTES;
}

function refuseForeign(head: Uint8Array, path: string): void {
  const format = foreignFormatOf(head);
  if (format !== undefined) throw foreignInput(path, format);
}

/** Decoded bytes that are compressed again. */
function compressedFormatOf(head: Uint8Array): ForeignFormat | undefined {
  const codec = detectCodec(head);
  return codec && { name: `${codec.name} data that are compressed once more`, remedy: 'decompress it once' };
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
