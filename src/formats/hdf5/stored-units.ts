/**
 * Units of rows in a staged file, and in the file that becomes of it: chunks, dataset by dataset, then what the end of the
 * file needs to know of them, which nothing refers to then:
 *
 *     u32 rows | u32 bytes of each chunk | u32 bytes of these numbers | u32 their CRC-32 | u64 bytes of the chunks | "pileshuf"
 */
import { crc32 } from 'node:zlib';
import { VerificationError } from '../../errors.js';

export interface StoredUnit {
  /** Where its first chunk begins in the file. */
  readonly start: number;
  readonly rows: number;
  readonly chunkBytes: readonly number[];
}

const TRAILER_BYTES = 24;
const MAGIC = Buffer.from('pileshuf');

export function encodeUnit({ rows, chunkBytes }: Omit<StoredUnit, 'start'>): Buffer {
  const numbers = Buffer.from(Uint32Array.of(rows, ...chunkBytes).buffer);
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(numbers.byteLength, 0);
  trailer.writeUInt32LE(crc32(numbers), 4);
  trailer.writeBigUInt64LE(BigInt(sumOf(chunkBytes)), 8);
  MAGIC.copy(trailer, 16);
  return Buffer.concat([numbers, trailer]);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

export interface StagedRows {
  readonly path: string;
  /** Bytes before the first unit. */
  readonly headerBytes: number;
  readonly byteLength: number;
  read(position: number, byteLength: number): Uint8Array;
}

/** @throws VerificationError if descriptions do not lead from the end of the file to its beginning. */
export function storedUnits({ path, headerBytes, byteLength, read }: StagedRows): readonly StoredUnit[] {
  const units: StoredUnit[] = [];
  for (let end = byteLength; end > headerBytes; ) {
    const trailer = bufferOf(read(Math.max(0, end - TRAILER_BYTES), TRAILER_BYTES));
    const isTrailer = trailer.byteLength === TRAILER_BYTES && MAGIC.compare(trailer, 16) === 0;
    const numberBytes = isTrailer ? trailer.readUInt32LE(0) : byteLength;
    const numbersAt = end - TRAILER_BYTES - numberBytes;
    const start = isTrailer ? numbersAt - Number(trailer.readBigUInt64LE(8)) : -1;
    const numbers = start < headerBytes ? Buffer.alloc(0) : bufferOf(read(numbersAt, numberBytes));
    if (start < headerBytes || crc32(numbers) !== trailer.readUInt32LE(4))
      throw new VerificationError(`${path}: no chunks of rows end at byte ${end}`);
    const values = Array.from({ length: numberBytes / 4 }, (_, i) => numbers.readUInt32LE(4 * i));
    units.push({ start, rows: values[0] ?? 0, chunkBytes: values.slice(1) });
    end = start;
  }
  return units.reverse();
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
