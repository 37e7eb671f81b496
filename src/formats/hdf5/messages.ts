/** What messages of object headers say. */
import { Cursor, Hdf5Problem } from './hdf5-bytes.js';

export interface Shape {
  readonly lengths: readonly number[];
  /** Null: without a limit. */
  readonly mostLengths: readonly (number | null)[];
  readonly isNull: boolean;
}

export function readShape(body: Uint8Array): Shape {
  const cursor = new Cursor(body);
  const version = cursor.u8();
  const rank = cursor.u8();
  const hasMost = (cursor.u8() & 1) !== 0;
  const kind = cursor.u8();
  if (version === 1) cursor.skip(4);
  const lengths = Array.from({ length: rank }, () => cursor.u64());
  const mostLengths = hasMost ? Array.from({ length: rank }, () => cursor.u64OrNone() ?? null) : lengths;
  return { lengths, mostLengths, isNull: version > 1 && kind === 2 };
}

/** Of version 2, which libraries since 1.8 read. */
export function encodeShape({ lengths, mostLengths }: Omit<Shape, 'isNull'>): Buffer {
  const body = Buffer.alloc(4 + 16 * lengths.length);
  body.set([2, lengths.length, 1, 1]);
  for (const [i, length] of lengths.entries()) {
    const most = mostLengths[i] ?? null;
    body.writeBigUInt64LE(BigInt(length), 4 + 8 * i);
    body.writeBigUInt64LE(most === null ? 2n ** 64n - 1n : BigInt(most), 4 + 8 * (lengths.length + i));
  }
  return body;
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

/** Where the bytes of a dataset lie. */
export type Layout =
  | { readonly kind: 'compact'; readonly bytes: Buffer }
  /** Undefined: nothing was ever written. */
  | { readonly kind: 'contiguous'; readonly address: number | undefined }
  | ChunkLayout;

export interface ChunkLayout {
  readonly kind: 'chunks';
  /** The elements of a chunk in each dimension. */
  readonly lengths: readonly number[];
  readonly index: 'tree' | 'single' | 'implicit' | 'fixed' | 'extensible' | 'tree2';
  /** Of the index, or of the only chunk. */
  readonly address: number | undefined;
  /** Of the only chunk, if it went through filters. */
  readonly single?: { readonly byteLength: number; readonly mask: number } | undefined;
  /** Whether chunks that reach over the end of the dataset go through no filter. */
  readonly plainEdges: boolean;
}

const INDEXES = [undefined, 'single', 'implicit', 'fixed', 'extensible', 'tree2'] as const;
const INDEX_BYTES = { single: 0, implicit: 0, fixed: 1, extensible: 5, tree2: 6 } as const;

export function readLayout(body: Uint8Array): Layout {
  const cursor = new Cursor(body);
  const version = cursor.u8();
  const kind = cursor.u8();
  if (version < 3 || version > 4)
    throw new Hdf5Problem(`the layout of a dataset has version ${version}; write it again with h5repack`, false);
  if (kind === 0) return { kind: 'compact', bytes: cursor.take(cursor.u16()) };
  if (kind === 1) return { kind: 'contiguous', address: cursor.u64OrNone() };
  if (kind !== 2) throw new Hdf5Problem('a virtual dataset has its data in other files; write them into one', false);
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
  if (fill === undefined) return oldFill && sizedValue(new Cursor(oldFill));
  const cursor = new Cursor(fill);
  const version = cursor.u8();
  if (version < 3) {
    const isDefined = cursor.skip(2).u8() !== 0;
    return version === 1 || isDefined ? sizedValue(cursor) : undefined;
  }
  return (cursor.u8() & 0x20) === 0 ? undefined : sizedValue(cursor);
}

function sizedValue(cursor: Cursor): Buffer | undefined {
  const byteLength = cursor.u32();
  return byteLength === 0 || byteLength > cursor.left ? undefined : cursor.take(byteLength);
}

export interface Attribute {
  readonly name: Buffer;
  /** 1: UTF-8. */
  readonly charset: number;
  readonly isTypeShared: boolean;
  readonly type: Buffer;
  readonly shape: Buffer;
  readonly data: Buffer;
}

export function readAttribute(body: Uint8Array): Attribute {
  const cursor = new Cursor(body);
  const version = cursor.u8();
  const flags = cursor.u8();
  const sizes = [cursor.u16(), cursor.u16(), cursor.u16()];
  const charset = version < 3 ? 0 : cursor.u8();
  const [name, type, shape] = sizes.map((size) => {
    const field = cursor.take(size);
    if (version === 1) cursor.skip((8 - (size % 8)) % 8);
    return field;
  });
  if (name === undefined || type === undefined || shape === undefined) throw new RangeError('an attribute has 3 parts');
  const isTypeShared = version > 1 && (flags & 1) !== 0;
  return { name, charset, isTypeShared, type, shape, data: cursor.take(cursor.left) };
}

/** Of version 3, with its type. @returns the message without its data, which follow. */
export function encodeAttribute({ name, charset, type, shape }: Omit<Attribute, 'data' | 'isTypeShared'>): Buffer {
  const head = Buffer.alloc(9);
  head.set([3, 0]);
  for (const [i, { byteLength }] of [name, type, shape].entries()) head.writeUInt16LE(byteLength, 2 + 2 * i);
  head[8] = charset;
  return Buffer.concat([head, name, type, shape]);
}

export interface Link {
  readonly name: Buffer;
  /** Of an object in the same file; undefined: the link names a path. */
  readonly address: number | undefined;
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
  if (kind !== 0) cursor.skip(cursor.u16());
  return { name, address, order, body: body.subarray(0, cursor.at) };
}

/** As groups of old files have them. @param softPath undefined: it leads to the object at the address. */
export function oldLink(name: Buffer, address: number, softPath: Buffer | undefined): Link {
  const isSoft = softPath !== undefined;
  const head = Buffer.alloc(isSoft ? 5 : 4);
  head.set(isSoft ? [1, 0x09, 1] : [1, 0x01]);
  head.writeUInt16LE(name.byteLength, head.byteLength - 2);
  const tail = Buffer.alloc(isSoft ? 2 : 8);
  if (isSoft) tail.writeUInt16LE(softPath.byteLength);
  else tail.writeBigUInt64LE(BigInt(address));
  const body = Buffer.concat([head, name, tail, softPath ?? Buffer.alloc(0)]);
  return { name, address: isSoft ? undefined : address, body, order: 0 };
}
