/**
 * Attributes, and values of any type as messages show them. Those of variable length lie in global heaps, which are
 * collections of numbered bytes.
 */
import { productOf } from './chunk-box.js';
import { type Datatype, FLOAT, INTEGER, readDatatype, SEQUENCE, STRING } from './datatype.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem, packFields, sharedTableProblem } from './hdf5-bytes.js';
import { type Message, SHARED, sharedType } from './object-header.js';
import { readAttribute } from './object-messages.js';

/** The attribute in which the library notes which datasets have a scale of a dimension: each of them says it, too. */
export const SCALE_USERS = 'REFERENCE_LIST';

export function openAttribute(file: Hdf5Bytes, { flags, body }: Message) {
  if ((flags & SHARED) !== 0) throw sharedTableProblem();
  const { name, isTypeShared, type, typeAt, shape, dataAt } = readAttribute(body);
  const datatype = readDatatype(new Cursor(isTypeShared ? sharedType(file, type) : type));
  const dataBytes = shape.isNull ? 0 : productOf(shape.lengths, datatype.byteLength);
  const data = new Cursor(body).skip(dataAt).take(dataBytes);
  return { name: new Cursor(name).text().toString(), isTypeShared, type, typeAt, shape, datatype, dataAt, data };
}

const MOST_SHOWN_BYTES = 80;

/** Returns one number or text as JSON; undefined if the bytes are something else, or a long text. */
export function shownValue(file: Hdf5Bytes, type: Datatype, bytes: Buffer): string | undefined {
  const { kind, bits, byteLength, pointers } = type;
  if (bytes.byteLength !== byteLength) return undefined;
  const [{ to } = {}] = pointers;
  const isText = kind === STRING || (kind === SEQUENCE && (bits & 15) === 1);
  if (isText) {
    const text = typeof to === 'object' ? (sequenceAt(file, to, bytes) ?? Buffer.alloc(0)) : bytes;
    return text.byteLength > MOST_SHOWN_BYTES ? undefined : JSON.stringify(text.toString().replace(/\0.*$/s, ''));
  }
  const bigEndian = (bits & 1) === 1 ? bytes : Buffer.from(bytes).reverse();
  if (kind === FLOAT && byteLength === 8) return String(bigEndian.readDoubleBE());
  if (kind === FLOAT && byteLength === 4) return String(Number(bigEndian.readFloatBE().toPrecision(7)));
  if (kind !== INTEGER) return undefined;
  const value = BigInt(`0x${bigEndian.toString('hex')}`);
  return String((bits & 8) === 0 ? value : BigInt.asIntN(8 * byteLength, value));
}

export function foreignReferenceProblem(where: string): Hdf5Problem {
  return new Hdf5Problem(
    `${where} refers to rows of a dataset, or to another file, and such references do not move with rows; remove it`,
    false,
  );
}

const LEAST_HEAP_BYTES = 4096;
const ENTRY_HEAD_BYTES = 16;

/**
 * Returns the elements that a value of variable length leads to; undefined if there are none.
 * @param value begins with their number and their place.
 */
export function sequenceAt(file: Hdf5Bytes, element: Datatype, value: Buffer): Buffer | undefined {
  const cursor = new Cursor(value);
  const [count, address, index] = [cursor.u32(), cursor.u64OrNone() ?? 0, cursor.u32()];
  if (count === 0 || address === 0) return undefined;
  return heapObject(file, address, index).subarray(0, count * element.byteLength);
}

function heapObject(file: Hdf5Bytes, address: number, index: number): Buffer {
  const byteLength = file.cached(address, 16).expect('GCOL').skip(4).u64();
  const cursor = file.cached(address, byteLength).skip(16);
  while (cursor.left >= ENTRY_HEAD_BYTES) {
    const number = cursor.u16();
    const bytes = cursor.skip(6).u64();
    if (number === 0) break;
    const entry = cursor.take(bytes);
    if (number === index) return entry;
    cursor.skip(Math.min(cursor.left, (8 - (bytes % 8)) % 8));
  }
  throw new Hdf5Problem(`the heap at byte ${address} has no entry ${index}`);
}

export function collectionOf(entries: readonly Buffer[]): Buffer {
  const pieces = entries.flatMap((bytes, i) => [
    packFields([i + 1, 2], [1, 2], [0, 4], [bytes.byteLength, 8], bytes),
    Buffer.alloc((8 - (bytes.byteLength % 8)) % 8),
  ]);
  const usedBytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, ENTRY_HEAD_BYTES);
  const byteLength = Math.max(LEAST_HEAP_BYTES, usedBytes);
  // The rest is free: an entry without a number.
  const free = byteLength - usedBytes < ENTRY_HEAD_BYTES ? [] : [packFields([0, 8], [byteLength - usedBytes, 8])];
  return Buffer.concat([packFields(Buffer.from('GCOL'), [1, 4], [byteLength, 8]), ...pieces, ...free], byteLength);
}
