/**
 * The schema of Arrow in the metadata of a file, under `ARROW:schema`: an IPC message in base64, a FlatBuffer. It knows time
 * zones, durations, dictionaries and large strings, which Parquet's schema does not; and readers take the metadata in it,
 * not that beside it.
 *
 *     message   u32 0xFFFFFFFF (not in old ones), u32 byte length, FlatBuffer
 */
import { encodeFlatBuffer, FlatTable, type FlatValue, number, numbers, table, tables, text } from './flat-buffer.js';

export interface ArrowSchema {
  /** Version of the message; `endianness` is that of the schema. */
  readonly version: number | undefined;
  readonly endianness: number | undefined;
  readonly fields: readonly ArrowField[];
  readonly metadata: readonly ArrowPair[];
}

export interface ArrowField {
  readonly name: string;
  readonly isNullable: boolean;
  /** Type of the values of the dictionary, if the field has one. */
  readonly type: ArrowType;
  readonly dictionary: ArrowDictionary | undefined;
  readonly children: readonly ArrowField[];
  readonly metadata: readonly ArrowPair[];
}

export interface ArrowType {
  readonly name: string;
  /** Fields of the table of this type; undefined stands for the default. */
  readonly parameters: readonly (number | Buffer | readonly number[] | undefined)[];
}

export interface ArrowDictionary {
  readonly id: number | undefined;
  readonly index: ArrowType;
  readonly isOrdered: boolean;
  readonly kind: number | undefined;
}

interface ArrowPair {
  readonly key: string;
  readonly value: Buffer;
}

/** The types of Schema.fbs by their numbers, with what the fields of their tables are. */
const TYPES = [
  'NONE',
  'Null',
  'Int i32 u8',
  'FloatingPoint i16',
  'Binary',
  'Utf8',
  'Bool',
  'Decimal i32 i32 i32',
  'Date i16',
  'Time i16 i32',
  'Timestamp i16 text',
  'Interval i16',
  'List',
  'Struct',
  'Union i16 numbers',
  'FixedSizeBinary i32',
  'FixedSizeList i32',
  'Map u8',
  'Duration i16',
  'LargeBinary',
  'LargeUtf8',
  'LargeList',
  'RunEndEncoded',
  'BinaryView',
  'Utf8View',
  'ListView',
  'LargeListView',
].map((line) => {
  const [name = '', ...kinds] = line.split(' ');
  return { name, kinds };
});

/** Reads a field of such a table, by what it is. */
const PARAMETERS: Record<string, (table: FlatTable, field: number) => ArrowType['parameters'][number]> = {
  text: (of, i) => of.text(i),
  numbers: (of, i) => of.numbers(i),
  u8: (of, i) => of.number(i, 'u8'),
  i16: (of, i) => of.number(i, 'i16'),
  i32: (of, i) => of.number(i, 'i32'),
};

/** The fields of their tables, by number. */
const MESSAGE = { version: 0, headerType: 1, header: 2, bodyBytes: 3 } as const;
const SCHEMA = { endianness: 0, fields: 1, metadata: 2 } as const;
const FIELD = { name: 0, isNullable: 1, typeNumber: 2, type: 3, dictionary: 4, children: 5, metadata: 6 } as const;
const DICTIONARY = { id: 0, index: 1, isOrdered: 2, kind: 3 } as const;
const PAIR = { key: 0, value: 1 } as const;
const INT = 2;
const HEADER_OF_SCHEMA = 1;
const CONTINUATION = 0xffffffff;

