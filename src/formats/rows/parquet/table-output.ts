/** How rows are written: what is asked for, and what is decided when the footers of the inputs are read. */
import { UsageError } from '../../../errors.js';
import { requireKnownOptions } from '../../../values/known-options.js';
import type { RowsOutput, WrittenRowsSpec } from '../row-format.js';
import type { CarriedDictionary } from './carried-dictionary.js';
import type { PageCodec } from './row-group.js';
import type { TableSpec } from './table-spec.js';

/** LZ4 in Hadoop's framing is only read. */
export type WrittenCodec = Exclude<PageCodec, 'LZ4'>;

interface Levels {
  readonly least: number;
  readonly usual: number;
  readonly most: number;
}

const LEVELS: Readonly<Record<WrittenCodec, Levels | undefined>> = {
  UNCOMPRESSED: undefined,
  SNAPPY: undefined,
  GZIP: { least: 1, usual: 6, most: 9 },
  BROTLI: { least: 0, usual: 5, most: 11 },
  ZSTD: { least: 1, usual: 3, most: 22 },
  LZ4_RAW: undefined,
};

/** Plain data; crosses threads, and is sealed in the spec: with the rows it decides the bytes of a row group. */
export interface TableWriteSpec {
  readonly codec: WrittenCodec;
  /** 0 for codecs that have none. */
  readonly level: number;
  /** Dictionaries with which the chunks of their columns begin. Absent if there are none. */
  readonly dictionaries?: readonly CarriedDictionary[] | undefined;
}

export interface TableOutput extends WrittenRowsSpec, TableWriteSpec {
  /** The most bytes of a row group on average, as they lie on piles. At least 1. */
  readonly rowGroupBytes: number;
  /** The rows of a row group. Undefined: any number. */
  readonly rowGroupRows: number | undefined;
}

/** An output of rows. */
export interface WrittenTable extends RowsOutput {
  readonly rows: TableSpec;
  readonly write: TableOutput;
}

/** The options of Parquet outputs. */
export interface TableChoice {
  /** The codec of pages. Absent: the codec of the first input, at its usual level. */
  readonly parquetCodec?: 'none' | { readonly codec: keyof typeof CODECS; readonly level?: number } | undefined;
  /** The bytes of a row group. Absent: `USUAL_ROW_GROUP_BYTES`. */
  readonly rowGroupBytes?: number | undefined;
  readonly rowGroupRows?: number | undefined;
}

const CODECS = {
  snappy: 'SNAPPY',
  gzip: 'GZIP',
  brotli: 'BROTLI',
  zstd: 'ZSTD',
  lz4: 'LZ4_RAW',
} as const satisfies Record<string, WrittenCodec>;

/** The size that programs write that were not told one. */
const USUAL_ROW_GROUP_BYTES = 128 * 2 ** 20;

/** @param codecOfInput undefined: the inputs have no rows. */
export function completeTable(choice: TableChoice, codecOfInput: PageCodec | undefined): TableOutput {
  const { parquetCodec: requestedCodec, rowGroupBytes = USUAL_ROW_GROUP_BYTES, rowGroupRows } = choice;
  const compression =
    requestedCodec === undefined
      ? pageCompressionOf(writtenCodecFor(codecOfInput))
      : compressionOfOption(requestedCodec);
  return { format: 'Parquet', ...compression, rowGroupBytes, rowGroupRows };
}

/** @throws UsageError for a codec or level that there is not. */
export function compressionOfOption(parquetCodec: NonNullable<TableChoice['parquetCodec']>): TableWriteSpec {
  if (parquetCodec === 'none') return pageCompressionOf('UNCOMPRESSED');
  if (!Object.hasOwn(CODECS, parquetCodec?.codec)) {
    throw new UsageError(
      `\`parquetCodec\`: expected 'none', or an object with \`codec\` one of ${Object.keys(CODECS).join(', ')}`,
    );
  }
  requireKnownOptions('`parquetCodec`', parquetCodec, { codec: true, level: true });
  return pageCompressionOf(CODECS[parquetCodec.codec], parquetCodec.level);
}

/**
 * Returns the codec that is written for one that was read. LZ4 with the frames of Hadoop is deprecated: LZ4_RAW replaces it.
 */
export function writtenCodecFor(codec: PageCodec | undefined): WrittenCodec {
  if (codec === undefined) return 'ZSTD';
  return codec === 'LZ4' ? 'LZ4_RAW' : codec;
}

/** Returns the name as in `zstd 3`; undefined: pages are not compressed. */
export function nameOfPageCompression({ codec, level }: TableOutput): string | undefined {
  if (codec === 'UNCOMPRESSED') return undefined;
  const name = codec === 'LZ4_RAW' ? 'lz4' : codec.toLowerCase();
  return LEVELS[codec] === undefined ? name : `${name} ${level}`;
}

/** @throws UsageError for a level that the codec does not have. */
export function pageCompressionOf(codec: WrittenCodec, level?: number): TableWriteSpec {
  const levels = LEVELS[codec];
  if (levels === undefined) {
    if (level === undefined) return { codec, level: 0 };
    throw new UsageError(`\`parquetCodec\` ${codec.toLowerCase()}: it has no levels; expected the name alone`);
  }
  const { least, usual, most } = levels;
  const chosen = level ?? usual;
  if (Number.isInteger(chosen) && chosen >= least && chosen <= most) return { codec, level: chosen };
  throw new UsageError(`\`parquetCodec\` ${codec.toLowerCase()}:${chosen}: expected a level from ${least} to ${most}`);
}
