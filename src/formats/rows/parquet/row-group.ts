/** Reads what a footer says of a row group: where each column chunk lies, checked. */
import { type Leaf, PHYSICAL_TYPES } from './leaf.js';
import { shownPath } from './schema.js';
import { ThriftError, ThriftReader } from './thrift.js';

/** A column chunk: it lies inside of the file, before its footer. */
export interface ColumnChunk {
  readonly codec: PageCodec;
  /** The start of all its pages, a dictionary page included. */
  readonly start: number;
  readonly byteLength: number;
  /** Entries, nulls and empty lists included. */
  readonly valueCount: number;
  /** The bytes as the footer claims; not checked. So are the two below. */
  readonly uncompressedBytes: number;
  /** Entries without a value; 0 where it says nothing. */
  readonly nullCount: number;
  /** The bytes of all values, without their lengths; undefined: it says nothing. */
  readonly plainBytes: number | undefined;
  /** The place where the file tells of its pages. Undefined: nowhere, or not inside of the file. */
  readonly offsetIndex: { readonly start: number; readonly byteLength: number } | undefined;
}

export interface RowGroup {
  readonly rows: number;
  /** Its ordinal in the file. */
  readonly firstRow: number;
  /** The columns in the order of the leaves. */
  readonly columns: readonly ColumnChunk[];
  /** The bytes of all column chunks. */
  readonly byteLength: number;
}

/** The least start of a chunk: after the magic bytes. */
const LEAST_START = 4;
/** The least bytes of a page with its header. */
const LEAST_PAGE_BYTES = 8;
const MOST_PAGE_VALUES = 2 ** 31;

/**
 * @param at where its struct begins in the bytes of the footer.
 * @param endOfData in the file, where all column chunks must end.
 * @throws ThriftError whose message begins with the column, or says what is wrong with the row group.
 */
export function readRowGroup(
  footer: Uint8Array,
  at: number,
  { firstRow, rows }: Pick<RowGroup, 'firstRow' | 'rows'>,
  leaves: readonly Leaf[],
  endOfData: number,
): RowGroup {
  const columns: ColumnChunk[] = [];
  const reader = new ThriftReader(footer, at);
  reader.struct((field) => {
    if (field !== 1) return;
    reader.list((index) => {
      const leaf = leaves[index];
      if (leaf === undefined) throw new ThriftError(`it has more than ${leaves.length} column chunks`);
      columns.push(inColumn(leaf, () => checked(readChunk(reader, leaf), leaf, rows, endOfData)));
    });
  });
  if (columns.length !== leaves.length)
    throw new ThriftError(`it has ${columns.length} column chunks; expected ${leaves.length}, as the schema says`);
  const places = new ChunkPlaces();
  places.add(columns);
  places.requireApart();
  return { rows, firstRow, columns, byteLength: columns.reduce((sum, column) => sum + column.byteLength, 0) };
}

/** Good Parquet that pileshuf does not read. */
export class UnsupportedError extends ThriftError {}

function inColumn<Result>(leaf: Leaf, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof ThriftError) error.message = `column ${shownPath(leaf.path)}: ${error.message}`;
    throw error;
  }
}

/** The claims of the fields; -1: none. */
class Claims {
  type = -1;
  codec = -1;
  valueCount = -1;
  uncompressedBytes = -1;
  byteLength = -1;
  dataStart = -1;
  dictionaryStart = -1;
  nullCount = -1;
  plainBytes = -1;
  indexStart = -1;
  indexBytes = -1;
}

function readChunk(reader: ThriftReader, leaf: Leaf): Claims {
  const claims = new Claims();
  let otherFile = '';
  let isEncrypted = false;
  reader.struct((field) => {
    if (field === 1) otherFile = reader.string();
    else if (field === 3) readMetaData(reader, leaf, claims);
    else if (field === 4) claims.indexStart = reader.i64();
    else if (field === 5) claims.indexBytes = reader.i32();
    else if (field === 8 || field === 9) isEncrypted = true;
  });
  if (isEncrypted) throw new UnsupportedError('it is encrypted; write the file again without encryption');
  if (otherFile !== '')
    throw new UnsupportedError(`its data lies in another file, ${shownPath([otherFile])}; give that file instead`);
  return claims;
}

