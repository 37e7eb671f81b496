/**
 * The footer of a Parquet file:
 *
 *     byte 0   PAR1
 *              row groups, indexes
 *              the footer, a Thrift structure
 *     end - 8  u32 byte length of the footer
 *     end - 4  PAR1
 *
 * A footer of 3,000 columns and 100 row groups has 30 MB. Its row groups stay bytes: each becomes objects when it is asked
 * for.
 */
import { corruptInputError, InputError } from '../../../errors.js';
import { annotationOf, readColumnOrders } from './annotation.js';
import { readKeyValues } from './key-values.js';
import { ChunkPlaces, type RowGroup, readRowGroup, UnsupportedError } from './row-group.js';
import { readSchema, type SchemaNode, type TableSchema } from './schema.js';
import { THRIFT, ThriftError, ThriftReader } from './thrift.js';

/** Gives bytes [position, position + byteLength) of a file, good until the next call. */
export interface ByteRanges {
  read(position: number, byteLength: number): Uint8Array;
}

export interface FileFooter {
  readonly schema: TableSchema;
  readonly rows: number;
  /** The program that wrote the file; empty: it is not said. */
  readonly createdBy: string;
  readonly rowGroupCount: number;
  /** The ordinal of the first row of a row group; of `rowGroupCount`: `rows`. */
  firstRowOf(rowGroup: number): number;
  /**
   * Parses and checks row groups [first, end) one by one. Whether column chunks of different row groups overlap is
   * checked when all were asked for.
   *
   * @throws InputError ERR_INPUT_CORRUPT or ERR_INPUT_FORMAT, which names row group and column.
   */
  rowGroups(first?: number, end?: number): Generator<RowGroup>;
}

const MAGIC = 'PAR1';
const ENCRYPTED_MAGIC = 'PARE';
const END_BYTES = 8;
const LEAST_BYTES = MAGIC.length + END_BYTES;
/** Most footers fit in the first call. */
const TAIL_BYTES = 64 * 1024;
/** Ten times the footers of the widest tables. */
export const MOST_FOOTER_BYTES = 2 ** 29;

/**
 * @param byteLength of the file.
 * @param mostBytes of the footer that memory allows.
 * @throws InputError ERR_INPUT_CORRUPT or ERR_INPUT_FORMAT.
 */
export function readFooter(
  file: ByteRanges,
  byteLength: number,
  path: string,
  mostBytes = MOST_FOOTER_BYTES,
): FileFooter {
  const bytes = readFooterBytes(file, byteLength, path, mostBytes);
  return inFile(path, 'its footer', () => parseFooter(bytes, byteLength - END_BYTES - bytes.byteLength, path));
}

/** A copy. */
function readFooterBytes(file: ByteRanges, byteLength: number, path: string, mostBytes: number): Uint8Array {
  if (byteLength < LEAST_BYTES)
    throw corruptInputError(path, `its ${byteLength} bytes are too few for a Parquet file; make the file again`);
  const tailBytes = Math.min(byteLength, TAIL_BYTES);
  const tail = Buffer.from(file.read(byteLength - tailBytes, tailBytes));
  if (tail.byteLength < tailBytes) throw corruptInputError(path, 'it became shorter while it was read');
  const endsLike = (magic: string) => tail.toString('latin1', tailBytes - MAGIC.length) === magic;
  if (endsLike(ENCRYPTED_MAGIC))
    throw new InputError('ERR_INPUT_FORMAT', `${path} is encrypted Parquet; write it again without encryption`);
  if (!endsLike(MAGIC))
    throw corruptInputError(
      path,
      `byte ${byteLength - MAGIC.length} is not the PAR1 that ends every Parquet file: it is cut off, or bytes were added; copy or make the file again`,
    );
  const head = Buffer.from(file.read(0, MAGIC.length)).toString('latin1');
  if (head !== MAGIC)
    throw corruptInputError(path, 'byte 0 is not the PAR1 that begins every Parquet file; make the file again');
  const footerBytes = tail.readUInt32LE(tailBytes - END_BYTES);
  const place = `byte ${byteLength - END_BYTES} claims a footer of ${footerBytes} bytes`;
  if (footerBytes > byteLength - LEAST_BYTES)
    throw corruptInputError(path, `${place} in a file of ${byteLength}; make the file again`);
  if (footerBytes > mostBytes) throw corruptInputError(path, `${place}; expected at most ${mostBytes}`);
  const start = byteLength - END_BYTES - footerBytes;
  if (footerBytes <= tailBytes - END_BYTES)
    return new Uint8Array(tail.subarray(tailBytes - END_BYTES - footerBytes, -END_BYTES));
  const bytes = new Uint8Array(file.read(start, footerBytes));
  if (bytes.byteLength < footerBytes) throw corruptInputError(path, 'it became shorter while it was read');
  return bytes;
}

