/**
 * The metadata that programs keep in a footer under names of their own. All is carried as it stands, except what would be
 * wrong: descriptions of columns that are left out, and the number of rows in that of pandas.
 */
import { cutArrowSchema, withArrowMetadata } from './arrow-schema.js';
import type { SchemaNode } from './schema.js';
import { THRIFT, ThriftReader, ThriftWriter } from './thrift.js';

interface KeyValue {
  readonly key: string;
  /** Undefined: there is none. */
  readonly value: string | undefined;
  /** The Thrift struct. */
  readonly bytes: Uint8Array;
}

export interface MetadataCut {
  /** Keys whose descriptions were cut down to the columns that stay. */
  readonly shortened: readonly string[];
  /** Keys that were left out. */
  readonly dropped: readonly string[];
}

/** The names of the columns of the root that stay; false: not all of the column does. */
type KeptColumns = ReadonlyMap<string, boolean>;

export function readKeyValues(keyValues: Uint8Array | undefined): KeyValue[] {
  const pairs: KeyValue[] = [];
  if (keyValues === undefined) return pairs;
  const reader = new ThriftReader(keyValues, 0, THRIFT.LIST);
  reader.list(() => {
    const { bytes } = reader.raw();
    pairs.push(readPair(bytes));
  });
  return pairs;
}

function readPair(bytes: Uint8Array): KeyValue {
  let [key, value]: [string, string | undefined] = ['', undefined];
  const reader = new ThriftReader(bytes);
  reader.struct((field) => {
    if (field === 1) key = reader.string();
    else if (field === 2) value = reader.string();
  });
  return { key, value, bytes };
}

function encodePairs(pairs: readonly Pick<KeyValue, 'bytes'>[]): Uint8Array {
  const writer = new ThriftWriter();
  writer.list(THRIFT.STRUCT, pairs.length, (i) => writer.raw(THRIFT.STRUCT, pairs[i]?.bytes ?? EMPTY_STRUCT));
  return writer.take();
}

const EMPTY_STRUCT = Uint8Array.of(0);

function pairOf(key: string, value: string): KeyValue {
  const writer = new ThriftWriter();
  writer.struct(() => writer.field(1).binary(key).field(2).binary(value));
  return { key, value, bytes: writer.take() };
}

/** How a description in JSON is cut down. Undefined: it cannot be. */
type Cutter = (description: JsonObject, kept: KeptColumns) => JsonObject | undefined;
type JsonObject = Readonly<Record<string, unknown>>;

/** Descriptions of all columns, by key. Those without a rule are left out. */
const DESCRIPTIONS: ReadonlyMap<string, Cutter | undefined> = new Map<string, Cutter | undefined>([
  ['parquet.avro.schema', undefined],
  ['avro.schema', undefined],
  ['iceberg.schema', undefined],
  ['pandas', cutPandas],
  ['huggingface', cutHuggingFace],
  ['org.apache.spark.sql.parquet.row.metadata', cutSpark],
  ['geo', cutGeo],
]);

const ARROW = 'ARROW:schema';
const PANDAS = 'pandas';

/** @param root of the whole table, and `selected` of the columns that stay. */
export function cutKeyValues(
  keyValues: Uint8Array | undefined,
  root: SchemaNode,
  selected: SchemaNode,
): MetadataCut & { readonly keyValues: Uint8Array | undefined } {
  const kept = new Map(selected.children.map((child) => [child.name, root.children.includes(child)]));
  const [shortened, dropped, pairs]: [string[], string[], KeyValue[]] = [[], [], []];
  for (const pair of readKeyValues(keyValues)) {
    const { key, value = '' } = pair;
    if (key !== ARROW && !DESCRIPTIONS.has(key)) {
      pairs.push(pair);
      continue;
    }
    const cutValue = (each: string, text: string) => (DESCRIPTIONS.has(each) ? cutDescription(each, text, kept) : text);
    const arrow = key === ARROW ? cutArrowSchema(value, root, selected) : undefined;
    const cut = arrow === undefined ? cutDescription(key, value, kept) : withArrowMetadata(arrow, cutValue);
    if (cut !== undefined) pairs.push(pairOf(key, cut));
    (cut === undefined ? dropped : shortened).push(key);
  }
  return { keyValues: pairs.length === 0 ? undefined : encodePairs(pairs), shortened, dropped };
}

function cutDescription(key: string, text: string, kept: KeptColumns): string | undefined {
  const description = parseObject(text);
  const cut = description === undefined ? undefined : DESCRIPTIONS.get(key)?.(description, kept);
  return cut === undefined ? undefined : JSON.stringify(cut);
}

function parseObject(text: string): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** What it says of a column, it says of no fields in it. */
function cutPandas(pandas: JsonObject, kept: KeptColumns): JsonObject | undefined {
  const { columns, index_columns: indexColumns } = pandas;
  if (!Array.isArray(columns) || !Array.isArray(indexColumns)) return undefined;
  return {
    ...pandas,
    index_columns: indexColumns.filter((column) => typeof column !== 'string' || kept.has(column)),
    columns: columns.filter((column) => {
      const { field_name: field, name } = objectOf(column) ?? {};
      return kept.has(String(field ?? name));
    }),
  };
}

