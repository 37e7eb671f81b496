/** Attributes, and values of any type as messages show them. */
import { productOf } from './chunk-box.js';
import { type Datatype, FLOAT, INTEGER, readDatatype, SEQUENCE, STRING } from './datatype.js';
import { sequenceAt } from './global-heap.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem, sharedTable } from './hdf5-bytes.js';
import { type Message, SHARED, sharedType } from './object-header.js';
import { readAttribute } from './object-messages.js';

/** The attribute in which the library notes which datasets have a scale of a dimension: each of them says it, too. */
export const SCALE_USERS = 'REFERENCE_LIST';

export function openAttribute(file: Hdf5Bytes, { flags, body }: Message) {
  if ((flags & SHARED) !== 0) throw sharedTable();
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

export function refersElsewhere(where: string): Hdf5Problem {
  return new Hdf5Problem(
    `${where} refers to rows of a dataset, or to another file, and such references do not move with rows; remove it`,
    false,
  );
}
