/** An output of tables: each file is row groups, what a reader needs to find pages, and a footer. */
import type { TableOutput } from '../formats/parquet/table-output.js';
import type { TableSchema } from '../formats/parquet/schema.js';
import { PARQUET_MAGIC } from '../formats/parquet/write-footer.js';
import type { StoredEnds } from './output-layout.js';

/** Plain data; crosses threads. */
export interface WrittenTable {
  readonly schema: TableSchema;
  readonly write: TableOutput;
}

export function tableEnds({ schema }: WrittenTable): StoredEnds {
  return {
    headerBytes: PARQUET_MAGIC.byteLength,
    headerOf: () => PARQUET_MAGIC,
    trailerOf: ({ units }) => endOfTable(schema, units()),
  };
}
