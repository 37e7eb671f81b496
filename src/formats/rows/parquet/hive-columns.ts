/**
 * Columns whose values are only in the names of directories, as in `lang=en/year=2024/part.parquet`. Names, types and values
 * are those that DuckDB gives them, except that times with an offset from UTC stay text.
 */
import { InputError } from '../../../errors.js';
import { areTypeOrdered, typeOrders } from './annotation.js';
import { arrowType } from './arrow-schema.js';
import { withColumns } from './key-values.js';
import { PHYSICAL_TYPES, type PhysicalType } from './leaf.js';
import { encodeElements, type HiveColumn, readSchema, type SchemaNode, shownPath, type TableSchema } from './schema.js';
import { THRIFT, ThriftWriter } from './thrift.js';

/** The numbers are those of parquet.thrift. */
interface HiveType {
  readonly physical: PhysicalType;
  readonly converted: number | undefined;
  readonly logical: number;
  readonly arrow: ReturnType<typeof arrowType>;
  readonly spark: string;
  /** @returns undefined: the text is not a value of the type. */
  parse(text: string): Uint8Array | undefined;
}

// biome-ignore format: a table
const TYPES = {
  DATE: { physical: 'INT32', converted: 6, logical: 6, arrow: arrowType('Date', 0), spark: 'date', parse: parseDate },
  TIMESTAMP: {
    physical: 'INT64', converted: undefined, logical: 8, arrow: arrowType('Timestamp', 2, undefined), spark: 'timestamp_ntz',
    parse: parseTimestamp,
  },
  BIGINT: { physical: 'INT64', converted: 18, logical: 10, arrow: arrowType('Int', 64, 1), spark: 'long', parse: parseBigint },
  VARCHAR: { physical: 'BYTE_ARRAY', converted: 0, logical: 1, arrow: arrowType('Utf8'), spark: 'string', parse: parseText },
} as const satisfies Record<HiveColumn['type'], HiveType>;

/** Returns the values in the directories of a path by name. The first of two with one name counts. */
export function hiveTextsIn(path: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const directory of path.split('/').slice(0, -1)) {
    const [, name, text = ''] = /^([^=?\\\n]+)=([^=?\\\n]*)$/.exec(directory) ?? [];
    if (name !== undefined && !found.has(name)) found.set(name, text);
  }
  return found;
}

/** @param mustAgree whether all paths must have the same names. */
export function hiveColumnsOf(paths: readonly string[], mustAgree: boolean): readonly HiveColumn[] {
  const types = new Map<string, HiveColumn['type'] | undefined>();
  const [firstPath = ''] = paths;
  const first = namesIn(firstPath);
  for (const path of paths) {
    const names = namesIn(path);
    if (mustAgree && names !== first) {
      const problem = `${path} names ${names || 'no columns'} in its directories, but ${firstPath} ${first || 'none'}`;
      throw new InputError('ERR_INPUT_FORMAT', `${problem}; give files whose directories name the same columns`);
    }
    for (const [name, text] of hiveTextsIn(path)) {
      const [type, known] = [isNull(text) ? undefined : typeOf(text), types.get(name)];
      types.set(name, type === undefined || known === undefined || type === known ? (type ?? known) : 'VARCHAR');
    }
  }
  const sorted = [...types].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, type = 'VARCHAR']) => ({ name, type }));
}

function namesIn(path: string): string {
  return [...hiveTextsIn(path).keys()]
    .sort()
    .map((name) => shownPath([name]))
    .join(', ');
}

function isNull(text: string): boolean {
  return text === '__HIVE_DEFAULT_PARTITION__' || /^null$/i.test(text);
}

function typeOf(text: string): HiveColumn['type'] {
  const types = ['DATE', 'TIMESTAMP', 'BIGINT'] as const;
  return types.find((type) => TYPES[type].parse(text) !== undefined) ?? 'VARCHAR';
}

function parseBigint(text: string): Uint8Array | undefined {
  if (!/^\s*-?(0|[1-9]\d*)\s*$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? new Uint8Array(BigInt64Array.of(value).buffer) : undefined;
}

const DAY_MS = 86_400_000;
const DATE = String.raw`(\d{1,6})([- ])(\d{1,2})\2(\d{1,2})`;
const TIME = String.raw`(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,9}))?)?(?: ?(?:Z|UTC|[+]00(?::?00)?))?`;

/** Days since 1970. @returns undefined: there is no such day. */
function dayOf([, year, , month, day]: readonly (string | undefined)[]): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDay = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  return isDay ? date.getTime() / DAY_MS : undefined;
}

function parseDate(text: string): Uint8Array | undefined {
  const found = RegExp(`^\\s*${DATE}\\s*$`).exec(text);
  const day = found === null ? undefined : dayOf(found);
  return day === undefined ? undefined : new Uint8Array(Int32Array.of(day).buffer);
}

