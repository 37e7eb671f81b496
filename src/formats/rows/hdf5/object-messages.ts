/** Reads what messages of object headers say. */
import { Cursor, Hdf5Problem, packFields, sharedTableProblem } from './hdf5-bytes.js';

export interface Shape {
  readonly lengths: readonly number[];
  /** Null: without a limit. */
  readonly mostLengths: readonly (number | null)[];
  readonly isNull: boolean;
}

export function readShape(body: Uint8Array): Shape {
  const cursor = new Cursor(body);
  const [version, rank, flags, kind] = [cursor.u8(), cursor.u8(), cursor.u8(), cursor.u8()];
  const hasMost = (flags & 1) !== 0;
  if (version === 1) cursor.skip(4);
  const lengths = Array.from({ length: rank }, () => cursor.u64());
  const mostLengths = hasMost ? Array.from({ length: rank }, () => cursor.u64OrNone() ?? null) : lengths;
  if (lengths.some((length, i) => length > (mostLengths[i] ?? length)))
    throw new Hdf5Problem(`a shape has lengths (${lengths}), and at most (${mostLengths})`);
  return { lengths, mostLengths, isNull: version > 1 && kind === 2 };
}

/** Plain data. */
export interface Filter {
  readonly id: number;
  readonly name: string;
  readonly values: readonly number[];
}

export function readFilters(body: Uint8Array | undefined): readonly Filter[] {
  if (body === undefined) return [];
  const cursor = new Cursor(body);
  const isOld = cursor.u8() === 1;
  const count = cursor.u8();
  if (isOld) cursor.skip(6);
  return Array.from({ length: count }, () => {
    const id = cursor.u16();
    const nameBytes = isOld || id >= 256 ? cursor.u16() : 0;
    const valueCount = cursor.skip(2).u16();
    const name = cursor.take(isOld ? Math.ceil(nameBytes / 8) * 8 : nameBytes);
    const values = Array.from({ length: valueCount }, () => cursor.u32());
    if (isOld && valueCount % 2 === 1) cursor.skip(4);
    return { id, name: name.toString('latin1').replace(/\0.*$/s, ''), values };
  });
}

/** The place of the bytes of a dataset. */
export type Layout =
  | { readonly kind: 'compact'; readonly bytes: Buffer }
  /** The bytes lie in one piece. Undefined address: nothing was ever written. */
  | { readonly kind: 'contiguous'; readonly address: number | undefined }
  | ChunkLayout;

export interface ChunkLayout {
  readonly kind: 'chunks';
  /** The elements of a chunk in each dimension. */
  readonly lengths: readonly number[];
  readonly index: 'tree' | 'single' | 'implicit' | 'fixed' | 'extensible' | 'tree2';
  /** The address of the index, or of the only chunk. */
  readonly address: number | undefined;
  /** The size of the only chunk, if it went through filters. */
  readonly single?: { readonly byteLength: number; readonly mask: number } | undefined;
  /** True if chunks that reach over the end of the dataset go through no filter. */
  readonly plainEdges: boolean;
}

const INDEXES = [undefined, 'single', 'implicit', 'fixed', 'extensible', 'tree2'] as const;
const INDEX_BYTES = { single: 0, implicit: 0, fixed: 1, extensible: 5, tree2: 6 } as const;

/** The second byte of a layout whose data are those of other datasets. */
export const VIRTUAL = 3;

export function readLayout(body: Uint8Array): Layout {
  const cursor = new Cursor(body);
  const [version, kind] = [cursor.u8(), cursor.u8()];
  if (version < 3 || version > 5)
    throw new Hdf5Problem(`the layout of a dataset has version ${version}; write it again with h5repack`, false);
  if (kind === 0) return { kind: 'compact', bytes: cursor.take(cursor.u16()) };
  if (kind === 1) return { kind: 'contiguous', address: cursor.u64OrNone() };
  if (kind !== 2)
    throw new Hdf5Problem(`the layout of a dataset has the kind ${kind}, which pileshuf does not know`, false);
  if (version === 3) {
    const rank = cursor.u8() - 1;
    const address = cursor.u64OrNone();
    const lengths = Array.from({ length: rank }, () => cursor.u32());
    return { kind: 'chunks', lengths, index: 'tree', address, plainEdges: false };
  }
  const flags = cursor.u8();
  const rank = cursor.u8() - 1;
  const lengthBytes = cursor.u8();
  const lengths = Array.from({ length: rank }, () => cursor.uint(lengthBytes));
  const index = INDEXES[cursor.skip(lengthBytes).u8()];
  if (index === undefined) throw new Hdf5Problem('a dataset has an index of chunks of an unknown kind', false);
  const single = index === 'single' && (flags & 2) !== 0 ? { byteLength: cursor.u64(), mask: cursor.u32() } : undefined;
  const address = cursor.skip(INDEX_BYTES[index]).u64OrNone();
  return { kind: 'chunks', lengths, index, address, single, plainEdges: (flags & 1) !== 0 };
}

