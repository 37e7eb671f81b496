/**
 * Says in which order the least and the greatest value of a column are found. Where that is not sure, they are not
 * written.
 */
import { sortOrdersOf } from './annotation.js';
import type { TableSchema } from './schema.js';

/** The numbers are those of src/formats/rows/parquet/columns/assembly/encode-bounds.ts. */
export const VALUE_ORDERS = {
  none: 0,
  signed: 1,
  unsigned: 2,
  floating: 3,
  bytes: 4,
  text: 4,
  signedBytes: 5,
} as const;

export type ValueOrder = keyof typeof VALUE_ORDERS;

/** Returns the order of each leaf. */
export function valueOrdersOf(schema: TableSchema): ValueOrder[] {
  const orders = sortOrdersOf(schema);
  return schema.leaves.map(({ type }, i): ValueOrder => {
    const order = orders[i];
    if (order === undefined) return 'none';
    if (type === 'FLOAT' || type === 'DOUBLE') return 'floating';
    if (order === 'text' || (type !== 'BYTE_ARRAY' && type !== 'FIXED_LEN_BYTE_ARRAY')) return order;
    return order === 'signed' ? 'signedBytes' : 'bytes';
  });
}

/** Compares bounds, which have no NaN. */
export function isBefore(order: ValueOrder, a: Uint8Array, b: Uint8Array): boolean {
  if (order === 'bytes' || order === 'text') return Buffer.compare(a, b) < 0;
  if (order !== 'signedBytes') return numberOf(order, a) < numberOf(order, b);
  const [isNegative, isOtherNegative] = [a, b].map(([first = 0]) => first >= 0x80);
  return isNegative === isOtherNegative ? Buffer.compare(a, b) < 0 : isNegative === true;
}

/**
 * Returns a short bound that no value which begins with `bytes` lies outside; undefined: there is none. A bound is a value, so
 * that of a text is a text.
 */
export function shortBound(order: ValueOrder, bytes: Uint8Array, isLeast: boolean): Uint8Array | undefined {
  if (order === 'text') return shortText(bytes, isLeast);
  if (isLeast) return bytes;
  const last = bytes.findLastIndex((byte) => byte < 0xff);
  return last === -1 ? undefined : Uint8Array.from([...bytes.subarray(0, last), (bytes[last] ?? 0) + 1]);
}

function shortText(bytes: Uint8Array, isLeast: boolean): Uint8Array | undefined {
  let characters: string[];
  try {
    // In a stream, a character that is cut off is not an error.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    characters = [...decoder.decode(bytes, { stream: true })];
  } catch {
    return undefined;
  }
  if (isLeast) return Buffer.from(characters.join(''));
  const last = characters.findLastIndex((each) => each !== LAST_CHARACTER);
  const code = characters[last]?.codePointAt(0);
  if (code === undefined) return undefined;
  const next = code + 1 === FIRST_SURROGATE ? AFTER_SURROGATES : code + 1;
  return Buffer.from(characters.slice(0, last).join('') + String.fromCodePoint(next));
}

const LAST_CHARACTER = '\u{10ffff}';
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

function numberOf(order: ValueOrder, bytes: Uint8Array): number | bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength === 1) return view.getUint8(0);
  const isShort = bytes.byteLength === 4;
  if (order === 'floating') return isShort ? view.getFloat32(0, true) : view.getFloat64(0, true);
  if (order === 'signed') return isShort ? view.getInt32(0, true) : view.getBigInt64(0, true);
  return isShort ? view.getUint32(0, true) : view.getBigUint64(0, true);
}

/** The least of two zeros is -0, the greatest +0: others may take them for equal. */
export function withSignOfZero(bytes: Uint8Array, isLeast: boolean): Uint8Array {
  if (numberOf('floating', bytes) !== 0) return bytes;
  const zero = new Uint8Array(bytes.byteLength);
  if (isLeast) zero[zero.byteLength - 1] = 0x80;
  return zero;
}