function readMetaData(reader: ThriftReader, leaf: Leaf, claims: Claims): void {
  reader.struct((field) => {
    if (field === 1) claims.type = reader.i32();
    else if (field === 3) requirePath(reader, leaf);
    else if (field === 4) claims.codec = reader.i32();
    else if (field === 5) claims.valueCount = reader.i64();
    else if (field === 6) claims.uncompressedBytes = reader.i64();
    else if (field === 7) claims.byteLength = reader.i64();
    else if (field === 9) claims.dataStart = reader.i64();
    else if (field === 11) claims.dictionaryStart = reader.i64();
    else if (field === 12) claims.nullCount = numberIn(reader, 3);
    else if (field === 16) claims.plainBytes = numberIn(reader, 1);
  });
}

/** A field of the struct that comes next; -1: it has none. */
function numberIn(reader: ThriftReader, wanted: number): number {
  let number = -1;
  reader.struct((field) => {
    if (field === wanted) number = reader.i64();
  });
  return number;
}

function requirePath(reader: ThriftReader, { path }: Leaf): void {
  let isSame = true;
  const names = reader.list((i) => {
    if (isSame && reader.string() !== path[i]) isSame = false;
  });
  if (!isSame || names !== path.length) throw new ThriftError('its column chunk is that of another column');
}

function checked(claims: Claims, leaf: Leaf, rows: number, endOfData: number): ColumnChunk {
  const { type, codec: number, valueCount, uncompressedBytes, byteLength, dataStart, dictionaryStart } = claims;
  if (type !== PHYSICAL_TYPES[leaf.type])
    throw new ThriftError(`its column chunk has type ${type}; expected ${leaf.type}, as its schema says`);
  const codec = pageCodecOf(number);
  if (codec === undefined) {
    const name = number === 3 ? 'LZO' : `codec ${number}`;
    throw new UnsupportedError(`it is compressed with ${name}, which is not read; write the file with zstd`);
  }
  if (byteLength < 0 || uncompressedBytes < 0) throw new ThriftError('its column chunk has no size');
  // 0 says that there are no such pages.
  const hasDictionary = dictionaryStart > 0 && (dataStart === 0 || dictionaryStart < dataStart);
  const start = hasDictionary ? dictionaryStart : byteLength === 0 ? LEAST_START : dataStart;
  const end = start + byteLength;
  if (start < LEAST_START || end > endOfData)
    throw new ThriftError(
      `its column chunk claims bytes ${start} to ${end}; expected bytes 4 to ${endOfData} of the file`,
    );
  const isPlausible = leaf.maxRepetition === 0 ? valueCount === rows : valueCount >= rows;
  if (!isPlausible) throw new ThriftError(`its column chunk claims ${valueCount} values of ${rows} rows`);
  if (valueCount > (byteLength / LEAST_PAGE_BYTES) * MOST_PAGE_VALUES)
    throw new ThriftError(`its column chunk claims ${valueCount} values in ${byteLength} bytes`);
  const nullCount = Math.min(Math.max(0, claims.nullCount), valueCount);
  const plainBytes = claims.plainBytes < 0 ? undefined : claims.plainBytes;
  const { indexStart, indexBytes } = claims;
  const hasIndex = indexStart >= LEAST_START && indexBytes > 0 && indexStart + indexBytes <= endOfData;
  const offsetIndex = hasIndex ? { start: indexStart, byteLength: indexBytes } : undefined;
  return { codec, start, byteLength, valueCount, uncompressedBytes, nullCount, plainBytes, offsetIndex };
}

/** Notes where column chunks lie, to see that no two share a byte. */
export class ChunkPlaces {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  add(columns: readonly ColumnChunk[]): void {
    for (const { start, byteLength } of columns) {
      if (byteLength === 0) continue;
      this.#starts.push(start);
      this.#ends.push(start + byteLength);
    }
  }

  /** @throws ThriftError */
  requireApart(): void {
    // Sorted apart, the i-th end lies before the start after the i-th for all i if and only if no two chunks overlap.
    const starts = Float64Array.from(this.#starts).sort();
    const ends = Float64Array.from(this.#ends).sort();
    const at = starts.findIndex((start, i) => i > 0 && start < (ends[i - 1] ?? 0));
    if (at !== -1) throw new ThriftError(`two column chunks overlap at byte ${starts[at]} of the file`);
  }
}

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
