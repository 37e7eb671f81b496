/** How rows are written, as decided when the footers of the inputs are read. */
import type { PageCodec } from './page-codec.js';
import type { TableSchema } from './schema.js';
import { pageCompressionOf, type TableWriteSpec, type WrittenCodec } from './table-write-spec.js';

/** Plain data; crosses threads, and is sealed in the spec: it decides the bytes of the output. */
export interface TableOutput extends TableWriteSpec {
  /** What the rows of a row group take at the most, on average, as they lie on piles. At least 1. */
  readonly rowGroupBytes: number;
  /** Undefined: any number. */
  readonly rowGroupRows: number | undefined;
}

/** An output of rows. Plain data; crosses threads. */
export interface WrittenTable {
  readonly schema: TableSchema;
  readonly write: TableOutput;
}

/** What the caller asks for. */
export interface TableChoice {
  /** Undefined: the codec of the first input, at its usual level. */
  readonly compression: TableWriteSpec | undefined;
  /** Undefined: `USUAL_ROW_GROUP_BYTES`. */
  readonly rowGroupBytes: number | undefined;
  readonly rowGroupRows: number | undefined;
}

/** What programs write that were not told a size. */
const USUAL_ROW_GROUP_BYTES = 128 * 2 ** 20;

/** @param codecOfInput undefined: the inputs have no rows. */
export function completeTable(choice: TableChoice | undefined, codecOfInput: PageCodec | undefined): TableOutput {
  const { compression, rowGroupBytes = USUAL_ROW_GROUP_BYTES, rowGroupRows } = choice ?? {};
  return { ...(compression ?? pageCompressionOf(writtenFor(codecOfInput))), rowGroupBytes, rowGroupRows };
}

/** LZ4 with Hadoop's frames is deprecated; the same compression without them is not. */
export function writtenFor(codec: PageCodec | undefined): WrittenCodec {
  if (codec === undefined) return 'ZSTD';
  return codec === 'LZ4' ? 'LZ4_RAW' : codec;
}
