/**
 * What an element of a schema says of the meaning of its values. Values are carried whatever they mean: this serves to
 * tell tables apart, to keep groups whole, and to know how values are ordered.
 */
import { PHYSICAL_TYPES, type PhysicalType } from './leaf.js';
import { fieldsOf, readSchema, type SchemaNode, type TableSchema } from './schema.js';
import { THRIFT, ThriftReader } from './thrift.js';

export interface Annotation {
  /** Of parquet.thrift; -1: a group. */
  readonly type: number;
  /** 0, except of FIXED_LEN_BYTE_ARRAY. */
  readonly typeLength: number;
  /** Of the logical type, or of the older one where there is none. Undefined: none, or not known here. */
  readonly kind: string | undefined;
  /** In hex: the logical type, and all fields that are not known here. */
  readonly logicalType: string;
  readonly unknownFields: string;
  /** The older type with its parameters; empty: none. */
  readonly convertedType: string;
  /** A time without a time zone, which the older type cannot say. */
  readonly isLocal: boolean;
  readonly isUnsigned: boolean;
  readonly fieldId: number | undefined;
}

/** Logical types by their numbers in parquet.thrift. */
const LOGICAL_TYPES = new Map([
  [1, 'STRING'],
  [2, 'MAP'],
  [3, 'LIST'],
  [4, 'ENUM'],
  [5, 'DECIMAL'],
  [6, 'DATE'],
  [7, 'TIME'],
  [8, 'TIMESTAMP'],
  [10, 'INTEGER'],
  [11, 'UNKNOWN'],
  [12, 'JSON'],
  [13, 'BSON'],
  [14, 'UUID'],
  [15, 'FLOAT16'],
  [16, 'VARIANT'],
  [17, 'GEOMETRY'],
  [18, 'GEOGRAPHY'],
]);
/** The older types, by their numbers, as the logical types that they became. */
const CONVERTED_TYPES = [
  'STRING MAP MAP LIST ENUM DECIMAL DATE TIME TIME TIMESTAMP TIMESTAMP',
  'INTEGER INTEGER INTEGER INTEGER INTEGER INTEGER INTEGER INTEGER JSON BSON INTERVAL',
].flatMap((line) => line.split(' '));
const FIRST_UNSIGNED = 11;
const LAST_UNSIGNED = 14;

export function annotationOf(elements: Uint8Array, node: SchemaNode): Annotation {
  let [type, typeLength, converted, fieldId] = [-1, 0, -1, undefined as number | undefined];
  let [logicalType, unknownFields, parameters] = ['', '', ''];
  let logical: LogicalType | undefined;
  for (const { field, type: thriftType, bytes } of fieldsOf(elements, node)) {
    const number = () => new ThriftReader(bytes, 0, thriftType).i32();
    const hex = () => Buffer.from(bytes).toString('hex');
    if (field === 1) type = number();
    else if (field === 2) typeLength = number();
    else if (field === 6) converted = number();
    else if (field === 7 || field === 8) parameters += ` ${number()}`;
    else if (field === 9) fieldId = number();
    else if (field === 10) {
      logicalType = hex();
      logical = readLogicalType(new ThriftReader(bytes, 0, thriftType));
    } else if (field > 10) unknownFields += `${field}:${thriftType}:${hex()} `;
  }
  const isUnsigned = logical?.isUnsigned ?? (converted >= FIRST_UNSIGNED && converted <= LAST_UNSIGNED);
  return {
    // The type of a group says nothing.
    type: node.leaf === undefined ? -1 : type,
    typeLength: type === PHYSICAL_TYPES.FIXED_LEN_BYTE_ARRAY ? typeLength : 0,
    kind: logical === undefined ? CONVERTED_TYPES[converted] : LOGICAL_TYPES.get(logical.number),
    logicalType,
    unknownFields,
    convertedType: converted === -1 ? '' : `${converted}${parameters}`,
    isLocal: logical?.isLocal ?? false,
    isUnsigned,
    fieldId,
  };
}

export function annotationOfLeaf({ elements }: TableSchema, leaf: number): Annotation {
  const nodes = [readSchema(elements).root];
  for (const node of nodes) {
    if (node.leaf === leaf) return annotationOf(elements, node);
    nodes.push(...node.children);
  }
  throw new RangeError(`there is no leaf ${leaf}`);
}

