/**
 * Thrift's compact protocol, in which Parquet's metadata is written. What is read may lie: every length and count is
 * compared with the bytes that are left before anything is done with it, so reading takes no more time and memory than
 * the bytes justify, and nesting has a limit.
 */

export const THRIFT = {
  TRUE: 1,
  FALSE: 2,
  I8: 3,
  I16: 4,
  I32: 5,
  I64: 6,
  DOUBLE: 7,
  BINARY: 8,
  LIST: 9,
  SET: 10,
  MAP: 11,
  STRUCT: 12,
  UUID: 13,
} as const;

export type ThriftType = (typeof THRIFT)[keyof typeof THRIFT];

const TYPE_NAMES = 'nothing bool bool i8 i16 i32 i64 double binary list set map struct uuid'.split(' ');

/** The bytes of values in lists, by type; 0: they say it themselves. */
const FIXED_BYTES = [0, 1, 1, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 16];

/** Parquet's own structures nest about ten times. */
const MOST_DEPTH = 64;
/** The largest number of which zigzag codes are exact. No file is that long. */
const MOST_INTEGER = 2 ** 52;
const MOST_VARINT_BYTES = 10;

/** The bytes are not Thrift, or not what Parquet expects there. The message says what is wrong, without a place. */
export class ThriftError extends Error {
  /** The bytes may only be too few. */
  readonly isCutOff: boolean;

  constructor(message: string, isCutOff = false) {
    super(message);
    this.isCutOff = isCutOff;
  }
}