function parseFooter(bytes: Uint8Array, endOfData: number, path: string): FileFooter {
  const found: Found = { version: 1, rows: -1, createdBy: '', starts: [], rowsOfGroups: [] };
  const reader = new ThriftReader(bytes);
  reader.struct((field) => {
    if (field === 1) found.version = reader.i32();
    else if (field === 2) found.elements = copyOfList(reader);
    else if (field === 3) found.rows = reader.i64();
    else if (field === 4)
      reader.list(() => {
        found.starts.push(reader.position);
        found.rowsOfGroups.push(readRowCount(reader));
      });
    else if (field === 5) found.keyValues = copyOfList(reader);
    else if (field === 6) found.createdBy = reader.string();
    else if (field === 7) found.columnOrders = copyOfList(reader);
  });
  const { version, rows, createdBy, starts, rowsOfGroups, elements, keyValues, columnOrders } = found;
  if (elements === undefined) throw new ThriftError('it has no schema');
  const { root, leaves } = readSchema(elements);
  const schema: TableSchema = { version, leaves, elements, keyValues, columnOrders };
  requireReadable(schema, root);
  const firstRows = [0];
  for (const [i, count] of rowsOfGroups.entries()) firstRows.push((firstRows[i] ?? 0) + count);
  const sum = firstRows.at(-1) ?? 0;
  // Some programs do not count them there.
  if (rows !== 0 && sum !== rows) throw new ThriftError(`it claims ${rows} rows, and its row groups ${sum}`);
  const paddingBytes = paddingBytesOf(createdBy);
  return {
    schema,
    rows: sum,
    createdBy,
    rowGroupCount: starts.length,
    firstRowOf: (rowGroup) => firstRows[rowGroup] ?? sum,
    rowGroups: function* (first = 0, end = starts.length) {
      const chunks = new ChunkPlaces();
      for (let i = first; i < end; i += 1) {
        const counts = { firstRow: firstRows[i] ?? 0, rows: rowsOfGroups[i] ?? 0 };
        const group = inFile(path, `row group ${i}`, () =>
          readRowGroup(bytes, starts[i] ?? 0, counts, leaves, endOfData),
        );
        if (end - first === starts.length) chunks.add(group.columns);
        yield withPadding(group, paddingBytes, endOfData);
      }
      inFile(path, 'its footer', () => chunks.requireApart());
    },
  };
}

interface Found {
  version: number;
  rows: number;
  createdBy: string;
  starts: number[];
  rowsOfGroups: number[];
  elements?: Uint8Array;
  keyValues?: Uint8Array;
  columnOrders?: Uint8Array;
}

/** Reads once what is carried as bytes, so that it may be read at any time. */
function requireReadable({ elements, leaves, keyValues, columnOrders }: TableSchema, root: SchemaNode): void {
  const visit = (node: SchemaNode): void => {
    annotationOf(elements, node);
    node.children.forEach(visit);
  };
  visit(root);
  readKeyValues(keyValues);
  const orders = columnOrders === undefined ? leaves.length : readColumnOrders(columnOrders).length;
  if (orders !== leaves.length) throw new ThriftError(`it claims ${orders} column orders of ${leaves.length} columns`);
}

/** Returns a copy, so that the footer can be freed. */
function copyOfList(reader: ThriftReader): Uint8Array {
  const { type, bytes } = reader.raw();
  if (type !== THRIFT.LIST) throw new ThriftError(`a value of Thrift type ${type} stands where a list is expected`);
  return bytes.slice();
}

function readRowCount(reader: ThriftReader): number {
  let rows = -1;
  reader.struct((field) => {
    if (field === 3) rows = reader.i64();
  });
  if (rows < 0) throw new ThriftError('it has a row group without a number of rows');
  return rows;
}

/** No header of a dictionary page is longer. */
const DICTIONARY_HEADER_BYTES = 100;

/**
 * How many bytes longer a column chunk may be than the footer says: parquet-mr before 1.2.9 did not count the header of the
 * dictionary page. What is read too much does no harm, because the number of values says where a chunk ends.
 */
function paddingBytesOf(createdBy: string): number {
  // The first ones did not say their version.
  if (/^parquet-mr(?! version)/.test(createdBy)) return DICTIONARY_HEADER_BYTES;
  const [, minor, patch] = /^parquet-mr version 1\.(\d+)\.(\d+)/.exec(createdBy) ?? [];
  if (minor === undefined) return 0;
  return Number(minor) < 2 || (Number(minor) === 2 && Number(patch) < 9) ? DICTIONARY_HEADER_BYTES : 0;
}

function withPadding(group: RowGroup, paddingBytes: number, endOfData: number): RowGroup {
  if (paddingBytes === 0) return group;
  const columns = group.columns.map((column) => {
    const byteLength = Math.min(column.byteLength + paddingBytes, endOfData - column.start);
    return { ...column, byteLength };
  });
  return { ...group, columns };
}

function inFile<Result>(path: string, place: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ThriftError)) throw error;
    const problem = `${path}: ${place}: ${error.message}`;
    if (error instanceof UnsupportedError) throw new InputError('ERR_INPUT_FORMAT', problem);
    throw new InputError('ERR_INPUT_CORRUPT', `${problem}; make the file again`);
  }
}
