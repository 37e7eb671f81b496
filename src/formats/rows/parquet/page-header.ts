/** Reads the header that stands before each page of a column chunk. */
import { ThriftError, ThriftReader } from './thrift.js';

/** The numbers are those of parquet.thrift. */
export const ENCODINGS = {
  PLAIN: 0,
  PLAIN_DICTIONARY: 2,
  RLE: 3,
  BIT_PACKED: 4,
  DELTA_BINARY_PACKED: 5,
  DELTA_LENGTH_BYTE_ARRAY: 6,
  DELTA_BYTE_ARRAY: 7,
  RLE_DICTIONARY: 8,
  BYTE_STREAM_SPLIT: 9,
} as const;

export type Encoding = keyof typeof ENCODINGS;

const ENCODING_NAMES = new Map<number, Encoding>(
  Object.entries(ENCODINGS).map(([name, number]) => [number, name as Encoding]),
);

/** All sizes and counts are at least 0. */
export interface PageHeader {
  /** Pages of the kind `other` hold no values: their bytes are to be skipped. */
  readonly kind: 'data' | 'dictionary' | 'other';
  /** True if the levels of a data page lie before its values, uncompressed: it is of version 2. */
  readonly levelsApart: boolean;
  /** The bytes of the page as it lies after the header. */
  readonly compressedBytes: number;
  readonly uncompressedBytes: number;
  /** CRC-32 of the page as it lies in the file, without sign. */
  readonly crc: number | undefined;
  /** Entries, nulls included; of a dictionary, its values. */
  readonly valueCount: number;
  readonly encoding: Encoding;
  readonly definitionEncoding: Encoding;
  readonly repetitionEncoding: Encoding;
  /** The rows, if the levels lie apart. */
  readonly rows: number | undefined;
  readonly nullCount: number | undefined;
  /** Bytes of the levels, which stand before the values uncompressed: at most the page, repetition levels first. Else 0. */
  readonly definitionBytes: number;
  readonly repetitionBytes: number;
  /** False: the values after levels that lie apart are not compressed, whatever the codec of the chunk. */
  readonly isCompressed: boolean;
}

/** Statistics of long strings stand in them. */
export const MOST_HEADER_BYTES = 16 * 1024 * 1024;

const KINDS = ['data', 'other', 'dictionary', 'data'] as const;
const TYPE_OF_VERSION_2 = 3;

/**
 * @returns undefined: the header does not end within `bytes`.
 * @throws ThriftError for a header that is wrong, or longer than MOST_HEADER_BYTES; it completes `page at byte N: `.
 */
export function readPageHeader(bytes: Uint8Array, at: number): { header: PageHeader; headerBytes: number } | undefined {
  const reader = new ThriftReader(bytes, at);
  try {
    const header = parse(reader);
    return { header, headerBytes: reader.position - at };
  } catch (error) {
    const mayBeTooShort = error instanceof ThriftError && error.isCutOff && bytes.byteLength - at < MOST_HEADER_BYTES;
    if (mayBeTooShort) return undefined;
    throw error;
  }
}

/** The claims of the field that describes a page of one kind; -1: none. */
class Claims {
  readonly field: number;
  valueCount = -1;
  encoding = -1;
  definitionEncoding: number = ENCODINGS.RLE;
  repetitionEncoding: number = ENCODINGS.RLE;
  rows: number | undefined;
  nullCount: number | undefined;
  definitionBytes = 0;
  repetitionBytes = 0;
  isCompressed = true;

  constructor(field: number) {
    this.field = field;
  }
}

/** The field that describes a page of each type. */
const FIELDS = [5, undefined, 7, 8];

function parse(reader: ThriftReader): PageHeader {
  let [type, compressedBytes, uncompressedBytes] = [-1, -1, -1];
  let crc: number | undefined;
  let claims = new Claims(0);
  reader.struct((field) => {
    if (field === 1) type = reader.i32();
    else if (field === 2) uncompressedBytes = reader.i32();
    else if (field === 3) compressedBytes = reader.i32();
    else if (field === 4) crc = reader.i32() >>> 0;
    else if (field === 5 || field === 7) claims = readClaims(reader, field);
    else if (field === 8) claims = readClaims2(reader, field);
  });
  if (compressedBytes < 0 || uncompressedBytes < 0) throw new ThriftError('its header lacks its size');
  const sizes = { compressedBytes, uncompressedBytes, crc };
  const kind = KINDS[type] ?? 'other';
  if (kind === 'other') return { ...USUAL_HEADER, kind, valueCount: 0, encoding: 'PLAIN', ...sizes };
  if (claims.field !== FIELDS[type]) throw new ThriftError('its header does not describe a page of its type');
  const { valueCount, rows, nullCount, definitionBytes, repetitionBytes, isCompressed } = claims;
  if (valueCount < 0) throw new ThriftError('its header lacks its number of values');
  if ((rows ?? 0) < 0 || (nullCount ?? 0) < 0)
    throw new ThriftError('its header says that it has less than 0 rows or nulls');
  requireLevelBytes(definitionBytes, repetitionBytes, Math.min(compressedBytes, uncompressedBytes));
  const encoding = encodingOf(claims.encoding);
  const definitionEncoding = encodingOf(claims.definitionEncoding);
  const repetitionEncoding = encodingOf(claims.repetitionEncoding);
  const levels = { definitionEncoding, repetitionEncoding, definitionBytes, repetitionBytes };
  const levelsApart = type === TYPE_OF_VERSION_2;
  return { kind, levelsApart, ...sizes, valueCount, encoding, ...levels, rows, nullCount, isCompressed };
}

/** The values of a header that says no more of its page. */
export const USUAL_HEADER = {
  levelsApart: false,
  crc: undefined,
  definitionEncoding: 'RLE',
  repetitionEncoding: 'RLE',
  rows: undefined,
  nullCount: undefined,
  definitionBytes: 0,
  repetitionBytes: 0,
  isCompressed: true,
} as const;

function requireLevelBytes(definitionBytes: number, repetitionBytes: number, pageBytes: number): void {
  if (definitionBytes >= 0 && repetitionBytes >= 0 && definitionBytes + repetitionBytes <= pageBytes) return;
  throw new ThriftError(`its header claims ${repetitionBytes} and ${definitionBytes} bytes of levels in ${pageBytes}`);
}

/** Reads a data page (version 1) or a dictionary page, which has the first two fields. */
function readClaims(reader: ThriftReader, field: number): Claims {
  const claims = new Claims(field);
  reader.struct((each) => {
    if (each === 1) claims.valueCount = reader.i32();
    else if (each === 2) claims.encoding = reader.i32();
    else if (field !== FIELDS[0]) return;
    else if (each === 3) claims.definitionEncoding = reader.i32();
    else if (each === 4) claims.repetitionEncoding = reader.i32();
  });
  return claims;
}

function readClaims2(reader: ThriftReader, field: number): Claims {
  const claims = new Claims(field);
  reader.struct((each) => {
    if (each === 1) claims.valueCount = reader.i32();
    else if (each === 2) claims.nullCount = reader.i32();
    else if (each === 3) claims.rows = reader.i32();
    else if (each === 4) claims.encoding = reader.i32();
    else if (each === 5) claims.definitionBytes = reader.i32();
    else if (each === 6) claims.repetitionBytes = reader.i32();
    else if (each === 7) claims.isCompressed = reader.boolean();
  });
  return claims;
}

function encodingOf(number: number): Encoding {
  const encoding = ENCODING_NAMES.get(number);
  if (encoding === undefined) throw new ThriftError(`it has encoding ${number}, which is not read`);
  return encoding;
}
