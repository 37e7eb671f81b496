/**
 * The schema of a table: a tree, written as a list of its elements depth first, each with its number of children. Elements
 * are carried as the bytes they are, so that what no reader knows yet is carried too.
 */
import { type Leaf, MOST_LEVEL, PHYSICAL_TYPES, type PhysicalType } from './leaf.js';
import { THRIFT, ThriftError, ThriftReader, type ThriftType, ThriftWriter } from './thrift.js';

/** The facts that a footer says of all rows. Plain data; crosses threads. */
export interface TableSchema {
  readonly version: number;
  readonly leaves: readonly Leaf[];
  /** Thrift values: of the lists of elements, of column orders, and of keys with values. */
  readonly elements: Uint8Array;
  readonly columnOrders: Uint8Array | undefined;
  readonly keyValues: Uint8Array | undefined;
  /** Columns that are in the names of directories. Absent: none. */
  readonly hiveColumns?: readonly HiveColumn[] | undefined;
}

/** A column that is in the names of directories. Plain data. */
export interface HiveColumn {
  readonly name: string;
  /** Type in the words of DuckDB. */
  readonly type: 'DATE' | 'TIMESTAMP' | 'BIGINT' | 'VARCHAR';
}

export const REPETITIONS = ['required', 'optional', 'repeated'] as const;

export type Repetition = (typeof REPETITIONS)[number];

export interface SchemaNode {
  readonly name: string;
  /** The root's says nothing. */
  readonly repetition: Repetition;
  /** The children; a leaf has none. */
  readonly children: readonly SchemaNode[];
  /** The ordinal of a leaf; undefined: a group. */
  readonly leaf: number | undefined;
  /** The place of the element in the list of elements. */
  readonly start: number;
  readonly end: number;
}

interface Element {
  readonly name: string;
  readonly repetition: Repetition;
  readonly type: PhysicalType | undefined;
  readonly typeLength: number;
  readonly childCount: number;
  readonly start: number;
  readonly end: number;
}

/** Ten times as many as the widest tables that other programs can read. */
const MOST_ELEMENTS = 2 ** 20;
/** Names in a path. Each adds at most a level, and levels are single bytes in rows. */
const MOST_DEPTH = MOST_LEVEL;
/** The most names in the paths of all leaves: a deep group with many leaves is small in the file. */
const MOST_PATH_NAMES = 2 ** 22;

const TYPE_NAMES = new Map<number, PhysicalType>(
  Object.entries(PHYSICAL_TYPES).map(([name, number]) => [number, name as PhysicalType]),
);

/** @throws ThriftError if the elements form no tree. */
export function readSchema(elements: Uint8Array): { root: SchemaNode; leaves: readonly Leaf[] } {
  const list = readElements(elements);
  const [first] = list;
  if (first === undefined || first.childCount === 0) throw new ThriftError('its schema has no columns');
  const leaves: Leaf[] = [];
  let next = 1;
  let pathNames = 0;
  const readNode = (
    element: Element,
    path: readonly string[],
    maxDefinition: number,
    maxRepetition: number,
  ): SchemaNode => {
    const { name, repetition, start, end, childCount } = element;
    if (childCount === 0) {
      leaves.push(leafOf(element, path, maxDefinition, maxRepetition));
      pathNames += path.length;
      return { name, repetition, children: [], leaf: leaves.length - 1, start, end };
    }
    if (path.length >= MOST_DEPTH) throw new ThriftError(`its schema has groups in more than ${MOST_DEPTH} groups`);
    if (pathNames + childCount * (path.length + 1) > MOST_PATH_NAMES)
      throw new ThriftError(`its ${childCount} columns in ${shownPath(path)} are too many, nested too deeply`);
    const children: SchemaNode[] = [];
    while (children.length < childCount) {
      const child = list[next];
      if (child === undefined) throw new ThriftError('its schema ends before all children of its groups');
      next += 1;
      const definition = maxDefinition + (child.repetition === 'required' ? 0 : 1);
      const repeated = maxRepetition + (child.repetition === 'repeated' ? 1 : 0);
      children.push(readNode(child, [...path, child.name], definition, repeated));
    }
    return { name, repetition, children, leaf: undefined, start, end };
  };
  const root = readNode(first, [], 0, 0);
  if (next < list.length) throw new ThriftError('its schema has elements that belong to no group');
  return { root, leaves };
}

