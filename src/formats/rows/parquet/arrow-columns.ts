/** Fields of Arrow's schema beside the columns that they describe: what they say of values that the columns do not. */
import { annotationOf } from './annotation.js';
import { type ArrowDictionary, type ArrowField, type ArrowSchema, type ArrowType, arrowType } from './arrow-schema.js';
import { canonicalText, isUtc } from './canonical-text.js';
import type { SchemaNode } from './schema.js';

const LISTS = ['List', 'LargeList', 'ListView', 'LargeListView', 'FixedSizeList'];

type Described = readonly [node: SchemaNode, field: ArrowField];

/** The columns in a group with their fields. @returns undefined: they are not those of the field. */
function childrenOf(node: SchemaNode, { type, children }: ArrowField): readonly Described[] | undefined {
  const [entries] = node.children;
  const [field] = children;
  if (type.name === 'Struct') return inPairs(node.children, children, true);
  if (LISTS.includes(type.name)) return entries && inPairs(entries.children, children);
  if (type.name === 'Map') return entries && field && inPairs(entries.children, field.children);
  return [];
}

function inPairs(
  nodes: readonly SchemaNode[],
  fields: readonly ArrowField[],
  haveNames = false,
): readonly Described[] | undefined {
  if (nodes.length !== fields.length) return undefined;
  const pairs = nodes.flatMap((node, i): Described[] => {
    const field = fields[i];
    return field === undefined || (haveNames && field.name !== node.name) ? [] : [[node, field]];
  });
  return pairs.length === nodes.length ? pairs : undefined;
}

/** The field of each column and group. @returns undefined: the fields are not those of these columns. */
export function fieldsByNode(
  root: SchemaNode,
  fields: readonly ArrowField[],
): ReadonlyMap<SchemaNode, ArrowField> | undefined {
  const found = new Map<SchemaNode, ArrowField>();
  const pairs = [...(inPairs(root.children, fields, true) ?? [])];
  if (pairs.length === 0) return undefined;
  for (const pair of pairs) {
    found.set(...pair);
    pairs.push(...(childrenOf(...pair) ?? []));
  }
  return found;
}

function withChildren(field: ArrowField, children: readonly ArrowField[]): ArrowField {
  const [entries] = field.children;
  if (field.type.name !== 'Map' || entries === undefined) return { ...field, children };
  return { ...field, children: [{ ...entries, children }] };
}

/**
 * The fields of the columns that stay.
 * @param root of the whole table, and `selected` of the columns that stay.
 * @returns undefined: they are not the fields of these columns, or a part of another group than a struct stays.
 */
export function cutFields(
  fields: readonly ArrowField[],
  root: SchemaNode,
  selected: SchemaNode,
): readonly ArrowField[] | undefined {
  const selectedNodes = new Map(selected.children.map((child) => [child.start, child]));
  const pairs = inPairs(root.children, fields, true);
  const cut = pairs?.flatMap(([node, field]) => {
    const child = selectedNodes.get(node.start);
    if (child === undefined || child === node) return child === undefined ? [] : [field];
    const children = field.type.name === 'Struct' ? cutFields(field.children, node, child) : undefined;
    return [children && { ...field, children }];
  });
  const known = cut?.filter((field) => field !== undefined);
  return known?.length === cut?.length ? known : undefined;
}

/**
 * The fields of a table as it became: nullable where a column is optional now, and with the type that another table gave to
 * a column without one.
 * @param other of the other table. Absent: it has no fields.
 * @returns undefined: a type is not known, or these are not the fields of the columns.
 */
export function mergeFields(
  { elements, root }: { readonly elements: Uint8Array; readonly root: SchemaNode },
  fields: readonly ArrowField[],
  other: readonly ArrowField[] = [],
): readonly ArrowField[] | undefined {
  const merge = ([node, field]: Described, match: ArrowField | undefined): ArrowField | undefined => {
    const isNullable = field.isNullable || node.repetition === 'optional';
    const isUntyped = field.type.name === 'Null' && !annotationOf(elements, node).isUntyped;
    if (isUntyped) return match && { ...match, isNullable };
    const pairs = childrenOf(node, field);
    const type = inUnitOfBoth(field.type, match?.type);
    const isUnchanged = isNullable === field.isNullable && type === field.type;
    if (pairs?.length === 0) return isUnchanged ? field : { ...field, isNullable, type };
    if (pairs === undefined) return undefined;
    const children = mergeAll(pairs, match?.children ?? [], field.type.name === 'Struct');
    const own = field.type.name === 'Map' ? field.children[0]?.children : field.children;
    const isSame = children?.every((child, i) => child === own?.[i]);
    if (isSame === true && isNullable === field.isNullable) return field;
    return children && { ...withChildren(field, children), isNullable };
  };
  const mergeAll = (
    pairs: readonly Described[],
    others: readonly ArrowField[],
    haveNames: boolean,
  ): ArrowField[] | undefined => {
    const [entries] = others;
    const matches = haveNames || pairs.length === others.length ? others : (entries?.children ?? []);
    const merged = pairs.flatMap((pair, i) => {
      const match = haveNames ? matches.find(({ name }) => name === pair[0].name) : matches[i];
      return merge(pair, match) ?? [];
    });
    return merged.length === pairs.length ? merged : undefined;
  };
  const pairs = inPairs(root.children, fields, true);
  return pairs && mergeAll(pairs, other, true);
}