function parseTimestamp(text: string): Uint8Array | undefined {
  const found = RegExp(`^\\s*${DATE}[ T]${TIME}\\s*$`).exec(text);
  const day = found === null ? undefined : dayOf(found);
  const [hour = 0, minute = 0, second = 0] = (found ?? []).slice(5, 8).map((digits) => Number(digits ?? 0));
  if (found === null || day === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  const micros = BigInt((found[8] ?? '').padEnd(6, '0').slice(0, 6));
  const seconds = BigInt(day) * 86_400n + BigInt(3600 * hour + 60 * minute + second);
  return new Uint8Array(BigInt64Array.of(1_000_000n * seconds + micros).buffer);
}

function parseText(text: string): Uint8Array {
  // Bytes stand as %20 where a file system or a web server takes no others.
  const bytes = Buffer.from(text)
    .toString('latin1')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}

/** Returns a value as PLAIN stores it. @returns undefined: it is null. */
export function hiveValueOf({ name, type }: HiveColumn, path: string): Uint8Array | undefined {
  const text = hiveTextsIn(path).get(name) ?? '';
  if (isNull(text)) return undefined;
  const value = TYPES[type].parse(text);
  if (value === undefined) throw new RangeError(`${path} has no ${name} of type ${type}`);
  if (type !== 'VARCHAR') return value;
  if (!Buffer.from(Buffer.from(value).toString()).equals(value))
    throw new InputError(
      'ERR_INPUT_FORMAT',
      `${path}: the value of ${shownPath([name])} is not UTF-8; rename the directory`,
    );
  const bytes = Buffer.alloc(4 + value.byteLength);
  bytes.writeUInt32LE(value.byteLength);
  bytes.set(value, 4);
  return bytes;
}

export interface SchemaWithHive {
  readonly schema: TableSchema;
  /** Origin of each leaf: its number in the file, or the column in the names of directories. */
  readonly origins: readonly (number | HiveColumn)[];
  /** Columns of the file that were replaced. */
  readonly replaced: readonly string[];
}

/** Adds columns after the others, or in the place of those with their names, in whatever case. */
export function withHiveColumns(schema: TableSchema, hiveColumns: readonly HiveColumn[]): SchemaWithHive {
  const { elements, columnOrders, keyValues, leaves } = schema;
  if (hiveColumns.length === 0) return { schema, origins: leaves.map((_, i) => i), replaced: [] };
  const { root } = readSchema(elements);
  const byName = new Map(hiveColumns.map((hive) => [hive.name.toLowerCase(), hive]));
  const replaced = root.children.flatMap(({ name }) => (byName.has(name.toLowerCase()) ? [name] : []));
  const known = new Set(replaced.map((name) => name.toLowerCase()));
  const children: (SchemaNode | NamedHiveColumn)[] = root.children.map((child) => {
    const hive = byName.get(child.name.toLowerCase());
    return hive === undefined ? child : { hive, column: child.name };
  });
  for (const hive of hiveColumns) if (!known.has(hive.name.toLowerCase())) children.push({ hive, column: hive.name });
  const pieces = [elements];
  let end = elements.byteLength;
  const nodes = children.map((child): SchemaNode => {
    if (!('hive' in child)) return child;
    const bytes = encodeElement(child);
    pieces.push(bytes);
    end += bytes.byteLength;
    return { name: child.column, repetition: 'optional', children: [], leaf: 0, start: end - bytes.byteLength, end };
  });
  const added = encodeElements(Buffer.concat(pieces), { ...root, children: nodes });
  const origins = children.flatMap((child): readonly (number | HiveColumn)[] =>
    'hive' in child ? [child.hive] : leavesBelow(child),
  );
  const columns = children.flatMap((child, at) => {
    if (!('hive' in child)) return [];
    const { arrow: type, spark } = TYPES[child.hive.type];
    return [
      {
        at,
        spark,
        field: { name: child.column, isNullable: true, type, dictionary: undefined, children: [], metadata: [] },
      },
    ];
  });
  return {
    schema: {
      ...schema,
      elements: added,
      leaves: readSchema(added).leaves,
      columnOrders: areTypeOrdered(columnOrders) ? typeOrders(origins.length) : undefined,
      keyValues: withColumns(keyValues, root, columns),
    },
    origins,
    replaced,
  };
}

interface NamedHiveColumn {
  readonly hive: HiveColumn;
  readonly column: string;
}

function leavesBelow({ leaf, children }: SchemaNode): readonly number[] {
  return leaf === undefined ? children.flatMap(leavesBelow) : [leaf];
}

function encodeElement({ hive: { type }, column }: NamedHiveColumn): Uint8Array {
  const { physical, converted, logical } = TYPES[type];
  const writer = new ThriftWriter();
  writer.struct(() => {
    writer.field(1).i32(PHYSICAL_TYPES[physical]).field(3).i32(1).field(4).binary(column);
    if (converted !== undefined) writer.field(6).i32(converted);
    writer.field(10).struct(() => {
      writer.field(logical).struct(() => {
        if (type === 'BIGINT') writer.field(1).raw(THRIFT.I8, Uint8Array.of(64)).field(2).boolean(true);
        if (type === 'TIMESTAMP')
          writer
            .field(1)
            .boolean(false)
            .field(2)
            .struct(() => writer.field(2).struct(() => undefined));
      });
    });
  });
  return writer.take();
}
