/** How the pages of a column chunk are compressed. The numbers are those of parquet.thrift; LZO (3) is not read. */
export const PAGE_CODECS = {
  UNCOMPRESSED: 0,
  SNAPPY: 1,
  GZIP: 2,
  BROTLI: 4,
  LZ4: 5,
  ZSTD: 6,
  LZ4_RAW: 7,
} as const;

export type PageCodec = keyof typeof PAGE_CODECS;

const NAMES = new Map<number, PageCodec>(
  Object.entries(PAGE_CODECS).map(([name, number]) => [number, name as PageCodec]),
);

/** Returns the codec of a number. Undefined: LZO, or a codec of later times. */
export function pageCodecOf(number: number): PageCodec | undefined {
  return NAMES.get(number);
}