/** Parquet has no seconds: they are stored as milliseconds, which another table may have. */
function inUnitOfBoth(type: ArrowType, match: ArrowType | undefined): ArrowType {
  if (!isInSeconds(type) || (match !== undefined && isInSeconds(match))) return type;
  return arrowType(type.name, 1, ...type.parameters.slice(1));
}

function isInSeconds({ name, parameters: [unit] }: ArrowType): boolean {
  return (name === 'Timestamp' && (unit ?? 0) === 0) || (name === 'Time' && unit === 0);
}

/** Gives the new dictionary of a field that has one; undefined: its values are plain. */
export type DictionaryEdit = (dictionary: ArrowDictionary, field: ArrowField) => ArrowDictionary | undefined;

export function withDictionaries(field: ArrowField, edit: DictionaryEdit): ArrowField {
  const children = field.children.map((child) => withDictionaries(child, edit));
  const dictionary = field.dictionary && edit(field.dictionary, field);
  const isSame = dictionary === field.dictionary && children.every((child, i) => child === field.children[i]);
  return isSame ? field : { ...field, children, dictionary };
}

/** The dictionary, with indices of 32 bits at least. */
export function withWideIndex(dictionary: ArrowDictionary): ArrowDictionary {
  const { name, parameters } = dictionary.index;
  const [bits, ...rest] = parameters;
  return Number(bits) < 32 ? { ...dictionary, index: arrowType(name, 32, ...rest) } : dictionary;
}

const UNITS = ['s', 'ms', 'us', 'ns'];
const INTERVALS = ['months', 'days and ms', 'months, days and ns'];
const EXTENSION_NAME = 'ARROW:extension:name';
const EXTENSION_METADATA = 'ARROW:extension:metadata';
/** Extensions that Parquet's own types say, too. */
const SAID_BY_PARQUET = ['arrow.json', 'arrow.uuid', 'arrow.parquet.variant', 'parquet.variant'];

/** @param words of the type of the column; more is said of it where Arrow's field knows more. */
export function arrowWordsOf(words: string, { type, dictionary, metadata }: ArrowField): string {
  const { name, parameters } = type;
  const [first, second] = parameters;
  const textOf = (key: string) => metadata.find((pair) => pair.key === key)?.value.toString();
  const extension = textOf(EXTENSION_NAME) ?? '';
  let full = words;
  if (name === 'Duration') full = `duration[${UNITS[Number(first ?? 1)]}]`;
  else if (name === 'Interval') full = `interval[${INTERVALS[Number(first ?? 0)]}]`;
  else if (name === 'FixedSizeList') full = `fixed_size_list[${Number(first ?? 0)}]`;
  else if (name === 'Timestamp' && Buffer.isBuffer(second) && !isUtc(`${second}`))
    full = words.includes('UTC') ? words.replace('UTC', `${second}`) : `${words} in ${second}`;
  if (dictionary?.isOrdered === true) full = `${full}, an ordered dictionary`;
  if (extension === '' || SAID_BY_PARQUET.includes(extension)) return full;
  return `${full} as ${extension} ${canonicalText(textOf(EXTENSION_METADATA) ?? '')}`.trim();
}

/** Keys of fields that say nothing of the meaning of values, or are compared in another way. */
const PASSED_OVER = /^(ARROW:extension:|PARQUET:|_PL_CATEGORICAL|comment$|description$)/i;

/** Returns the other metadata of a field by key: a unit, for example. */
export function attributesOf({ metadata }: ArrowField): ReadonlyMap<string, string> {
  const meaningful = metadata.filter(({ key }) => !PASSED_OVER.test(key));
  return new Map(meaningful.map(({ key, value }) => [key, canonicalText(value.toString())]));
}

/** Returns the fields that pandas' metadata describe: some programs say there alone what others say in Arrow's schema. */
export function fieldsOfPandas(
  root: SchemaNode,
  columns: readonly { readonly name: string; readonly timezone: string | undefined; readonly isOrdered: boolean }[],
): ReadonlyMap<SchemaNode, ArrowField> {
  const columnOf = new Map(columns.map((column) => [column.name, column]));
  const fields = root.children.flatMap((node): Described[] => {
    const { timezone, isOrdered } = columnOf.get(node.name) ?? {};
    if (timezone === undefined && isOrdered !== true) return [];
    const type = timezone === undefined ? arrowType('Utf8') : arrowType('Timestamp', undefined, Buffer.from(timezone));
    const index = { id: undefined, index: arrowType('Int'), isOrdered: true, kind: undefined };
    const dictionary = isOrdered === true ? index : undefined;
    return [[node, { name: node.name, isNullable: true, type, dictionary, children: [], metadata: [] }]];
  });
  return new Map(fields);
}

export function withFields(schema: ArrowSchema, fields: readonly ArrowField[]): ArrowSchema {
  return fields.every((field, i) => field === schema.fields[i]) && fields.length === schema.fields.length
    ? schema
    : { ...schema, fields };
}
