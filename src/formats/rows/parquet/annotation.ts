/**
 * Reads what an element of a schema says of the meaning of its values. Values are carried whatever they mean: this
 * serves to tell tables apart, to leave groups whole, and to know how values are ordered.
 */
import { PHYSICAL_TYPES, type PhysicalType } from './leaf.js';
import { fieldsOf, rawFields, readSchema, type SchemaNode, type TableSchema } from './schema.js';
import { THRIFT, ThriftReader, type ThriftType, ThriftWriter } from './thrift.js';

export interface Annotation {
  /** The number of the type in parquet.thrift; -1: a group. */
  readonly type: number;
  /** 0, except of FIXED_LEN_BYTE_ARRAY. */
  readonly typeLength: number;
  /** The kind of the logical type, or of the older one where there is none. Undefined: none, or not known here. */
  readonly kind: string | undefined;
  /** The logical type in hex, with all fields that are not known here. */
  readonly logicalType: string;
  readonly unknownFields: string;
  /** The older type with its parameters; empty: none. */
  readonly convertedType: string;
  /** Parameters of the logical type, by the numbers of their fields, or those of the older one as the logical type has them. */
  readonly parameters: readonly Parameter[];
  readonly isUnsigned: boolean;
  /** True if its values are all null, so that nothing tells their type. */
  readonly isUntyped: boolean;
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

/** Parameter of a logical type; that of a struct is the number of its field. */
type Parameter = number | boolean | string | undefined;

export function annotationOf(elements: Uint8Array, node: SchemaNode): Annotation {
  let [type, typeLength, converted, fieldId] = [-1, 0, -1, undefined as number | undefined];
  let [logicalType, unknownFields] = ['', ''];
  const decimal: number[] = [];
  let logical: LogicalType | undefined;
  for (const { field, type: thriftType, bytes } of fieldsOf(elements, node)) {
    const number = () => new ThriftReader(bytes, 0, thriftType).i32();
    const hex = () => Buffer.from(bytes).toString('hex');
    if (field === 1) type = number();
    else if (field === 2) typeLength = number();
    else if (field === 6) converted = number();
    else if (field === 7 || field === 8) decimal[field - 6] = number();
    else if (field === 9) fieldId = number();
    else if (field === 10) {
      logicalType = hex();
      logical = readLogicalType(bytes);
    } else if (field > 10) unknownFields += `${field}:${thriftType}:${hex()} `;
  }
  const kind = logical === undefined ? CONVERTED_TYPES[converted] : LOGICAL_TYPES.get(logical.number);
  const parameters = logical?.parameters ?? parametersOf(converted, decimal);
  return {
    // The type of a group says nothing.
    type: node.leaf === undefined ? -1 : type,
    typeLength: type === PHYSICAL_TYPES.FIXED_LEN_BYTE_ARRAY ? typeLength : 0,
    kind,
    logicalType,
    unknownFields,
    convertedType: converted === -1 ? '' : `${converted}`,
    parameters,
    isUnsigned: kind === 'INTEGER' && parameters[2] === false,
    isUntyped: kind === 'UNKNOWN',
    fieldId,
  };
}

/** Returns the parameters of an older type as its logical type has them: times are in UTC. */
function parametersOf(converted: number, decimal: readonly number[]): readonly Parameter[] {
  if (converted === 5) return [undefined, decimal[1] ?? 0, decimal[2]];
  if (converted >= 7 && converted <= 10) return [undefined, true, converted % 2 === 1 ? 1 : 2];
  const isInteger = converted >= 11 && converted <= 18;
  return isInteger ? [undefined, 8 * 2 ** ((converted - 11) % 4), converted >= 15] : [];
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
  readonly number: number;
  readonly parameters: readonly Parameter[];
}

/** @param union of the types, of which one is set. */
function readLogicalType(union: Uint8Array): LogicalType {
  const [set] = rawFields(union);
  if (set === undefined) return { number: 0, parameters: [] };
  const parameters: Parameter[] = [];
  if (set.type === THRIFT.STRUCT)
    for (const { field, type, bytes } of rawFields(set.bytes)) parameters[field] = readParameter(type, bytes);
  return { number: set.field, parameters };
}

function readParameter(type: ThriftType, bytes: Uint8Array): Parameter {
  if (type === THRIFT.TRUE || type === THRIFT.FALSE) return type === THRIFT.TRUE;
  if (type === THRIFT.I8) return bytes[0];
  if (type === THRIFT.BINARY) return new ThriftReader(bytes, 0, type).string();
  if (type === THRIFT.STRUCT) return rawFields(bytes)[0]?.field;
  return type === THRIFT.I32 ? new ThriftReader(bytes, 0, type).i32() : undefined;
}

const STORED_TYPES = ['bool', 'int32', 'int64', 'timestamp in int96', 'float32', 'float64', 'binary'];
const TIME_UNITS = ['', 'ms', 'us', 'ns'];
const USUAL_CRS = 'OGC:CRS84';
/** How values of a kind are usually stored, for kinds of which their name does not tell it. Others: as bytes, or as a group. */
const USUALLY_STORED: Readonly<Record<string, string>> = {
  DATE: 'int32',
  TIMESTAMP: 'int64',
  UUID: 'binary of 16 bytes',
  FLOAT16: 'binary of 2 bytes',
  INTERVAL: 'binary of 12 bytes',
  LIST: 'struct',
  MAP: 'struct',
  VARIANT: 'struct',
};

const timeUnit = (unit: Parameter) => TIME_UNITS[Number(unit)] ?? '?';
const inUnit = (isUtc: Parameter, unit: Parameter) => `[${timeUnit(unit)}${isUtc === true ? ', UTC' : ''}]`;

/** The kinds with parameters: their words, and how values are usually stored. Each takes the parameters that are known here. */
const WORDS_OF: Readonly<
  Record<string, (...parameters: readonly Parameter[]) => readonly [words: string, usual?: string]>
> = {
  INTEGER: (bits, isSigned) => [`${isSigned === false ? 'u' : ''}int${bits}`, Number(bits) > 32 ? 'int64' : 'int32'],
  DECIMAL: (scale, precision) => [`decimal(${precision}, ${scale})`, 'any type'],
  TIME: (isUtc, unit) => [`time${inUnit(isUtc, unit)}`, timeUnit(unit) === 'ms' ? 'int32' : 'int64'],
  TIMESTAMP: (isUtc, unit) => [`timestamp${inUnit(isUtc, unit)}`],
  GEOMETRY: (crs) => [`geometry(${crs ?? USUAL_CRS})`],
  GEOGRAPHY: (crs, edges) => [`geography(${crs ?? USUAL_CRS}, ${edges ?? 0})`],
};

/** The type in the words of data frames. Values mean the same if and only if these are equal. */
export function typeWordsOf(annotation: Annotation): string {
  const { type, typeLength, kind, parameters, isUntyped, logicalType, convertedType, unknownFields } = annotation;
  const stored = type === -1 ? 'struct' : (STORED_TYPES[type] ?? `binary of ${typeLength} bytes`);
  const [, ...values] = parameters;
  const wordsOf = WORDS_OF[kind ?? ''];
  const laterParameters = values.length > (wordsOf?.length ?? 0) ? logicalType : '';
  const isLater = unknownFields + laterParameters !== '';
  const later = isLater ? ` with fields of a later version (${unknownFields}${laterParameters})` : '';
  if (kind === undefined) {
    const unknown = logicalType === '' ? convertedType : logicalType;
    return `${stored}${unknown === '' ? '' : ` of an unknown type (${unknown})`}${later}`;
  }
  if (isUntyped) return `null${later}`;
  const [words, usual = USUALLY_STORED[kind] ?? 'binary'] = wordsOf?.(...values) ?? [kind.toLowerCase()];
  return `${words}${stored === usual ? '' : ` in ${stored}`}${later}`;
}

/** How the values of a column are ordered: as signed numbers, unsigned numbers or bytes, or text. Undefined: not known here. */
export type SortOrder = 'signed' | 'unsigned' | 'text' | undefined;

const TEXT_KINDS = ['STRING', 'ENUM', 'JSON'];
const UNSIGNED_KINDS = ['BSON', 'UUID'];
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

/** Returns whether all columns are ordered by their types. */
export function areTypeOrdered(columnOrders: Uint8Array | undefined): boolean {
  return columnOrders !== undefined && readColumnOrders(columnOrders).every((kind) => kind === TYPE_ORDER);
}

/** The column orders of so many leaves that are ordered by their types. */
export function typeOrders(count: number): Uint8Array {
  const writer = new ThriftWriter();
  writer.list(THRIFT.STRUCT, count, () => writer.struct(() => writer.field(TYPE_ORDER).struct(() => undefined)));
  return writer.take();
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
  // Decimals of any length would be compared as numbers.
  if (kind === 'DECIMAL' && type === 'FIXED_LEN_BYTE_ARRAY') return 'signed';
  if (isOfBytes && TEXT_KINDS.includes(kind)) return 'text';
  if (isOfBytes) return UNSIGNED_KINDS.includes(kind) ? 'unsigned' : undefined;
  if (kind === 'INTEGER') return isUnsigned ? 'unsigned' : 'signed';
  return SIGNED_KINDS.includes(kind) ? 'signed' : undefined;
}