/** The value of elements that were never written; undefined: zeros. */
export function readFill(fill: Uint8Array | undefined, oldFill: Uint8Array | undefined): Buffer | undefined {
  const cursor = new Cursor(fill ?? oldFill ?? new Uint8Array(4));
  if (fill !== undefined) {
    const version = cursor.u8();
    const isDefined = version < 3 ? cursor.skip(2).u8() !== 0 || version === 1 : (cursor.u8() & 0x20) !== 0;
    if (!isDefined) return undefined;
  }
  const byteLength = cursor.u32();
  return byteLength === 0 || byteLength > cursor.left ? undefined : cursor.take(byteLength);
}

export interface Attribute {
  readonly name: Buffer;
  /** Another object has the type: this is a shared message. */
  readonly isTypeShared: boolean;
  readonly type: Buffer;
  readonly shape: Shape;
  /** The place in the message where its type begins, and its data. */
  readonly typeAt: number;
  readonly dataAt: number;
}

export function readAttribute(body: Uint8Array): Attribute {
  const cursor = new Cursor(body);
  const [version, flags] = [cursor.u8(), cursor.u8()];
  const [nameBytes, typeBytes, shapeBytes] = [cursor.u16(), cursor.u16(), cursor.u16()];
  if (version === 3) cursor.skip(1);
  const field = (byteLength: number) => {
    const bytes = cursor.take(byteLength);
    if (version === 1) cursor.skip((8 - (byteLength % 8)) % 8);
    return bytes;
  };
  const name = field(nameBytes);
  const typeAt = cursor.at;
  const type = field(typeBytes);
  if (version > 1 && (flags & 2) !== 0) throw sharedTableProblem();
  const shape = readShape(field(shapeBytes));
  return { name, isTypeShared: version > 1 && (flags & 1) !== 0, type, shape, typeAt, dataAt: cursor.at };
}

export interface Link {
  readonly name: Buffer;
  /** Address of an object in the same file; undefined if the link names something. */
  readonly address: number | undefined;
  /** The path that it names in the same file; undefined: it has an address, or leads to another file. */
  readonly softPath: Buffer | undefined;
  /** The message, of which an address is the last 8 bytes. */
  readonly body: Buffer;
  readonly order: number;
}

export function readLink(body: Buffer): Link {
  const cursor = new Cursor(body);
  const flags = cursor.skip(1).u8();
  const kind = (flags & 8) === 0 ? 0 : cursor.u8();
  const order = (flags & 4) === 0 ? 0 : cursor.u64();
  if ((flags & 0x10) !== 0) cursor.skip(1);
  const name = cursor.take(cursor.uint(1 << (flags & 3)));
  const address = kind === 0 ? cursor.u64() : undefined;
  const named = address === undefined ? cursor.take(cursor.u16()) : undefined;
  return { name, address, softPath: kind === 1 ? named : undefined, order, body: body.subarray(0, cursor.at) };
}

/** Makes the link of an entry of a symbol table, as groups of old files have it. @param softPath undefined: it leads to the object at the address. */
export function symbolTableLink(name: Buffer, address: number, softPath: Buffer | undefined): Link {
  const { byteLength } = name;
  const isHard = softPath === undefined;
  const body = isHard
    ? packFields([1, 1], [1, 1], [byteLength, 2], name, [address, 8])
    : packFields([1, 1], [9, 1], [1, 1], [byteLength, 2], name, [softPath.byteLength, 2], softPath);
  return { name, address: isHard ? address : undefined, softPath, body, order: 0 };
}
