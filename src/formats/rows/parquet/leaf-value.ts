/** Finds the value of a leaf in a row, as leaf.ts lays it out: no other leaf is read, only passed over. */
import { type Annotation, annotationOfLeaf } from './annotation.js';
import { type Leaf, nameOfLeaf, valueBytesOf } from './leaf.js';
import type { TableSchema } from './schema.js';

const ALL_DEFINED = 2 ** 31;

/** A value, as some of the bytes of its row. */
export interface LeafValue {
  readonly from: number;
  readonly to: number;
}

/**
 * @param leaves the first leaves of the row, up to the one that is sought: it is not repeated.
 * @returns undefined: the value is null.
 */
export function findLeafValue(memory: Buffer, start: number, leaves: readonly Leaf[]): LeafValue | undefined {
  let at = start;
  for (const [i, leaf] of leaves.entries()) {
    if (i < leaves.length - 1) {
      at = endOfLeaf(memory, at, leaf);
      continue;
    }
    if (leaf.maxDefinition > 0 && memory[at++] !== leaf.maxDefinition) return undefined;
    const valueBytes = valueBytesOf(leaf);
    return valueBytes > 0 ? { from: at, to: at + valueBytes } : { from: at + 4, to: at + 4 + memory.readUInt32LE(at) };
  }
  return undefined;
}

function endOfLeaf(memory: Buffer, start: number, leaf: Leaf): number {
  const { maxDefinition, maxRepetition } = leaf;
  let at = start;
  let values = 1;
  if (maxRepetition > 0) {
    const head = memory.readUInt32LE(at);
    const entries = head % ALL_DEFINED;
    at += 4 + (maxRepetition > 1 ? entries : 0);
    values = entries;
    if (head < ALL_DEFINED) {
      values = 0;
      for (const end = at + entries; at < end; at++) if (memory[at] === maxDefinition) values += 1;
    }
  } else if (maxDefinition > 0) values = memory[at++] === maxDefinition ? 1 : 0;
  const valueBytes = valueBytesOf(leaf);
  if (valueBytes > 0) return at + values * valueBytes;
  for (; values > 0; values--) at += 4 + memory.readUInt32LE(at);
  return at;
}

/** What JSON lines would have in place of the values of a leaf: strings, or whole numbers. */
export type ValueKind = 'text' | 'signed' | 'unsigned';

/** A leaf whose values are sought in rows. Plain data. */
export interface SoughtLeaf {
  /** The first leaves of a row; it is the last of them, and not repeated. */
  readonly leaves: readonly Leaf[];
  readonly kind: ValueKind;
}

/** The characters of a string as Latin-1, or a whole number in decimal. */
export function textOfValue(memory: Buffer, { from, to }: LeafValue, kind: ValueKind): string {
  if (kind === 'text') return memory.toString('latin1', from, to);
  const isLong = to - from === 8;
  if (kind === 'signed') return String(isLong ? memory.readBigInt64LE(from) : memory.readInt32LE(from));
  return String(isLong ? memory.readBigUInt64LE(from) : memory.readUInt32LE(from));
}

const TEXTS = ['STRING', 'ENUM', 'JSON'];

/** @returns undefined: other values, as dates and decimal numbers are. */
function valueKindOf({ type }: Leaf, annotation: Annotation): ValueKind | undefined {
  const { kind, isUnsigned, logicalType, convertedType } = annotation;
  const isPlain = logicalType === '' && convertedType === '';
  if (type === 'BYTE_ARRAY') return isPlain || TEXTS.includes(kind ?? '') ? 'text' : undefined;
  if (type !== 'INT32' && type !== 'INT64') return undefined;
  if (!isPlain && kind !== 'INTEGER') return undefined;
  return isUnsigned ? 'unsigned' : 'signed';
}

/** @returns a problem if it has no values that tell records apart. */
export function seekText(schema: TableSchema, index: number): SoughtLeaf | string {
  return seek(schema, index, ['text', 'signed', 'unsigned'], 'strings or whole numbers');
}

/** @returns a problem if it has no values that can be added up. */
export function seekNumber(schema: TableSchema, index: number): SoughtLeaf | string {
  return seek(schema, index, ['signed', 'unsigned'], 'whole numbers');
}

function seek(schema: TableSchema, index: number, kinds: readonly ValueKind[], expected: string): SoughtLeaf | string {
  const leaves = schema.leaves.slice(0, index + 1);
  const leaf = leaves[index];
  if (leaf === undefined) throw new RangeError(`there is no leaf ${index}`);
  const name = nameOfLeaf(leaf);
  if (leaf.maxRepetition > 0) return `column ${name} may have several values in a row; expected one that has one`;
  const annotation = annotationOfLeaf(schema, index);
  const kind = valueKindOf(leaf, annotation);
  if (kind !== undefined && kinds.includes(kind)) return { leaves, kind };
  const type = annotation.kind === undefined ? leaf.type : `${leaf.type} (${annotation.kind})`;
  return `column ${name} has values of type ${type}; expected ${expected}`;
}