/**
 * Stands before a value, at first before the struct that all the bytes are. A value that a callback of `struct` or `list`
 * does not read is skipped.
 */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  #at: number;
  #depth = 0;
  /** The type of the value before which the reader stands; 0: it was read. */
  #type: number;

  constructor(bytes: Uint8Array, at = 0, type: ThriftType = THRIFT.STRUCT) {
    this.#bytes = bytes;
    this.#at = at;
    this.#type = type;
  }

  /** The place of the next byte. */
  get position(): number {
    return this.#at;
  }

  /** @param read gets the number of each field. */
  struct(read: (field: number) => void): void {
    this.#take(THRIFT.STRUCT);
    this.#goDown();
    let field = 0;
    for (;;) {
      const header = this.#byte();
      if (header === 0) break;
      const delta = header >>> 4;
      field = delta === 0 ? this.#zigzag() : field + delta;
      this.#type = header & 0x0f;
      read(field);
      if (this.#type !== 0) this.skip();
    }
    this.#depth -= 1;
    this.#type = 0;
  }

  /** @returns the number of elements. */
  list(read: (index: number) => void): number {
    if (this.#type === THRIFT.SET) this.#type = THRIFT.LIST;
    this.#take(THRIFT.LIST);
    this.#goDown();
    const { count, type } = this.#listHeader();
    for (let i = 0; i < count; i += 1) {
      this.#type = type;
      read(i);
      if (this.#type !== 0) this.#skipElement(type);
    }
    this.#depth -= 1;
    this.#type = 0;
    return count;
  }

  i32(): number {
    const value = this.i64();
    if (value !== (value | 0)) throw new ThriftError(`${value} stands where a number of 32 bits is expected`);
    return value;
  }

  /** @throws ThriftError also for numbers from 2^52 on, which nothing in a file can be. */
  i64(): number {
    if (this.#type === THRIFT.I16 || this.#type === THRIFT.I32) this.#type = THRIFT.I64;
    this.#take(THRIFT.I64);
    return this.#zigzag();
  }

  /** Returns the boolean of a field, not one in a list. */
  boolean(): boolean {
    const isTrue = this.#type === THRIFT.TRUE;
    this.#take(isTrue ? THRIFT.TRUE : THRIFT.FALSE);
    return isTrue;
  }

  /** A view. */
  binary(): Uint8Array {
    this.#take(THRIFT.BINARY);
    const byteLength = this.#length();
    this.#at += byteLength;
    return this.#bytes.subarray(this.#at - byteLength, this.#at);
  }

  /** Bytes that are not UTF-8 are read as Latin-1, so that different ones stay different. */
  string(): string {
    const bytes = this.binary();
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const decoded = text.toString();
    return decoded.includes('\ufffd') && !Buffer.from(decoded).equals(text) ? text.toString('latin1') : decoded;
  }

  /** The bytes of the value, a view; and its type, which says what a boolean is. */
  raw(): { type: ThriftType; bytes: Uint8Array } {
    const type = this.#type as ThriftType;
    const start = this.#at;
    this.skip();
    return { type, bytes: this.#bytes.subarray(start, this.#at) };
  }

  skip(): void {
    const type = this.#type;
    this.#type = 0;
    if (type !== THRIFT.TRUE && type !== THRIFT.FALSE) this.#skipElement(type);
  }

  /** Skips an element; in lists, booleans have a byte. */
  #skipElement(type: number): void {
    this.#type = 0;
    const fixedBytes = FIXED_BYTES[type] ?? 0;
    if (fixedBytes > 0) this.#skipBytes(fixedBytes);
    else if (type === THRIFT.I16 || type === THRIFT.I32 || type === THRIFT.I64) this.#skipVarint();
    else if (type === THRIFT.BINARY) this.#skipBytes(this.#length());
    else if (type === THRIFT.STRUCT) this.#skipStruct();
    else if (type === THRIFT.LIST || type === THRIFT.SET) this.#skipList();
    else if (type === THRIFT.MAP) this.#skipMap();
    else throw new ThriftError(`there is no Thrift type ${type}`);
  }

  #skipStruct(): void {
    this.#goDown();
    for (;;) {
      const header = this.#byte();
      if (header === 0) break;
      if (header >>> 4 === 0) this.#skipVarint();
      const type = header & 0x0f;
      if (type !== THRIFT.TRUE && type !== THRIFT.FALSE) this.#skipElement(type);
    }
    this.#depth -= 1;
  }

  #skipList(): void {
    this.#goDown();
    const { count, type } = this.#listHeader();
    for (let i = 0; i < count; i += 1) this.#skipElement(type);
    this.#depth -= 1;
  }

  #skipMap(): void {
    const count = this.#varint();
    if (count === 0) return;
    this.#requireLeft(2 * count);
    this.#goDown();
    const types = this.#byte();
    for (let i = 0; i < count; i += 1) {
      this.#skipElement(types >>> 4);
      this.#skipElement(types & 0x0f);
    }
    this.#depth -= 1;
  }

  /** An element has at least one byte. */
  #listHeader(): { count: number; type: number } {
    const header = this.#byte();
    const count = header >>> 4 === 15 ? this.#varint() : header >>> 4;
    this.#requireLeft(count);
    return { count, type: header & 0x0f };
  }

  #take(type: ThriftType): void {
    if (this.#type !== type) {
      const [expected, found] = [TYPE_NAMES[type], TYPE_NAMES[this.#type] ?? this.#type];
      throw new ThriftError(`a Thrift value of type ${found} stands where ${expected} is expected`);
    }
    this.#type = 0;
  }

  #goDown(): void {
    this.#depth += 1;
    if (this.#depth > MOST_DEPTH) throw new ThriftError(`Thrift values are nested more than ${MOST_DEPTH} times`);
  }

  #length(): number {
    const byteLength = this.#varint();
    this.#requireLeft(byteLength);
    return byteLength;
  }

  #requireLeft(byteLength: number): void {
    const leftBytes = this.#bytes.byteLength - this.#at;
    if (byteLength > leftBytes)
      throw new ThriftError(`a Thrift value claims ${byteLength} bytes of ${leftBytes}`, true);
  }

  #skipBytes(byteLength: number): void {
    this.#requireLeft(byteLength);
    this.#at += byteLength;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new ThriftError('its Thrift structure is cut off', true);
    this.#at += 1;
    return byte;
  }

  #skipVarint(): void {
    const start = this.#at;
    while (this.#byte() >= 0x80) {
      if (this.#at - start >= MOST_VARINT_BYTES) throw new ThriftError('a Thrift number has more than 10 bytes');
    }
  }

  #varint(): number {
    let byte = this.#byte();
    if (byte < 0x80) return byte;
    const start = this.#at;
    let value = byte & 0x7f;
    for (let scale = 128; byte >= 0x80; scale *= 128) {
      if (this.#at - start >= MOST_VARINT_BYTES - 1) throw new ThriftError('a Thrift number has more than 10 bytes');
      byte = this.#byte();
      value += (byte & 0x7f) * scale;
    }
    return value;
  }

  #zigzag(): number {
    const code = this.#varint();
    if (code >= 2 * MOST_INTEGER) throw new ThriftError('a Thrift number has more than 52 bits');
    return code % 2 === 0 ? code / 2 : -(code + 1) / 2;
  }
}