interface LogicalType {
  number: number;
  isLocal: boolean;
  isUnsigned: boolean;
}

function readLogicalType(reader: ThriftReader): LogicalType {
  const found: LogicalType = { number: 0, isLocal: false, isUnsigned: false };
  reader.struct((number) => {
    found.number = number;
    const name = LOGICAL_TYPES.get(number);
    if (name !== 'TIME' && name !== 'TIMESTAMP' && name !== 'INTEGER') return;
    reader.struct((field) => {
      if (name === 'INTEGER') {
        if (field === 2) found.isUnsigned = !reader.boolean();
      } else if (field === 1) found.isLocal = !reader.boolean();
    });
  });
  return found;
}

/** Whether values mean the same. Older programs write no logical types, only what these became from. */
export function meanTheSame(one: Annotation, other: Annotation): boolean {
  if (one.type !== other.type || one.typeLength !== other.typeLength) return false;
  if (one.unknownFields !== other.unknownFields) return false;
  if (one.logicalType !== '' && other.logicalType !== '') return one.logicalType === other.logicalType;
  if (one.convertedType !== other.convertedType) return false;
  const isOlder = one.logicalType !== other.logicalType;
  return !isOlder || (one.convertedType !== '' && !one.isLocal && !other.isLocal);
}

export function describeAnnotation({ type, typeLength, kind, logicalType, convertedType }: Annotation): string {
  const [name] = Object.entries(PHYSICAL_TYPES).find(([, number]) => number === type) ?? ['a group'];
  const length = typeLength === 0 ? '' : ` of ${typeLength} bytes`;
  if (logicalType === '' && convertedType === '') return `${name}${length}`;
  const parameters = logicalType === '' ? convertedType : logicalType;
  return `${name}${length} that is ${kind ?? 'of an unknown type'} (${parameters})`;
}

/** How the values of a column are ordered: as signed numbers, or as unsigned numbers or bytes. Undefined: not known here. */
export type SortOrder = 'signed' | 'unsigned' | undefined;

const UNSIGNED_KINDS = ['STRING', 'ENUM', 'JSON', 'BSON', 'UUID'];
const SIGNED_KINDS = ['DATE', 'TIME', 'TIMESTAMP', 'DECIMAL'];

/** The column order for which min and max are as the type of the column says. */
const TYPE_ORDER = 1;

/** @returns one a leaf; undefined also where the schema does not say that its columns are ordered by type. */
export function sortOrdersOf({ elements, leaves, columnOrders }: TableSchema): SortOrder[] {
  const orders: SortOrder[] = leaves.map(() => undefined);
  if (columnOrders === undefined) return orders;
  const kinds = readColumnOrders(columnOrders);
  const visit = (node: SchemaNode): void => {
    node.children.forEach(visit);
    const leaf = node.leaf === undefined ? undefined : leaves[node.leaf];
    if (node.leaf === undefined || leaf === undefined || kinds[node.leaf] !== TYPE_ORDER) return;
    orders[node.leaf] = typeOrderOf(annotationOf(elements, node), leaf.type);
  };
  visit(readSchema(elements).root);
  return orders;
}

/** @returns the kind of order of each leaf, 0: none. */
export function readColumnOrders(columnOrders: Uint8Array): number[] {
  const kinds: number[] = [];
  const reader = new ThriftReader(columnOrders, 0, THRIFT.LIST);
  reader.list((i) => {
    kinds[i] = 0;
    reader.struct((field) => {
      kinds[i] = field;
    });
  });
  return kinds;
}

function typeOrderOf(annotation: Annotation, type: PhysicalType): SortOrder {
  const { kind = '', logicalType, convertedType, isUnsigned, unknownFields } = annotation;
  const isOfBytes = type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY';
  if (type === 'INT96' || unknownFields !== '') return undefined;
  if (logicalType === '' && convertedType === '') return isOfBytes || type === 'BOOLEAN' ? 'unsigned' : 'signed';
  if (isOfBytes) return UNSIGNED_KINDS.includes(kind) ? 'unsigned' : undefined;
  if (kind === 'INTEGER') return isUnsigned ? 'unsigned' : 'signed';
  return SIGNED_KINDS.includes(kind) ? 'signed' : undefined;
}
