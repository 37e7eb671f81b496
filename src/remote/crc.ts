/**
 * CRCs of objects from those of their parts, by the arithmetic of zlib: bytes are polynomials over GF(2), and the bytes
 * that follow multiply a remainder by a power of x. Services write a CRC as base64, its first byte first.
 */
import { crc32 } from 'node:zlib';
import { SystemError } from '../errors.js';
import { compiledProgram } from '../io/shipped-files.js';

export interface SizedCrc {
  readonly crc: bigint;
  readonly byteLength: number;
}

type Add = (bytes: Uint8Array, crc: bigint) => bigint;

const BITS_OF_BYTE = 8n;

export class Crc {
  /** The CRC of the bytes that have `crc`, followed by these; that of no bytes is 0. */
  readonly add: Add;
  readonly #bits: bigint;
  readonly #polynomial: bigint;
  /** Power for the last length: most parts have the same. */
  #power = { byteLength: 0, power: 0n };

  /** @param polynomial its bits are reflected, so that x^0 is the highest one. */
  constructor(bits: bigint, polynomial: bigint, add: Add = slicedAdd(bits, polynomial)) {
    this.#bits = bits;
    this.#polynomial = polynomial;
    this.add = add;
  }

  /** The CRC of bytes whose pieces, in order, have these. */
  joined(pieces: Iterable<SizedCrc>): bigint {
    let crc = 0n;
    for (const piece of pieces) crc = this.#times(crc, this.#powerFor(piece.byteLength)) ^ piece.crc;
    return crc;
  }

  text(crc: bigint): string {
    return this.#bytesOf(crc).toString('base64');
  }

  /** @param text a checksum that a service says of an object; after those of parts, their number follows. */
  isOf(text: string, parts: readonly SizedCrc[]): boolean {
    const [, count] = text.split('-');
    if (count === undefined) return text === this.text(this.joined(parts));
    return (
      text === `${this.text(this.add(Buffer.concat(parts.map(({ crc }) => this.#bytesOf(crc))), 0n))}-${parts.length}`
    );
  }

  /** x to the power of the bits of so many bytes. */
  #powerFor(byteLength: number): bigint {
    if (byteLength === this.#power.byteLength) return this.#power.power;
    let power = 1n << (this.#bits - 1n);
    let square = power >> BITS_OF_BYTE;
    for (let left = byteLength; left > 0; left = Math.floor(left / 2)) {
      if (left % 2 === 1) power = this.#times(square, power);
      square = this.#times(square, square);
    }
    this.#power = { byteLength, power };
    return power;
  }

  /** Product modulo the polynomial. */
  #times(a: bigint, b: bigint): bigint {
    let product = 0n;
    for (let bit = a === 0n ? 0n : 1n << (this.#bits - 1n), shifted = b; bit !== 0n; bit >>= 1n) {
      if ((a & bit) !== 0n) product ^= shifted;
      shifted = (shifted & 1n) === 0n ? shifted >> 1n : (shifted >> 1n) ^ this.#polynomial;
    }
    return product;
  }

  #bytesOf(crc: bigint): Buffer {
    return Buffer.from(crc.toString(16).padStart(Number(this.#bits) / 4, '0'), 'hex');
  }
}

interface CrcProgram {
  readonly memory: { readonly buffer: ArrayBuffer };
  begin(polynomial: bigint): void;
  add(byteLength: number, crc: bigint): bigint;
}

/** Offset in the memory of the buffer for bytes to add, which extends to its end. */
const BUFFER_OFFSET = 65536;

/** Adds twice as fast as tables in TypeScript. The program is loaded for the first bytes. */
function slicedAdd(bits: bigint, polynomial: bigint): Add {
  const ones = (1n << bits) - 1n;
  let program: CrcProgram | undefined;
  return (bytes, crc) => {
    program ??= startCrcProgram(polynomial);
    const buffer = new Uint8Array(program.memory.buffer, BUFFER_OFFSET);
    let remainder = crc ^ ones;
    for (let at = 0; at < bytes.byteLength; at += buffer.byteLength) {
      const piece = bytes.subarray(at, at + buffer.byteLength);
      buffer.set(piece);
      remainder = program.add(piece.byteLength, remainder);
    }
    return BigInt.asUintN(64, remainder) ^ ones;
  };
}

function startCrcProgram(polynomial: bigint): CrcProgram {
  const program = compiledProgram('crc.wasm', import.meta.url);
  try {
    const slicing = new WebAssembly.Instance(program).exports as unknown as CrcProgram;
    slicing.begin(polynomial);
    return slicing;
  } catch (error) {
    throw new SystemError(
      'ERR_OUT_OF_MEMORY',
      'no memory to compare checksums in the thread that fetches; where `ulimit -v` is set, allow 10 GiB of addresses more',
      { cause: error },
    );
  }
}

export const CRC32 = new Crc(32n, 0xedb88320n, (bytes, crc) => BigInt(crc32(bytes, Number(crc))));
export const CRC32C = new Crc(32n, 0x82f63b78n);
export const CRC64NVME = new Crc(64n, 0x9a6c9329ac4bc9b5n);
