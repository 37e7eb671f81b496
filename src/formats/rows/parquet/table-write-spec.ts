/** How the pages of tables are compressed. */
import { UsageError } from '../../../errors.js';
import type { KeptDictionary } from './kept-dictionary.js';
import type { PageCodec } from './page-codec.js';

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
  readonly dictionaries?: readonly KeptDictionary[] | undefined;
}

/** As in `zstd 3`; undefined: pages are not compressed. */
export function nameOfPageCompression({ codec, level }: TableWriteSpec): string | undefined {
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
