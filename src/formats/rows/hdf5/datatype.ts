/** The type of the elements of a dataset or an attribute, as its message describes it. */
import { productOf } from './chunk-box.js';
import { bytesFor, type Cursor, Hdf5Problem } from './hdf5-bytes.js';

/** A part of an element that says where its data lie, instead of being data. */
export interface Pointer {
  readonly offset: number;
  /** A sequence of elements in a heap; the address of an object; or what cannot be copied. */
  readonly to: Datatype | 'object' | 'other';
}

export interface Datatype {
  /** Its class, and what its message says of all classes in one way: three bytes. */
  readonly kind: number;
  readonly bits: number;
  readonly byteLength: number;
  /** All that decides how bytes are understood, whatever the version of the message: equal texts, equal types. */
  readonly text: string;
  readonly pointers: readonly Pointer[];
}

export const [INTEGER, FLOAT, STRING] = [0, 1, 3];
const [OPAQUE, COMPOUND, REFERENCE, ENUM] = [5, 6, 7, 8];
export const SEQUENCE = 9;
const ARRAY = 10;
/** The bytes of properties of the first classes: integers, floats, times, strings and bits. */
const PROPERTY_BYTES: readonly number[] = [4, 12, 2, 0, 4];
const MOST_DEPTH = 32;
const MOST_POINTERS = 65_536;

export function readDatatype(cursor: Cursor, depth = 0): Datatype {
  if (depth > MOST_DEPTH) throw new Hdf5Problem('a type has no end');
  const first = cursor.u8();
  const [version, kind] = [first >> 4, first & 15];
  const bits = cursor.uint(3);
  const byteLength = cursor.u32();
  const of = (properties: string, pointers: readonly Pointer[] = []): Datatype => {
    return { kind, bits, byteLength, text: `${kind}.${bits.toString(16)}.${byteLength}(${properties})`, pointers };
  };
  const base = () => readDatatype(cursor, depth + 1);
  const plain = PROPERTY_BYTES[kind];
  if (plain !== undefined) return of(cursor.take(plain).toString('hex'));
  const count = bits & 0xffff;
  switch (kind) {
    case OPAQUE:
      return of(
        cursor
          .take(bits & 0xff)
          .toString('latin1')
          .replace(/\0+$/, ''),
      );
    case REFERENCE:
      return of('', [{ offset: 0, to: (bits & 15) === 0 && byteLength === 8 ? 'object' : 'other' }]);
    case SEQUENCE: {
      const element = base();
      return of(element.text, [{ offset: 0, to: element }]);
    }
    case ENUM: {
      const element = base();
      const names = Array.from({ length: count }, () => cursor.text(version < 3 ? 8 : 1).toString('hex'));
      return of(`${element.text} ${names} ${cursor.take(count * element.byteLength).toString('hex')}`);
    }
    case ARRAY: {
      const rank = cursor.u8();
      if (version < 3) cursor.skip(3);
      const shape = Array.from({ length: rank }, () => cursor.u32());
      if (version < 3) cursor.skip(4 * rank);
      const element = base();
      return of(`${shape} ${element.text}`, repeated(element, byteLength));
    }
    case COMPOUND: {
      const members = Array.from({ length: count }, () => readMember(cursor, version, byteLength, depth));
      const pointers = members.flatMap(({ offset, type }) => shifted(type.pointers, offset));
      return of(members.map(({ name, offset, type }) => `${name}@${offset} ${type.text}`).join(', '), pointers);
    }
    default:
      throw new Hdf5Problem(`it has a type of class ${kind}, which pileshuf does not know`, false);
  }
}

function readMember(cursor: Cursor, version: number, byteLength: number, depth: number) {
  const name = cursor.text(version < 3 ? 8 : 1).toString('hex');
  const offset = version < 3 ? cursor.u32() : cursor.uint(bytesFor(byteLength));
  if (version > 1) return { name, offset, type: readDatatype(cursor, depth + 1) };
  // Version 1 has arrays here, of up to 4 dimensions.
  const rank = cursor.u8();
  cursor.skip(11);
  const shape = [cursor.u32(), cursor.u32(), cursor.u32(), cursor.u32()].slice(0, rank);
  const type = readDatatype(cursor, depth + 1);
  const allBytes = productOf(shape, type.byteLength);
  const array = {
    kind: ARRAY,
    bits: 0,
    byteLength: allBytes,
    text: `[${shape}] ${type.text}`,
    pointers: repeated(type, allBytes),
  };
  return { name, offset, type: rank === 0 ? type : array };
}

function repeated({ pointers, byteLength }: Datatype, allBytes: number): readonly Pointer[] {
  if (pointers.length === 0) return [];
  if (allBytes / byteLength > MOST_POINTERS) throw new Hdf5Problem('a type has too many parts', false);
  return Array.from({ length: Math.floor(allBytes / byteLength) }, (_, i) => shifted(pointers, i * byteLength)).flat();
}

function shifted(pointers: readonly Pointer[], by: number): readonly Pointer[] {
  return pointers.map(({ offset, to }) => ({ offset: offset + by, to }));
}