/** @returns undefined: it is not a schema, or has types that are not known here. */
export function readArrowSchema(base64: string): ArrowSchema | undefined {
  const bytes = Buffer.from(base64, 'base64');
  try {
    const start = bytes.readUInt32LE(0) === CONTINUATION ? 8 : 4;
    const message = FlatTable.root(bytes, start);
    const schema = message.table(MESSAGE.header);
    if (schema === undefined) return undefined;
    return {
      version: message.number(MESSAGE.version, 'i16'),
      endianness: schema.number(SCHEMA.endianness, 'i16'),
      fields: schema.tables(SCHEMA.fields).map(readField),
      metadata: readPairs(schema.tables(SCHEMA.metadata)),
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readField(field: FlatTable): ArrowField {
  const dictionary = field.table(FIELD.dictionary);
  return {
    name: String(field.text(FIELD.name) ?? ''),
    isNullable: isSet(field.number(FIELD.isNullable, 'u8')),
    type: readType(field.number(FIELD.typeNumber, 'u8'), field.table(FIELD.type)),
    dictionary: dictionary && {
      id: dictionary.number(DICTIONARY.id, 'i64'),
      index: readType(INT, dictionary.table(DICTIONARY.index)),
      isOrdered: isSet(dictionary.number(DICTIONARY.isOrdered, 'u8')),
      kind: dictionary.number(DICTIONARY.kind, 'i16'),
    },
    children: field.tables(FIELD.children).map(readField),
    metadata: readPairs(field.tables(FIELD.metadata)),
  };
}

function isSet(flag: number | undefined): boolean {
  return flag !== undefined && flag !== 0;
}

function readType(index = 0, of: FlatTable | undefined): ArrowType {
  const type = TYPES[index];
  if (type === undefined) throw new RangeError(`there is no type ${index}`);
  const { name, kinds } = type;
  return { name, parameters: kinds.map((kind, i) => of && PARAMETERS[kind]?.(of, i)) };
}

/** A type of Schema.fbs by its name. */
export function arrowType(name: string, ...parameters: ArrowType['parameters']): ArrowType {
  return { name, parameters };
}

function readPairs(tables: readonly FlatTable[]): ArrowPair[] {
  return tables.map((pair) => ({
    key: String(pair.text(PAIR.key) ?? ''),
    value: pair.text(PAIR.value) ?? Buffer.alloc(0),
  }));
}

export function writeArrowSchema({ version, endianness, fields, metadata }: ArrowSchema): string {
  const schema = table([number('i16', endianness), tables(fields.map(fieldTable)), pairTables(metadata)]);
  const message = encodeFlatBuffer(
    table([number('i16', version), number('u8', HEADER_OF_SCHEMA), schema, number('i64', 0)]),
  );
  const start = Buffer.alloc(8);
  start.writeUInt32LE(CONTINUATION);
  start.writeUInt32LE(message.byteLength, 4);
  return Buffer.concat([start, message]).toString('base64');
}

function fieldTable({ name, isNullable, type, dictionary, children, metadata }: ArrowField): FlatValue {
  return table([
    text(name),
    number('u8', isNullable ? 1 : 0),
    number(
      'u8',
      TYPES.findIndex((each) => each.name === type.name),
    ),
    typeTable(type),
    dictionary &&
      table([
        number('i64', dictionary.id),
        typeTable(dictionary.index),
        number('u8', dictionary.isOrdered ? 1 : 0),
        number('i16', dictionary.kind),
      ]),
    tables(children.map(fieldTable)),
    pairTables(metadata),
  ]);
}

function typeTable({ name, parameters }: ArrowType): FlatValue {
  const kinds = TYPES.find((each) => each.name === name)?.kinds ?? [];
  return table(
    parameters.map((value, i) => {
      if (value === undefined) return undefined;
      if (Buffer.isBuffer(value)) return text(value);
      if (typeof value !== 'number') return numbers(value);
      const kind = kinds[i];
      return number(kind === 'u8' || kind === 'i16' ? kind : 'i32', value);
    }),
  );
}

function pairTables(pairs: readonly ArrowPair[]): FlatValue | undefined {
  if (pairs.length === 0) return undefined;
  return tables(pairs.map(({ key, value }) => table([text(key), text(value)])));
}
