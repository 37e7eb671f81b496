/** Bytes of an HDF5 file: numbers are little-endian, addresses and lengths have 8 bytes, as nearly all programs write them. */
import { corruptInputError, InputError } from '../../../errors.js';
import { lookup3 } from './checksums.js';
import { findStart } from './find-start.js';

/** Says what is wrong with a file, without its name. */
export class Hdf5Problem extends Error {
  readonly isDamage: boolean;

  /** @param isDamage false: the file may be good, but holds what pileshuf does not read. */
  constructor(message: string, isDamage = true) {
    super(message);
    this.isDamage = isDamage;
  }
}

export function sharedTableProblem(): Hdf5Problem {
  return new Hdf5Problem('it has a table of shared messages, which pileshuf does not read', false);
}

export const CHECKSUM_BYTES = 4;
const NONE = 0xffff_ffff;

/** Goes through the bytes of one structure. */
export class Cursor {
  readonly #bytes: Buffer;
  readonly #position: number;
  at = 0;

  /** @param position in the file, for messages. */
  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = position;
  }

  get left(): number {
    return this.#bytes.byteLength - this.at;
  }

  /** @returns a view. */
  take(byteLength: number): Buffer {
    const start = this.at;
    if (byteLength < 0 || byteLength > this.left)
      throw new Hdf5Problem(`a structure ends at byte ${this.#position + start}, before its last field`);
    this.at += byteLength;
    return this.#bytes.subarray(start, this.at);
  }

  skip(byteLength: number): this {
    this.take(byteLength);
    return this;
  }

  u8(): number {
    return this.uint(1);
  }

  u16(): number {
    return this.uint(2);
  }

  u32(): number {
    return this.uint(4);
  }

  /** A number of up to 8 bytes. */
  uint(byteLength: number): number {
    if (byteLength === 0) return 0;
    if (byteLength <= 6) return this.take(byteLength).readUIntLE(0, byteLength);
    const [low, high] = [this.u32(), this.uint(byteLength - 4)];
    const value = high * 2 ** 32 + low;
    if (Number.isSafeInteger(value)) return value;
    throw new Hdf5Problem(`byte ${this.#position + this.at - byteLength} holds a number that no file can have`);
  }

  u64(): number {
    return this.uint(8);
  }

  /** Returns a number of 64 bits. Undefined: all bits are set, which stands for no address, and for no limit. */
  u64OrNone(): number | undefined {
    const bytes = this.#bytes.subarray(this.at, this.at + 8);
    if (bytes.byteLength < 8 || bytes.readUInt32LE(0) !== NONE || bytes.readUInt32LE(4) !== NONE) return this.u64();
    this.at += 8;
    return undefined;
  }

  /** Up to a NUL byte. @param padding the text and the NUL fill a multiple of so many bytes. */
  text(padding = 1): Buffer {
    const end = this.#bytes.indexOf(0, this.at);
    if (end < 0) throw new Hdf5Problem(`a name at byte ${this.#position + this.at} does not end`);
    const text = this.take(end - this.at);
    this.take(Math.min(this.left, Math.ceil((text.byteLength + 1) / padding) * padding - text.byteLength));
    return text;
  }

  expect(signature: string): this {
    const start = this.at;
    if (this.take(signature.length).toString('latin1') === signature) return this;
    throw new Hdf5Problem(`byte ${this.#position + start} does not begin a structure ${JSON.stringify(signature)}`);
  }
}

/** A number and its bytes, undefined for no address; or bytes as they are. */
type Field = readonly [value: number | undefined, byteLength: 1 | 2 | 4 | 8] | Uint8Array;

export function packFields(...fields: readonly Field[]): Buffer {
  const lengthOf = (field: Field) => (field instanceof Uint8Array ? field.byteLength : field[1]);
  const result = Buffer.alloc(fields.reduce((sum, field) => sum + lengthOf(field), 0));
  let at = 0;
  for (const field of fields) {
    if (field instanceof Uint8Array) result.set(field, at);
    else if (field[0] === undefined) result.fill(0xff, at, at + field[1]);
    else if (field[1] < 8) result.writeUIntLE(field[0], at, field[1]);
    else {
      result.writeUInt32LE(field[0] % 2 ** 32, at);
      result.writeUInt32LE(Math.floor(field[0] / 2 ** 32), at + 4);
    }
    at += lengthOf(field);
  }
  return result;
}

export function withChecksum(body: Uint8Array): Buffer {
  return packFields(body, [lookup3(body), CHECKSUM_BYTES]);
}

/** @returns bytes of their own; fewer only at the end of the file. */
export type ReadBytes = (position: number, byteLength: number) => Uint8Array;

/** The structures in the cache: readers of an index go through neighbours. */
const CACHED_STRUCTURES = 256;

/** A file as its structures see it. */
export class Hdf5Bytes {
  /** The block of the user before its data, which addresses do not count. */
  readonly blockBytes: number;
  readonly byteLength: number;
  readonly #read: ReadBytes;
  readonly #cached = new Map<string, Uint8Array>();

  constructor(read: ReadBytes, byteLength: number) {
    this.#read = read;
    this.blockBytes = findStart(byteLength, read) ?? 0;
    this.byteLength = byteLength - this.blockBytes;
  }

  bytes(position: number, byteLength: number): Uint8Array {
    const isInside = position + byteLength <= this.byteLength;
    const bytes = isInside ? this.#read(this.blockBytes + position, byteLength) : new Uint8Array();
    if (isInside && bytes.byteLength === byteLength) return bytes;
    throw new Hdf5Problem(
      `it ends at byte ${this.byteLength}, and has bytes ${position} to ${position + byteLength} by its structures: it is cut off or damaged`,
    );
  }

  at(position: number, byteLength: number): Cursor {
    return new Cursor(this.bytes(position, byteLength), position);
  }

  /** Returns the bytes of a structure that may be longer than the file has bytes left. */
  upTo(position: number, byteLength: number): Cursor {
    return this.at(position, Math.max(0, Math.min(byteLength, this.byteLength - position)));
  }

  /** A structure that may soon be read again. */
  cached(position: number, byteLength: number, hasChecksum = false): Cursor {
    const name = `${position} ${byteLength}`;
    let bytes = this.#cached.get(name);
    if (bytes === undefined) {
      bytes = this.bytes(position, byteLength);
      const body = bytes.subarray(0, -CHECKSUM_BYTES);
      if (hasChecksum && lookup3(body) !== new Cursor(bytes.subarray(-CHECKSUM_BYTES)).u32())
        throw new Hdf5Problem(`bytes ${position} to ${position + byteLength} do not have their checksum`);
      if (this.#cached.size >= CACHED_STRUCTURES) this.#cached.clear();
      this.#cached.set(name, bytes);
    }
    return new Cursor(hasChecksum ? bytes.subarray(0, -CHECKSUM_BYTES) : bytes, position);
  }

  /** A structure with its checksum after it, which the cursor does not see. */
  checked(position: number, byteLength: number): Cursor {
    return this.cached(position, byteLength, true);
  }
}

/** How many bytes a number up to this one has. */
export function bytesFor(most: number): number {
  return most < 256 ? 1 : 1 + bytesFor(Math.floor(most / 256));
}

/** Turns each `Hdf5Problem` into an error that names the input. */
export function withInputErrors<T>(path: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (!(error instanceof Hdf5Problem)) throw error;
    if (error.isDamage) throw corruptInputError(path, `${error.message}; make the file again`, { cause: error });
    throw new InputError('ERR_INPUT_FORMAT', `${path}: ${error.message}`, { cause: error });
  }
}
