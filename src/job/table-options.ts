/** Completes the options that say how rows are written, and refuses what does not go with them. */
import { UsageError } from '../errors.js';
import { zstdAdvice } from '../formats/codecs/zstd-writer.js';
import { refuseOtherFormats, requireNameOfRows } from '../formats/recognition.js';
import { dictionaryLeavesOf } from '../formats/rows/parquet/kept-dictionary.js';
import { completeTable, type TableChoice } from '../formats/rows/parquet/table-output.js';
import { pageCompressionOf, type TableWriteSpec, type WrittenCodec } from '../formats/rows/parquet/table-write-spec.js';
import { inputName } from '../io/input-source.js';
import { requireKnownOptions } from '../known-options.js';
import type { TableOptions } from '../options/shuffle-options.js';
import type { ParquetCompression } from '../options/values.js';
import type { OpenedRows } from '../sources/rows.js';
import { holdsRows, type Input, type RowsRequest } from '../sources/source.js';
import type { ShuffleSpec, WriteSpec } from '../spec.js';

const CODECS: Readonly<Record<Exclude<ParquetCompression, 'none'>['codec'], WrittenCodec>> = {
  snappy: 'SNAPPY',
  gzip: 'GZIP',
  brotli: 'BROTLI',
  zstd: 'ZSTD',
  lz4: 'LZ4_RAW',
};

/** @returns undefined: nothing is asked for. */
export function completeTableChoice(options: TableOptions): TableChoice | undefined {
  const { parquetCodec, rowGroupBytes, rowGroupRows } = options;
  const compression = parquetCodec && askedCodec(parquetCodec);
  const isAsked = [compression, rowGroupBytes, rowGroupRows].some((value) => value !== undefined);
  return isAsked ? { compression, rowGroupBytes, rowGroupRows } : undefined;
}

function askedCodec(asked: ParquetCompression): TableWriteSpec {
  if (asked === 'none') return pageCompressionOf('UNCOMPRESSED');
  if (!Object.hasOwn(CODECS, asked?.codec)) {
    throw new UsageError(
      `\`parquetCodec\`: expected 'none', or an object with \`codec\` one of ${Object.keys(CODECS).join(', ')}`,
    );
  }
  requireKnownOptions('`parquetCodec`', asked, { codec: true, level: true });
  return pageCompressionOf(CODECS[asked.codec], asked.level);
}

interface AskedOutput {
  readonly spec: ShuffleSpec;
  readonly output: string | undefined;
}

/** Before anything is written. */
export function requireTableOutput({ spec, output }: AskedOutput, inputs: readonly Input[]): void {
  const table = inputs.find(holdsRows);
  if (table === undefined) {
    const stream = inputs.find(({ kind }) => kind === 'stream');
    if (output !== undefined && spec.cut.shards === undefined)
      refuseOtherFormats(output, undefined, false, stream && inputName(stream.path));
    if (spec.write.tableChoice === undefined) return;
    throw new UsageError(
      'no input is a Parquet file: leave out `parquetCodec`, `rowGroupBytes` and `rowGroupRows`, or give Parquet files alone',
    );
  }
  if (output !== undefined && spec.cut.shards === undefined) requireNameOfRows(output, table.table.format);
  const isHdf5 = table.table.format === 'HDF5';
  const holds = `${table.path} holds ${table.table.format} data, and`;
  if (isHdf5 && spec.write.tableChoice !== undefined)
    throw new UsageError(
      `${holds} \`parquetCodec\`, \`rowGroupBytes\` and \`rowGroupRows\` are for Parquet; leave them out`,
    );
  if (spec.write.compression !== undefined)
    throw new UsageError(
      `${holds} \`compress\` is for other outputs; ${isHdf5 ? 'leave it out: chunks are compressed as in the first input' : 'give `parquetCodec`, and name the output .parquet'}`,
    );
  if (spec.keep.repeat)
    throw new UsageError(`${holds} \`repeat\` does not draw rows; leave it out, or convert the inputs to JSON lines`);
}

/** How rows are written, once the inputs are opened. */
export async function withTable(
  write: WriteSpec,
  rows: OpenedRows | undefined,
  request: Pick<RowsRequest, 'read' | 'signal' | 'onWarning'>,
): Promise<WriteSpec> {
  if (rows?.output !== undefined) return { ...write, hdf5: rows.output };
  if (rows?.table === undefined) return write;
  const { schema, codec } = rows.table;
  const completed = completeTable(write.tableChoice, codec);
  const advice = completed.codec === 'ZSTD' ? zstdAdvice() : undefined;
  if (advice !== undefined) request.onWarning(advice);
  const asked = dictionaryLeavesOf(schema);
  if (asked.length === 0) return { ...write, table: completed };
  const { readDictionaries } = await import('./table-dictionaries.js');
  return {
    ...write,
    table: { ...completed, dictionaries: await readDictionaries(rows.inputs, schema, asked, request) },
  };
}
