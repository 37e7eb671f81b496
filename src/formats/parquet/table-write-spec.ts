/** How tables are written. The codec of pages decides nothing else, and nothing else decides how pages are compressed. */
import { UsageError } from '../../errors.js';

interface WrittenCodecKind {
  /** Of parquet.thrift. */
  readonly number: number;
  readonly levels?: { readonly least: number; readonly usual: number; readonly most: number };
}

export const WRITTEN_CODECS = {
  UNCOMPRESSED: { number: 0 },
  SNAPPY: { number: 1 },
  GZIP: { number: 2, levels: { least: 1, usual: 6, most: 9 } },
  BROTLI: { number: 4, levels: { least: 0, usual: 5, most: 11 } },
  ZSTD: { number: 6, levels: { least: 1, usual: 3, most: 22 } },
  LZ4_RAW: { number: 7 },
} as const satisfies Record<string, WrittenCodecKind>;

export type WrittenCodec = keyof typeof WRITTEN_CODECS;

/** Plain data; crosses threads, and is sealed in the spec: it decides the bytes of the output. */
export interface TableWriteSpec {
  readonly codec: WrittenCodec;
  /** 0 for codecs that have none. */
  readonly level: number;
}

/** @throws UsageError for a level that the codec does not have. */
export function pageCompressionOf(codec: WrittenCodec, level?: number): TableWriteSpec {
  const { levels }: WrittenCodecKind = WRITTEN_CODECS[codec];
  if (levels === undefined) {
    if (level === undefined || level === 0) return { codec, level: 0 };
    throw new UsageError(`the codec ${codec.toLowerCase()} of Parquet has no levels`);
  }
  const { least, usual, most } = levels;
  const chosen = level ?? usual;
  if (Number.isInteger(chosen) && chosen >= least && chosen <= most) return { codec, level: chosen };
  throw new UsageError(`${codec.toLowerCase()} of Parquet has levels from ${least} to ${most}, not ${chosen}`);
}
