/**
 * The codecs that compress outputs, and the names that outputs must not have. To add a codec: a file that makes a
 * `MemberEncoder`, and its line in `encoders`.
 */
import { basename } from 'node:path';
import { UsageError, VerificationError } from '../errors.js';
import type { MemberEncoder } from './codec.js';
import { withoutCodecSuffix } from './codec-table.js';
import { GZIP_LEVELS, gzipContentBytes, openGzipEncoder } from './codecs/gzip.js';
import { zstdContentBytes } from './codecs/zstd-frames.js';
import { openZstdEncoder, ZSTD_LEVELS } from './codecs/zstd-writer.js';

interface EncoderKind {
  /** Endings of file names. Shards get the first. */
  readonly suffixes: readonly [string, ...string[]];
  readonly levels: { readonly least: number; readonly usual: number; readonly most: number };
  open(level: number): MemberEncoder;
  contentBytesOf(member: Uint8Array): number | undefined;
}

const encoders = {
  gzip: { suffixes: ['.gz', '.gzip'], levels: GZIP_LEVELS, open: openGzipEncoder, contentBytesOf: gzipContentBytes },
  zstd: { suffixes: ['.zst', '.zstd'], levels: ZSTD_LEVELS, open: openZstdEncoder, contentBytesOf: zstdContentBytes },
} as const satisfies Record<string, EncoderKind>;

export type OutputCodec = keyof typeof encoders;

/** Plain data that crosses threads. */
export interface Compression {
  readonly codec: OutputCodec;
  readonly level: number;
}

export const OUTPUT_CODECS = Object.keys(encoders) as readonly OutputCodec[];

export function compressionOf(
  codec: OutputCodec,
  level: number = encoders[codec].levels.usual,
  option = '`compress`',
): Compression {
  const { least, most } = encoders[codec].levels;
  if (Number.isInteger(level) && level >= least && level <= most) return { codec, level };
  throw new UsageError(`${option} ${codec}:${level}: expected a level from ${least} to ${most}`);
}

export function codecOfName(name: string): OutputCodec | undefined {
  return OUTPUT_CODECS.find((codec) => encoders[codec].suffixes.some((suffix) => name.endsWith(suffix)));
}

export function suffixOf(codec: OutputCodec): string {
  return encoders[codec].suffixes[0];
}

/** One line, different for each compression: `gzip 6`. */
export function nameOfCompression({ codec, level }: Compression): string {
  return `${codec} ${level}`;
}

export function openEncoder({ codec, level }: Compression): MemberEncoder {
  const { open, contentBytesOf } = encoders[codec];
  return checkedEncoder(open(level), codec, contentBytesOf);
}

/**
 * Compares the content length that each member declares with the number of compressed bytes before the member is
 * written: nobody reads a compressed output back, so nothing else would notice a difference.
 */
export function checkedEncoder(
  encoder: MemberEncoder,
  name: string,
  contentBytesOf: EncoderKind['contentBytesOf'],
): MemberEncoder {
  const checked = (member: Uint8Array, { byteLength }: Uint8Array) => {
    if (contentBytesOf(member) === byteLength) return member;
    throw new VerificationError(
      `${name} compressed ${byteLength} bytes to ${member.byteLength} bytes that declare another length; use another codec, or another version of Node`,
    );
  };
  return {
    encode: (bytes) => checked(encoder.encode(bytes), bytes),
    store: (bytes) => checked(encoder.store(bytes), bytes),
  };
}

/** Without `.pt` and `.br`, which are languages, too. */
const OTHER_FORMATS: ReadonlyMap<string, string> = new Map([
  ...['parquet', 'pq'].map((ending) => [ending, 'Parquet'] as const),
  ...['arrow', 'feather'].map((ending) => [ending, 'Arrow'] as const),
  ...['h5', 'hdf5'].map((ending) => [ending, 'HDF5'] as const),
  ...['xls', 'xlsx'].map((ending) => [ending, 'a spreadsheet'] as const),
  ...['zip', 'npz', '7z', 'rar', 'tgz', 'tbz2', 'txz'].map((ending) => [ending, 'an archive'] as const),
  ...['pkl', 'pickle', 'safetensors'].map((ending) => [ending, 'a file of tensors'] as const),
  ...['bam', 'cram', 'bcf'].map((ending) => [ending, 'compressed alignments or variants'] as const),
  ...['sqlite', 'sqlite3', 'duckdb'].map((ending) => [ending, 'a database'] as const),
  ['orc', 'ORC'],
  ['avro', 'Avro'],
]);

const FORMATS_OF_RECORDS: ReadonlyMap<string, string> = new Map([
  ['tar', 'webdataset'],
  ['npy', 'npy'],
  ['tfrecord', 'tfrecord'],
  ['tfrecords', 'tfrecord'],
]);

const OTHER_CODECS = /\.(?:Z|lzma|lz|lzo|snappy)$/;

/**
 * Refuses names of outputs that promise a format which pileshuf does not write: a reader would take the file for one.
 * @param output one file: the endings of shards follow those of the inputs.
 */
export function refuseOtherFormats(output: string, kind: string | undefined): void {
  const codec = codecOfName(output);
  if (codec === undefined && (withoutCodecSuffix(output) !== output || OTHER_CODECS.test(output)))
    throw new UsageError(
      `the output ${output}: its name stands for a codec that pileshuf does not write; name it .gz or .zst (${OUTPUT_CODECS.join(' or ')}), or write to standard output and compress that`,
    );
  const ending = /\.([^.]+)$/.exec(basename(withoutCodecSuffix(output)))?.[1]?.toLowerCase() ?? '';
  const format = OTHER_FORMATS.get(ending);
  if (format !== undefined)
    throw new UsageError(
      `the output ${output}: its name stands for ${format}, which pileshuf does not write; name it after its records, such as .jsonl or .csv, and convert it afterwards`,
    );
  const expected = FORMATS_OF_RECORDS.get(ending);
  if (expected === undefined || kind === undefined || kind === expected) return;
  throw new UsageError(
    `the output ${output}: its name stands for a format that holds other records; give \`records: { by: '${expected}' }\` for inputs of that format, or name it after its records`,
  );
}