const FIRST_BYTES = 256;

/** A value after `field` is a field of the struct that is being written, else an element of a list. */
export class ThriftWriter {
  #bytes = new Uint8Array(FIRST_BYTES);
  #byteLength = 0;
  /** The next value's; 0: it has none. */
  #field = 0;
  #lastField = 0;

  /** @param number from 1 to 32767. */
  field(number: number): this {
    this.#field = number;
    return this;
  }

  struct(write: () => void): this {
    this.#header(THRIFT.STRUCT);
    const outer = this.#lastField;
    this.#lastField = 0;
    write();
    this.#byte(0);
    this.#lastField = outer;
    return this;
  }

  /** @param write writes one value. */
  list(elementType: ThriftType, count: number, write: (index: number) => void): this {
    this.#header(THRIFT.LIST);
    if (count < 15) this.#byte((count << 4) | elementType);
    else {
      this.#byte(0xf0 | elementType);
      this.#varint(count);
    }
    for (let i = 0; i < count; i += 1) write(i);
    return this;
  }

  boolean(value: boolean): this {
    const type = value ? THRIFT.TRUE : THRIFT.FALSE;
    if (this.#field === 0) this.#byte(type);
    else this.#header(type);
    return this;
  }

  i16(value: number): this {
    this.#header(THRIFT.I16);
    this.#zigzag(value);
    return this;
  }

  i32(value: number): this {
    this.#header(THRIFT.I32);
    this.#zigzag(value);
    return this;
  }

  i64(value: number): this {
    this.#header(THRIFT.I64);
    this.#zigzag(value);
    return this;
  }

  binary(value: Uint8Array | string): this {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    this.#header(THRIFT.BINARY);
    this.#varint(bytes.byteLength);
    return this.#append(bytes);
  }

  /** A value as `ThriftReader.raw` gave it. */
  raw(type: ThriftType, bytes: Uint8Array): this {
    this.#header(type);
    return this.#append(bytes);
  }

  /** Ends the struct whose fields were written before, without `struct`. */
  end(): this {
    this.#byte(0);
    this.#lastField = 0;
    return this;
  }

  /** All that was written, a copy; the writer is empty after it. */
  take(): Uint8Array {
    const bytes = this.#bytes.slice(0, this.#byteLength);
    this.#byteLength = 0;
    return bytes;
  }

  #header(type: ThriftType): void {
    if (this.#field === 0) return;
    const delta = this.#field - this.#lastField;
    if (delta > 0 && delta < 16) this.#byte((delta << 4) | type);
    else {
      this.#byte(type);
      this.#zigzag(this.#field);
    }
    this.#lastField = this.#field;
    this.#field = 0;
  }

  #append(bytes: Uint8Array): this {
    this.#makeRoom(bytes.byteLength);
    this.#bytes.set(bytes, this.#byteLength);
    this.#byteLength += bytes.byteLength;
    return this;
  }

  #byte(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#byteLength] = byte;
    this.#byteLength += 1;
  }

  #zigzag(value: number): void {
    this.#varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#byte((rest % 0x80) | 0x80);
    this.#byte(rest);
  }

  #makeRoom(byteLength: number): void {
    const neededBytes = this.#byteLength + byteLength;
    if (neededBytes <= this.#bytes.byteLength) return;
    const larger = new Uint8Array(Math.max(neededBytes, 2 * this.#bytes.byteLength));
    larger.set(this.#bytes.subarray(0, this.#byteLength));
    this.#bytes = larger;
  }
}
