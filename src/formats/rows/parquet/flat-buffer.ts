/**
 * FlatBuffers: values that are found by distances, little-endian.
 *
 *     table     i32 distance back to its vtable: u16 byte length, u16 byte length of the table, for each field u16 its place
 *               in the table, 0 if it has its default
 *     vector    u32 count, then numbers, or for each element u32 distance to it
 *     text      u32 byte length, bytes, NUL
 *
 * What is read may lie: places outside of the bytes are a RangeError, and so are more tables than the bytes can hold.
 */

const WIDTHS = { u8: 1, i16: 2, i32: 4, i64: 8 } as const;

type NumberKind = keyof typeof WIDTHS;

/** A table that is read. Fields are counted from 0. */
export class FlatTable {
  readonly #bytes: Buffer;
  readonly #at: number;
  readonly #left: { tables: number };

  private constructor(bytes: Buffer, at: number, left: { tables: number }) {
    this.#bytes = bytes;
    this.#at = at;
    this.#left = left;
    left.tables -= 1;
    if (left.tables < 0) throw new RangeError('tables lie in each other more often than the bytes allow');
  }

  /** @param start where the FlatBuffer begins. */
  static root(bytes: Buffer, start: number): FlatTable {
    return new FlatTable(bytes, start + bytes.readUInt32LE(start), { tables: bytes.byteLength });
  }

  number(field: number, kind: NumberKind): number | undefined {
    const place = this.#placeOf(field);
    if (place === 0) return undefined;
    return kind === 'i64' ? Number(this.#bytes.readBigInt64LE(place)) : this.#bytes.readIntLE(place, WIDTHS[kind]);
  }

  text(field: number): Buffer | undefined {
    const place = this.#follow(field);
    if (place === 0) return undefined;
    const end = place + 4 + this.#bytes.readUInt32LE(place);
    if (end > this.#bytes.byteLength) throw new RangeError('a text is cut off');
    return this.#bytes.subarray(place + 4, end);
  }

  table(field: number): FlatTable | undefined {
    const place = this.#follow(field);
    return place === 0 ? undefined : new FlatTable(this.#bytes, place, this.#left);
  }

  tables(field: number): readonly FlatTable[] {
    return this.#vector(
      field,
      (place) => new FlatTable(this.#bytes, place + this.#bytes.readUInt32LE(place), this.#left),
    );
  }

  numbers(field: number): readonly number[] {
    return this.#vector(field, (place) => this.#bytes.readInt32LE(place));
  }

  #vector<T>(field: number, read: (place: number) => T): readonly T[] {
    const place = this.#follow(field);
    const count = place === 0 ? 0 : this.#bytes.readUInt32LE(place);
    if (4 * count > this.#bytes.byteLength) throw new RangeError('a vector is cut off');
    return Array.from({ length: count }, (_, i) => read(place + 4 + 4 * i));
  }

  #placeOf(field: number): number {
    const vtable = this.#at - this.#bytes.readInt32LE(this.#at);
    const slot = 4 + 2 * field;
    const offset = slot < this.#bytes.readUInt16LE(vtable) ? this.#bytes.readUInt16LE(vtable + slot) : 0;
    return offset === 0 ? 0 : this.#at + offset;
  }

  #follow(field: number): number {
    const place = this.#placeOf(field);
    return place === 0 ? 0 : place + this.#bytes.readUInt32LE(place);
  }
}

/** A value to write. */
export interface FlatValue {
  /** The bytes of its place in a table. */
  readonly width: number;
  /** Writes it there, or after all others, and there the distance to it. */
  put(writer: FlatWriter, place: number): void;
}

export function number(kind: NumberKind, value: number | undefined): FlatValue | undefined {
  if (value === undefined) return undefined;
  return { width: WIDTHS[kind], put: (writer, place) => writer.putNumber(kind, value, place) };
}

export function text(value: Uint8Array | string): FlatValue {
  return reference((writer) => writer.text(Buffer.from(value)));
}

export function table(fields: readonly (FlatValue | undefined)[]): FlatValue {
  return reference((writer) => writer.table(fields));
}

export function tables(each: readonly FlatValue[]): FlatValue {
  return reference((writer) => writer.vector(each));
}

export function numbers(each: readonly number[]): FlatValue {
  return reference((writer) => writer.vector(each.map((value) => number('i32', value))));
}

/** @param write returns the place of what it wrote. */
function reference(write: (writer: FlatWriter) => number): FlatValue {
  return { width: 4, put: (writer, place) => writer.pointTo(place, write(writer)) };
}

/** @returns a FlatBuffer of a multiple of 8 bytes. */
export function encodeFlatBuffer(root: FlatValue): Buffer {
  const writer = new FlatWriter();
  root.put(writer, writer.take(8, 8));
  return writer.bytes();
}

/** Distances lead forward, so what a table refers to is written after it. */
class FlatWriter {
  #buffer = Buffer.alloc(1024);
  #end = 0;

  /** @returns the place of `byteLength` bytes of zeros, of which that of `shift` is aligned. */
  take(byteLength: number, alignment: number, shift = 0): number {
    const place = Math.ceil((this.#end + shift) / alignment) * alignment - shift;
    this.#end = place + byteLength;
    if (this.#end > this.#buffer.byteLength) {
      const larger = Buffer.alloc(2 * this.#end);
      this.#buffer.copy(larger);
      this.#buffer = larger;
    }
    return place;
  }

  bytes(): Buffer {
    this.take(0, 8);
    return this.#buffer.subarray(0, this.#end);
  }

  pointTo(place: number, target: number): void {
    this.#buffer.writeUInt32LE(target - place, place);
  }

  putNumber(kind: NumberKind, value: number, place: number): void {
    if (kind === 'i64') this.#buffer.writeBigInt64LE(BigInt(value), place);
    else this.#buffer.writeIntLE(value, place, WIDTHS[kind]);
  }

  text(value: Buffer): number {
    const place = this.take(4 + value.byteLength + 1, 4);
    this.#buffer.writeUInt32LE(value.byteLength, place);
    value.copy(this.#buffer, place + 4);
    return place;
  }

  /** @param elements 4 bytes each. */
  vector(elements: readonly (FlatValue | undefined)[]): number {
    const { length } = elements;
    const place = this.take(4 + 4 * length, 4);
    this.#buffer.writeUInt32LE(length, place);
    for (const [i, element] of elements.entries()) element?.put(this, place + 4 + 4 * i);
    return place;
  }

  table(fields: readonly (FlatValue | undefined)[]): number {
    let byteLength = 4;
    const places = fields.map((field) => {
      if (field === undefined) return 0;
      const { width } = field;
      const place = Math.ceil(byteLength / width) * width;
      byteLength = place + width;
      return place;
    });
    const vtableBytes = 4 + 2 * fields.length;
    const vtable = this.take(vtableBytes + byteLength, 8, vtableBytes);
    const table = vtable + vtableBytes;
    for (const [i, number] of [vtableBytes, byteLength, ...places].entries())
      this.#buffer.writeUInt16LE(number, vtable + 2 * i);
    this.#buffer.writeInt32LE(vtableBytes, table);
    for (const [i, field] of fields.entries()) field?.put(this, table + (places[i] ?? 0));
    return table;
  }
}