function leafOf(element: Element, path: readonly string[], maxDefinition: number, maxRepetition: number): Leaf {
  const { type } = element;
  if (type === undefined) throw new ThriftError(`its schema has a column of no type, ${shownPath(path)}`);
  const typeLength = type === 'FIXED_LEN_BYTE_ARRAY' ? element.typeLength : 0;
  if (type === 'FIXED_LEN_BYTE_ARRAY' && typeLength < 1)
    throw new ThriftError(`its column ${shownPath(path)} has values of ${typeLength} bytes`);
  return { path, type, typeLength, maxDefinition, maxRepetition };
}

function readElements(elements: Uint8Array): Element[] {
  const list: Element[] = [];
  const reader = new ThriftReader(elements, 0, THRIFT.LIST);
  reader.list((index) => {
    if (index >= MOST_ELEMENTS) throw new ThriftError(`its schema has more than ${MOST_ELEMENTS} elements`);
    list.push(readElement(reader, elements.byteLength));
  });
  return list;
}

function readElement(reader: ThriftReader, mostChildren: number): Element {
  const start = reader.position;
  let [type, typeLength, repetition, childCount] = [-1, 0, 0, 0];
  let name: string | undefined;
  reader.struct((field) => {
    if (field === 1) type = reader.i32();
    else if (field === 2) typeLength = reader.i32();
    else if (field === 3) repetition = reader.i32();
    else if (field === 4) name = reader.string();
    else if (field === 5) childCount = reader.i32();
  });
  if (name === undefined) throw new ThriftError('its schema has an element without a name');
  const shown = shownPath([name]);
  const repetitionName = REPETITIONS[repetition];
  if (repetitionName === undefined)
    throw new ThriftError(`its schema says that ${shown} repeats in a way ${repetition} that does not exist`);
  const typeName = TYPE_NAMES.get(type);
  if (type !== -1 && typeName === undefined) throw new ThriftError(`its column ${shown} has an unknown type ${type}`);
  if (childCount < 0 || childCount > mostChildren)
    throw new ThriftError(`its schema claims ${childCount} children of ${shown}`);
  return { name, repetition: repetitionName, type: typeName, typeLength, childCount, start, end: reader.position };
}

/** Returns a path for messages: of one line, of some length. */
export function shownPath(path: readonly string[]): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would end the line, or do worse to a terminal.
  const name = path.join('.').replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, escaped);
  return name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}...` : name;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const MOST_SHOWN = 200;

/** A field of a Thrift struct as it stands in the file. */
export interface RawField {
  readonly field: number;
  readonly type: ThriftType;
  readonly bytes: Uint8Array;
}

/** The fields of the element of `node`. */
export function fieldsOf(elements: Uint8Array, node: SchemaNode): RawField[] {
  return rawFields(elements.subarray(node.start, node.end));
}

export function rawFields(struct: Uint8Array): RawField[] {
  const fields: RawField[] = [];
  const reader = new ThriftReader(struct);
  reader.struct((field) => fields.push({ field, ...reader.raw() }));
  return fields;
}

/**
 * @param root a tree of nodes of `elements`, of which some may be missing or repeat otherwise. Elements that are as they
 * were are copied.
 */
export function encodeElements(elements: Uint8Array, root: SchemaNode): Uint8Array {
  const nodes: SchemaNode[] = [];
  const visit = (node: SchemaNode): void => {
    nodes.push(node);
    node.children.forEach(visit);
  };
  visit(root);
  const writer = new ThriftWriter();
  writer.list(THRIFT.STRUCT, nodes.length, (i) => {
    const node = nodes[i];
    if (node !== undefined) writeElement(writer, elements, node);
  });
  return writer.take();
}

function writeElement(writer: ThriftWriter, elements: Uint8Array, node: SchemaNode): void {
  const bytes = elements.subarray(node.start, node.end);
  const { repetition, childCount } = readElement(new ThriftReader(bytes), elements.byteLength);
  const isSame = repetition === node.repetition && childCount === node.children.length;
  if (isSame) {
    writer.raw(THRIFT.STRUCT, bytes);
    return;
  }
  const changed = new Map([
    [3, REPETITIONS.indexOf(node.repetition)],
    [5, node.children.length],
  ]);
  if (repetition === node.repetition) changed.delete(3);
  if (childCount === node.children.length) changed.delete(5);
  const unchanged = rawFields(bytes).filter(({ field }) => !changed.has(field));
  const numbers = [...new Set([...unchanged.map(({ field }) => field), ...changed.keys()])].sort((a, b) => a - b);
  writer.struct(() => {
    for (const number of numbers) {
      const value = changed.get(number);
      writer.field(number);
      if (value !== undefined) writer.i32(value);
      else for (const { field, type, bytes: raw } of unchanged) if (field === number) writer.raw(type, raw);
    }
  });
}