/** `info.features` has the type of each column by its name, and those of the fields in it. */
function cutHuggingFace(description: JsonObject, kept: KeptColumns): JsonObject | undefined {
  const info = objectOf(description['info']);
  const features = cutEntries(objectOf(info?.['features']), kept);
  return features === undefined ? undefined : { ...description, info: { ...info, features } };
}

function cutGeo(description: JsonObject, kept: KeptColumns): JsonObject | undefined {
  const columns = cutEntries(objectOf(description['columns']), kept, true);
  const isPrimaryKept = kept.has(String(description['primary_column']));
  return columns === undefined || !isPrimaryKept ? undefined : { ...description, columns };
}

function cutSpark(description: JsonObject, kept: KeptColumns): JsonObject | undefined {
  const { fields } = description;
  if (!Array.isArray(fields) || !areAllWhole(kept)) return undefined;
  return { ...description, fields: fields.filter((field) => kept.has(String(objectOf(field)?.['name']))) };
}

function cutEntries(entries: JsonObject | undefined, kept: KeptColumns, maybeParts = false): JsonObject | undefined {
  if (entries === undefined || !(maybeParts || areAllWhole(kept))) return undefined;
  const names = Object.keys(entries);
  // JavaScript sorts such names to the front.
  if (names.some((name) => /^\d+$/.test(name))) return undefined;
  return Object.fromEntries(Object.entries(entries).filter(([name]) => kept.has(name)));
}

function areAllWhole(kept: KeptColumns): boolean {
  return [...kept.values()].every((isWhole) => isWhole);
}

/**
 * Where the index of pandas was the numbers of the rows, its metadata says how many they are. All else stays as it is
 * written, byte for byte.
 */
export function withRowCount(keyValues: Uint8Array | undefined, rows: number): Uint8Array | undefined {
  let isChanged = false;
  const withRows = (key: string, value: string) => (key === PANDAS ? withRange(value, rows) : value);
  const pairs = readKeyValues(keyValues).map((pair) => {
    const { key, value = '' } = pair;
    const text = (key === ARROW ? withArrowMetadata(value, withRows) : withRows(key, value)) ?? value;
    if (text === value) return pair;
    isChanged = true;
    return pairOf(key, text);
  });
  return isChanged ? encodePairs(pairs) : keyValues;
}

/** @returns the text as it is, if its index is no range, or one of so many rows. */
function withRange(text: string, rows: number): string {
  const pandas = parseObject(text);
  const indexColumns = pandas?.['index_columns'];
  if (!Array.isArray(indexColumns)) return text;
  const isWrong = (index: unknown) => objectOf(index)?.['kind'] === 'range' && rowsOfRange(index) !== rows;
  if (!indexColumns.some(isWrong)) return text;
  const range: JsonObject = { start: 0, stop: rows, step: 1 };
  const changed = indexColumns.map((index) => (isWrong(index) ? { ...index, ...range } : index));
  const expected = JSON.stringify({ ...pandas, index_columns: changed });
  const edited = text.replace(/\{[^{}]*\}/g, (object) =>
    isWrong(parseObject(object))
      ? object.replace(/("(start|stop|step)"\s*:\s*)-?\d+/g, (_, name, field) => `${name}${range[field]}`)
      : object,
  );
  // What looks like a range may be a part of something else, or a name with braces in it.
  return JSON.stringify(parseObject(edited)) === expected ? edited : expected;
}

function rowsOfRange(index: unknown): number {
  const { start, stop, step } = objectOf(index) ?? {};
  return Math.max(0, Math.ceil((Number(stop) - Number(start)) / Number(step)));
}

/** The keys whose values differ; where pandas numbered the rows, it does not count how many they are. */
export function differingKeys(first: Uint8Array | undefined, other: Uint8Array | undefined): string[] {
  if (Buffer.compare(first ?? EMPTY_STRUCT, other ?? EMPTY_STRUCT) === 0) return [];
  const [one, two] = [comparable(first), comparable(other)];
  const keys = [...new Set([...one.keys(), ...two.keys()])];
  // Arrow's schema holds pandas' numbers of rows once more.
  const areRanges = rawPandas(first) !== rawPandas(other) && one.get(PANDAS) === two.get(PANDAS);
  return keys.filter((key) => one.get(key) !== two.get(key) && !(areRanges && key === ARROW));
}

/** Rows that no range has. */
const NO_RANGE = -1;

function comparable(keyValues: Uint8Array | undefined): Map<string, string> {
  return new Map(
    readKeyValues(keyValues).map(({ key, value = '' }) => [key, key === PANDAS ? withRange(value, NO_RANGE) : value]),
  );
}

function rawPandas(keyValues: Uint8Array | undefined): string | undefined {
  return readKeyValues(keyValues).find(({ key }) => key === PANDAS)?.value;
}
