/** What stands before each page of a column chunk. */
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
  readonly kind: 'data' | 'data2' | 'dictionary' | 'other';
  /** Of the page as it lies behind the header. */
  readonly compressedBytes: number;
  readonly uncompressedBytes: number;
  /** CRC-32 of the page as it lies in the file, without sign. */
  readonly crc: number | undefined;
  /** Entries, nulls included; of a dictionary, its values. */
  readonly valueCount: number;
  readonly encoding: Encoding;
  readonly definitionEncoding: Encoding;
  readonly repetitionEncoding: Encoding;
  /** Of the kind `data2` alone. */
  readonly rows: number | undefined;
  readonly nullCount: number | undefined;
  /** Bytes of the levels, which stand before the values uncompressed: at most the page, repetition levels first. Else 0. */
  readonly definitionBytes: number;
  readonly repetitionBytes: number;
  /** False: the values of a page of the kind `data2` are not compressed, whatever the codec of the chunk. */
  readonly isCompressed: boolean;
}

/** Statistics of long strings stand in them. */
export const MOST_HEADER_BYTES = 16 * 1024 * 1024;

const KINDS = ['data', 'other', 'dictionary', 'data2'] as const;

/**
 * @returns undefined: the header does not end within `bytes`.
 * @throws ThriftError for a header that is wrong, or longer than MOST_HEADER_BYTES.
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

/** What the fields of the header say; -1: nothing. */
class Fields {
  type = -1;
  compressedBytes = -1;
  uncompressedBytes = -1;
  crc: number | undefined;
  valueCount = -1;
  encoding = -1;
  definitionEncoding: number = ENCODINGS.RLE;
  repetitionEncoding: number = ENCODINGS.RLE;
  rows: number | undefined;
  nullCount: number | undefined;
  definitionBytes = 0;
  repetitionBytes = 0;
  isCompressed = true;
}

const HEADER_OF_KIND = { data: 5, other: 6, dictionary: 7, data2: 8 } as const;

function parse(reader: ThriftReader): PageHeader {
  const fields = new Fields();
  let found = 0;
  reader.struct((field) => {
    if (field === 1) fields.type = reader.i32();
    else if (field === 2) fields.uncompressedBytes = reader.i32();
    else if (field === 3) fields.compressedBytes = reader.i32();
    else if (field === 4) fields.crc = reader.i32() >>> 0;
    else if (field === 5 || field === 7 || field === 8) {
      if (found !== 0) throw new ThriftError('the page header describes two pages');
      found = field;
      if (field === 5) readDataPage(reader, fields);
      else if (field === 7) readDictionaryPage(reader, fields);
      else readDataPage2(reader, fields);
    }
  });
  const kind = KINDS[fields.type] ?? 'other';
  const { compressedBytes, uncompressedBytes, valueCount, definitionBytes, repetitionBytes } = fields;
  if (compressedBytes < 0 || uncompressedBytes < 0) throw new ThriftError('the page header says no size of the page');
  if (kind === 'other') return { ...fields, kind, valueCount: 0, encoding: 'PLAIN', ...LEVELS_OF_NONE };
  if (found !== HEADER_OF_KIND[kind]) throw new ThriftError('the page header does not describe a page of its type');
  if (valueCount < 0) throw new ThriftError('the page header says no number of values');
  if (
    definitionBytes < 0 ||
    repetitionBytes < 0 ||
    definitionBytes + repetitionBytes > Math.min(compressedBytes, uncompressedBytes)
  )
    throw new ThriftError(
      `the page header claims ${definitionBytes} + ${repetitionBytes} bytes of levels in ${compressedBytes}`,
    );
  return {
    ...fields,
    kind,
    encoding: encodingOf(fields.encoding),
    definitionEncoding: encodingOf(fields.definitionEncoding),
    repetitionEncoding: encodingOf(fields.repetitionEncoding),
  };
}

const LEVELS_OF_NONE = { definitionEncoding: 'RLE', repetitionEncoding: 'RLE' } as const;

function readDataPage(reader: ThriftReader, fields: Fields): void {
  reader.struct((field) => {
    if (field === 1) fields.valueCount = reader.i32();
    else if (field === 2) fields.encoding = reader.i32();
    else if (field === 3) fields.definitionEncoding = reader.i32();
    else if (field === 4) fields.repetitionEncoding = reader.i32();
  });
}

function readDictionaryPage(reader: ThriftReader, fields: Fields): void {
  reader.struct((field) => {
    if (field === 1) fields.valueCount = reader.i32();
    else if (field === 2) fields.encoding = reader.i32();
  });
}

function readDataPage2(reader: ThriftReader, fields: Fields): void {
  reader.struct((field) => {
    if (field === 1) fields.valueCount = reader.i32();
    else if (field === 2) fields.nullCount = reader.i32();
    else if (field === 3) fields.rows = reader.i32();
    else if (field === 4) fields.encoding = reader.i32();
    else if (field === 5) fields.definitionBytes = reader.i32();
    else if (field === 6) fields.repetitionBytes = reader.i32();
    else if (field === 7) fields.isCompressed = reader.boolean();
  });
}

function encodingOf(number: number): Encoding {
  const encoding = ENCODING_NAMES.get(number);
  if (encoding === undefined) throw new ThriftError(`the page has encoding ${number}, which is not supported`);
  return encoding;
}
