/**
 * CRC-32 of objects from those of their parts, by the arithmetic of zlib: bytes are polynomials over GF(2), and the bytes
 * that follow multiply a remainder by a power of x. Services write a CRC as base64, its first byte first.
 */
import { crc32 } from 'node:zlib';

export interface Checked {
  readonly crc32: number;
  readonly byteLength: number;
}

/** As in zlib: the bits are reflected, so that x^0 is the highest one. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;
const BITS_OF_BYTE = 8;

/** The CRC-32 of bytes whose pieces, in order, have these. */
export function joinedCrc(pieces: Iterable<Checked>): number {
  let crc = 0;
  for (const piece of pieces) crc = times(powerFor(piece.byteLength), crc) ^ piece.crc32;
  return crc >>> 0;
}

/** x to the power of the bits of so many bytes. */
function powerFor(byteLength: number): number {
  let power = ONE;
  let square = ONE >>> BITS_OF_BYTE;
  for (let left = byteLength; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = times(square, power);
    square = times(square, square);
  }
  return power;
}

/** Product modulo the polynomial. */
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = ONE, shifted = b; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return product >>> 0;
}

export function crcText(crc: number): string {
  return bytesOf(crc).toString('base64');
}

/** @param text a checksum that a service says of an object; after those of parts, their number follows. */
export function isChecksumOf(text: string, parts: readonly Checked[]): boolean {
  const [, count] = text.split('-');
  if (count === undefined) return text === crcText(joinedCrc(parts));
  return text === `${crcText(crc32(Buffer.concat(parts.map((part) => bytesOf(part.crc32)))))}-${parts.length}`;
}

function bytesOf(crc: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes;
}
