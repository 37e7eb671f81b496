/** In which order the least and the greatest value of a column are found. Where that is not sure, they are not written. */
import { sortOrdersOf } from './annotation.js';
import type { TableSchema } from './schema.js';

/** The numbers are those of workers/columns/assembly/encode-bounds.ts. */
export const VALUE_ORDERS = { none: 0, signed: 1, unsigned: 2, floating: 3, bytes: 4 } as const;

export type ValueOrder = keyof typeof VALUE_ORDERS;

/** Of each leaf. */
export function valueOrdersOf(schema: TableSchema): ValueOrder[] {
  const orders = sortOrdersOf(schema);
  return schema.leaves.map(({ type }, i): ValueOrder => {
    const order = orders[i];
    if (order === undefined) return 'none';
    if (type === 'FLOAT' || type === 'DOUBLE') return 'floating';
    return type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY' ? 'bytes' : order;
  });
}

/** Of bounds, which have no NaN. */
export function isBefore(order: ValueOrder, a: Uint8Array, b: Uint8Array): boolean {
  if (order === 'bytes') return Buffer.compare(a, b) < 0;
  return numberOf(order, a) < numberOf(order, b);
}

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
