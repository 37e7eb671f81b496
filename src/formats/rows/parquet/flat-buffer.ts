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
export type FlatValue =
  | { readonly kind: NumberKind; readonly value: number }
  | { readonly kind: 'text'; readonly text: Uint8Array | string }
  | { readonly kind: 'table'; readonly fields: readonly (FlatValue | undefined)[] }
  | { readonly kind: 'tables'; readonly tables: readonly FlatValue[] }
  | { readonly kind: 'numbers'; readonly numbers: readonly number[] };

/** @returns a FlatBuffer of a multiple of 8 bytes. */
export function encodeFlatBuffer(root: FlatValue): Buffer {
  const writer = new FlatWriter();
  writer.pointTo(writer.take(8, 8), root);
  return writer.bytes();
}

/** Distances lead forward, so what a table refers to is written behind it. */
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

  /** Writes a value behind all others, and at `place` the distance to it. */
  pointTo(place: number, value: FlatValue): void {
    const target = this.#write(value);
    this.#buffer.writeUInt32LE(target - place, place);
  }

  #write(value: FlatValue): number {
    if (value.kind === 'table') return this.#writeTable(value.fields);
    if (value.kind === 'text') {
      const text = Buffer.from(value.text);
      const place = this.take(4 + text.byteLength + 1, 4);
      this.#buffer.writeUInt32LE(text.byteLength, place);
      text.copy(this.#buffer, place + 4);
      return place;
    }
    if (value.kind !== 'tables' && value.kind !== 'numbers') throw new RangeError('a number lies in its table');
    const { length } = value.kind === 'tables' ? value.tables : value.numbers;
    const place = this.take(4 + 4 * length, 4);
    this.#buffer.writeUInt32LE(length, place);
    if (value.kind === 'tables')
      for (const [i, table] of value.tables.entries()) this.pointTo(place + 4 + 4 * i, table);
    else for (const [i, number] of value.numbers.entries()) this.#buffer.writeInt32LE(number, place + 4 + 4 * i);
    return place;
  }

  #writeTable(fields: readonly (FlatValue | undefined)[]): number {
    let byteLength = 4;
    const places = fields.map((field) => {
      if (field === undefined) return 0;
      const width = widthOf(field);
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
    for (const [i, field] of fields.entries()) {
      if (field === undefined) continue;
      const place = table + (places[i] ?? 0);
      if (!('value' in field)) this.pointTo(place, field);
      else if (field.kind === 'i64') this.#buffer.writeBigInt64LE(BigInt(field.value), place);
      else this.#buffer.writeIntLE(field.value, place, WIDTHS[field.kind]);
    }
    return table;
  }
}

function widthOf(field: FlatValue): number {
  return 'value' in field ? WIDTHS[field.kind] : 4;
}
