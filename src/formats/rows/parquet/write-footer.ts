/** The footer of a file that is written, from the schema of its inputs and the descriptions of its row groups. */
import { SystemError } from '../../../errors.js';
import { withRowCount } from './key-values.js';
import type { TableSchema } from './schema.js';
import { THRIFT, ThriftWriter } from './thrift.js';

export interface FooterContent {
  readonly schema: TableSchema;
  /** The rows of the file. */
  readonly rows: number;
  readonly rowGroupCount: number;
  /** The Thrift struct of each row group, in the order of the file. */
  readonly rowGroups: Iterable<Uint8Array>;
  /** The writer as other programs show it: `pileshuf version 1.2.3`. */
  readonly createdBy: string;
}

export const PARQUET_MAGIC = Buffer.from('PAR1', 'latin1');
/** Readers take its length for a signed number of 32 bits. */
const MOST_FOOTER_BYTES = 2 ** 31 - 1;

/**
 * All that comes after the row groups and indexes of a file, in pieces: of a wide table, it has many MB.
 *
 * @throws SystemError for a footer that no reader takes.
 */
export function* footerPieces({
  schema,
  rows,
  rowGroupCount,
  rowGroups,
  createdBy,
}: FooterContent): Generator<Uint8Array> {
  const { version, elements, columnOrders } = schema;
  let byteLength = 0;
  const counted = (piece: Uint8Array) => {
    byteLength += piece.byteLength;
    if (byteLength > MOST_FOOTER_BYTES) {
      const problem = 'its footer would be larger than 2 GiB; write more shards, or larger row groups';
      throw new SystemError('ERR_IO', `a Parquet file has ${rowGroupCount} row groups: ${problem}`);
    }
    return piece;
  };
  // One structure, taken piece by piece.
  const writer = new ThriftWriter();
  writer.field(1).i32(version).field(2).raw(THRIFT.LIST, elements).field(3).i64(rows);
  yield counted(
    writer
      .field(4)
      .list(THRIFT.STRUCT, rowGroupCount, () => undefined)
      .take(),
  );
  for (const rowGroup of rowGroups) yield counted(rowGroup);
  const keyValues = withRowCount(schema.keyValues, rows);
  if (keyValues !== undefined) writer.field(5).raw(THRIFT.LIST, keyValues);
  writer.field(6).binary(createdBy);
  if (columnOrders !== undefined) writer.field(7).raw(THRIFT.LIST, columnOrders);
  yield counted(writer.end().take());
  const ending = Buffer.alloc(8);
  ending.writeUInt32LE(byteLength);
  PARQUET_MAGIC.copy(ending, 4);
  yield ending;
}
