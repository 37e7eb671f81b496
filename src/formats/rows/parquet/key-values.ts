/**
 * The metadata that programs store in a footer under names of their own. All is carried as it stands, except what would be
 * wrong: descriptions of columns that are left out, and the number of rows in that of pandas.
 */
import {
  cutFields,
  type DictionaryEdit,
  fieldsByNode,
  fieldsOfPandas,
  mergeFields,
  withDictionaries,
  withFields,
  withWideIndex,
} from './arrow-columns.js';
import { type ArrowField, type ArrowSchema, readArrowSchema, writeArrowSchema } from './arrow-schema.js';
import { type JsonObject, objectOf, parseObject } from './canonical-text.js';
import {
  COLUMN_METADATA,
  columnsOfPandas,
  frameOfPandas,
  PANDAS,
  type SelectedColumns,
  SPARK,
} from './column-metadata.js';
import { readSchema, type SchemaNode, type TableSchema } from './schema.js';
import { THRIFT, ThriftReader, ThriftWriter } from './thrift.js';

interface KeyValue {
  readonly key: string;
  /** The value. Undefined: there is none. */
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

const ARROW = 'ARROW:schema';

/** @param root of the whole table, and `selected` of the columns that stay. */
export function cutKeyValues(
  keyValues: Uint8Array | undefined,
  root: SchemaNode,
  selected: SchemaNode,
): MetadataCut & { readonly keyValues: Uint8Array | undefined } {
  const selectedColumns = new Map(selected.children.map((child) => [child.name, root.children.includes(child)]));
  const [shortened, dropped, pairs]: [string[], string[], KeyValue[]] = [[], [], []];
  for (const pair of readKeyValues(keyValues)) {
    const { key, value = '' } = pair;
    if (key !== ARROW && !COLUMN_METADATA.has(key)) {
      pairs.push(pair);
      continue;
    }
    const cutValue = (each: string, text: string) =>
      COLUMN_METADATA.has(each) ? cutDescription(each, text, selectedColumns) : text;
    const cut = key === ARROW ? cutArrow(value, root, selected, cutValue) : cutValue(key, value);
    if (cut !== undefined) pairs.push(pairOf(key, cut));
    (cut === undefined ? dropped : shortened).push(key);
  }
  return { keyValues: pairs.length === 0 ? undefined : encodePairs(pairs), shortened, dropped };
}

function cutArrow(
  text: string,
  root: SchemaNode,
  selected: SchemaNode,
  cutValue: (key: string, text: string) => string | undefined,
): string | undefined {
  const schema = readArrowSchema(text);
  const fields = schema && cutFields(schema.fields, root, selected);
  return fields && writeArrowSchema(withMetadata({ ...schema, fields }, cutValue));
}

function cutDescription(key: string, text: string, selectedColumns: SelectedColumns): string | undefined {
  const description = parseObject(text);
  const cut = description === undefined ? undefined : COLUMN_METADATA.get(key)?.cut(description, selectedColumns);
  return cut === undefined ? undefined : JSON.stringify(cut);
}

/** @param replace gives the new value of a key; undefined: the key is removed. @returns `schema` if all stays. */
function withMetadata(schema: ArrowSchema, replace: (key: string, value: string) => string | undefined): ArrowSchema {
  const metadata = schema.metadata.flatMap((pair) => {
    const text = pair.value.toString();
    const value = replace(pair.key, text);
    if (value === text) return pair;
    return value === undefined ? [] : { key: pair.key, value: Buffer.from(value) };
  });
  const isSame = metadata.length === schema.metadata.length && metadata.every((pair, i) => pair === schema.metadata[i]);
  return isSame ? schema : { ...schema, metadata };
}

function editedArrow(text: string, edit: (schema: ArrowSchema) => ArrowSchema): string {
  const schema = readArrowSchema(text);
  const changed = schema && edit(schema);
  return changed === undefined || changed === schema ? text : writeArrowSchema(changed);
}

/**
 * Renews the metadata of pandas: where its index was the numbers of the rows, it says how many they are. All else stays
 * as it is written, byte for byte.
 */
export function withRowCount(keyValues: Uint8Array | undefined, rows: number): Uint8Array | undefined {
  const withRows = (key: string, value: string) => (key === PANDAS ? withRange(value, rows) : value);
  return editedPairs(keyValues, (key, value) =>
    key === ARROW ? editedArrow(value, (schema) => withMetadata(schema, withRows)) : withRows(key, value),
  );
}

/** Dictionaries of several files may have more values together than the index of one of them can number. */
export function withWideIndices(keyValues: Uint8Array | undefined): Uint8Array | undefined {
  return editedDictionaries(keyValues, () => withWideIndex);
}

/**
 * Removes the dictionaries of leaves with plain values: some readers fail where a field has one and a page does not.
 * @param root of the schema of these key values.
 */
export function withoutDictionaries(
  keyValues: Uint8Array | undefined,
  root: SchemaNode,
  leaves: ReadonlySet<number>,
): Uint8Array | undefined {
  return editedDictionaries(keyValues, (schema) => {
    const fields = [...(fieldsByNode(root, schema.fields) ?? [])];
    const plain = new Set(fields.flatMap(([{ leaf = -1 }, field]) => (leaves.has(leaf) ? field : [])));
    return (dictionary, field) => (plain.has(field) ? undefined : dictionary);
  });
}

function editedDictionaries(
  keyValues: Uint8Array | undefined,
  editOf: (schema: ArrowSchema) => DictionaryEdit,
): Uint8Array | undefined {
  const edited = (schema: ArrowSchema) => {
    const edit = editOf(schema);
    return withFields(
      schema,
      schema.fields.map((field) => withDictionaries(field, edit)),
    );
  };
  return editedPairs(keyValues, (key, value) => (key === ARROW ? editedArrow(value, edited) : value));
}

function editedPairs(
  keyValues: Uint8Array | undefined,
  edit: (key: string, value: string) => string,
): Uint8Array | undefined {
  let isChanged = false;
  const pairs = readKeyValues(keyValues).map((pair) => {
    const { key, value = '' } = pair;
    const text = edit(key, value);
    if (text === value) return pair;
    isChanged = true;
    return pairOf(key, text);
  });
  return isChanged ? encodePairs(pairs) : keyValues;
}

/** @returns the text as it is, if its index is not a range, or one of so many rows. */
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

interface AddedColumn {
  /** Its place among the columns. */
  readonly at: number;
  readonly field: ArrowField;
  /** The name of its type in Spark. */
  readonly spark: string;
}

/**
 * Describes columns that are added to a table, or replace those of their names.
 * @param root of the table without them.
 */
export function withColumns(
  keyValues: Uint8Array | undefined,
  root: SchemaNode,
  columns: readonly AddedColumn[],
): Uint8Array | undefined {
  const names = new Set(columns.map(({ field }) => field.name));
  const children = root.children.filter(({ name }) => !names.has(name));
  const isWhole = children.length === root.children.length;
  const { keyValues: selectedKeyValues } = isWhole
    ? { keyValues }
    : cutKeyValues(keyValues, root, { ...root, children });
  const pairs = readKeyValues(selectedKeyValues).flatMap((pair) => {
    const { key, value = '' } = pair;
    if (key === ARROW) {
      const add = (schema: ArrowSchema) => ({
        ...schema,
        fields: withAdded(schema.fields, columns, ({ field }) => field),
      });
      return [
        pairOf(
          key,
          editedArrow(value, (schema) => withMetadata(add(schema), (each, text) => added(each, text, columns) ?? text)),
        ),
      ];
    }
    const text = added(key, value, columns);
    return text === undefined ? [] : [text === value ? pair : pairOf(key, text)];
  });
  return pairs.length === 0 ? undefined : encodePairs(pairs);
}

function withAdded<T>(
  all: readonly T[],
  columns: readonly AddedColumn[],
  of: (column: AddedColumn) => T,
): readonly T[] {
  return columns.reduce((list, column) => list.toSpliced(column.at, 0, of(column)), all);
}

/** @returns undefined: the description does not know of the columns. */
function added(key: string, text: string, columns: readonly AddedColumn[]): string | undefined {
  if (COLUMN_METADATA.has(key) && COLUMN_METADATA.get(key) === undefined) return undefined;
  const description = key === SPARK ? parseObject(text) : undefined;
  const fields = description?.['fields'];
  if (!Array.isArray(fields)) return text;
  const fieldOf = ({ field: { name }, spark: type }: AddedColumn) => ({ name, type, nullable: true, metadata: {} });
  return JSON.stringify({ ...description, fields: withAdded<unknown>(fields, columns, fieldOf) });
}

/** Facts of a table that programs know beyond Parquet's schema. */
export interface TableMetadata {
  readonly fields: ReadonlyMap<SchemaNode, ArrowField>;
  /** Meaning of values, by the key that says it, and by column. */
  readonly meanings: ReadonlyMap<string, ReadonlyMap<string, string | undefined>>;
  /** Dates and times are those of the Julian calendar before 1582. */
  readonly isJulian: boolean;
}

/** @param root of the schema of these key values. */
export function tableMetadataOf(keyValues: Uint8Array | undefined, root: SchemaNode): TableMetadata {
  const pairs = new Map(readKeyValues(keyValues).map(({ key, value = '' }) => [key, value]));
  const arrow = readArrowSchema(pairs.get(ARROW) ?? '');
  const pandas = parseObject(pairs.get(PANDAS) ?? '');
  const meanings = [...COLUMN_METADATA].flatMap(([key, rule]) => {
    const description = parseObject(pairs.get(key) ?? '');
    return rule && description ? [[key, rule.meaningsOf(description)] as const] : [];
  });
  return {
    fields: (arrow && fieldsByNode(root, arrow.fields)) ?? fieldsOfPandas(root, pandas ? columnsOfPandas(pandas) : []),
    meanings: new Map(meanings),
    isJulian: JULIAN.some((key) => pairs.has(key)),
  };
}

/** Keys that Spark writes beside dates and times of its versions before 3.0. */
const JULIAN = ['org.apache.spark.legacyDateTime', 'org.apache.spark.legacyINT96'];

export interface MergedKeyValues {
  readonly keyValues: Uint8Array | undefined;
  /** Keys that may matter, and have another value in one of the files. */
  readonly ignored: readonly string[];
}

/**
 * The metadata of the rows of two tables: that of the first, in which descriptions are made good for both.
 * @param target whose elements are those of both.
 */
export function mergeKeyValues(target: TableSchema, other: TableSchema): MergedKeyValues {
  const tree = { elements: target.elements, root: readSchema(target.elements).root };
  const [pairs, others] = [target, other].map(({ keyValues }) => readKeyValues(keyValues));
  const matches = new Map(others?.map(({ key, value = '' }) => [key, value]));
  const ignored = new Set<string>();
  const merge = (key: string, value: string): string | undefined => {
    const match = matches.get(key);
    if (value === match || key === ARROW) return value;
    if (COLUMN_METADATA.has(key)) return mergeDescriptions(key, value, match, () => ignored.add(key));
    if (!HARMLESS.test(key)) ignored.add(key);
    return value;
  };
  const otherArrow = readArrowSchema(matches.get(ARROW) ?? '');
  const mergeArrow = (text: string): string | undefined => {
    const schema = readArrowSchema(text);
    const fields = schema && mergeFields(tree, schema.fields, otherArrow?.fields);
    if (schema === undefined && text === matches.get(ARROW)) return text;
    if (schema === undefined || fields === undefined) return undefined;
    const merged = withMetadata(withFields(schema, fields), merge);
    return merged === schema ? text : writeArrowSchema(merged);
  };
  let isChanged = false;
  const merged = (pairs ?? []).flatMap((pair) => {
    const { key, value = '' } = pair;
    const text = key === ARROW ? mergeArrow(value) : merge(key, value);
    if (text === value) return pair;
    isChanged = true;
    return text === undefined ? [] : pairOf(key, text);
  });
  const own = new Set(pairs?.map(({ key }) => key));
  for (const key of matches.keys())
    if (!own.has(key) && key !== ARROW && !COLUMN_METADATA.has(key) && !HARMLESS.test(key)) ignored.add(key);
  const keyValues = merged.length === 0 ? undefined : encodePairs(merged);
  return { keyValues: isChanged ? keyValues : target.keyValues, ignored: [...ignored] };
}

/** Keys that programs write of their own, and counts, versions, times and names, which say nothing of values. */
const HARMLESS =
  /^(org\.apache\.spark\.(version|timeZone|legacy\w+)|writer\.model\.name|content_defined_chunking)$|(^|[._:\- ])(num_?)?(rows?|records?|counts?|versions?|creat(ed|or)(_(at|by|on))?|time(stamp)?|date|u?uid|guid|id|hash|checksum|md5|sha\d*|fingerprint|file_?(name)?|path|shard|host(name)?)$/i;

/** @returns undefined: how it becomes good for both is not known. */
function mergeDescriptions(key: string, text: string, match: string | undefined, tell: () => void): string | undefined {
  const [rule, one, two] = [COLUMN_METADATA.get(key), parseObject(text), parseObject(match ?? '')];
  if (rule === undefined || one === undefined) {
    tell();
    return undefined;
  }
  if (two === undefined) return text;
  if (key === PANDAS && frameOfPandas(one) !== frameOfPandas(two)) tell();
  const merged = rule.merge(one, two);
  return merged === one ? text : JSON.stringify(merged);
}
