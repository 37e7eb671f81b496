/**
 * Units of a staged file, such as row groups, and what the end of the file needs to say of each: its description, which
 * follows it there, and in the file that becomes of it, where nothing refers to it:
 *
 *     description | u32 its bytes | u32 its CRC-32 | u64 bytes of the unit before it | "pileshuf"
 */
import { crc32 } from 'node:zlib';
import { VerificationError } from '../errors.js';

/** A staged file that has all its units. */
export interface StagedUnitFile {
  readonly path: string;
  readonly byteLength: number;
  read(position: number, byteLength: number): Uint8Array;
}

export interface StagedUnit {
  /** The place in the file where it begins. */
  readonly start: number;
  /** @throws VerificationError when it is not what was written. */
  description(): Buffer;
}

const TRAILER_BYTES = 24;
const MAGIC = Buffer.from('pileshuf');

/** @returns what follows the unit. */
export function encodeUnitDescription(description: Uint8Array, unitBytes: number): Buffer {
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(description.byteLength, 0);
  trailer.writeUInt32LE(crc32(description), 4);
  trailer.writeBigUInt64LE(BigInt(unitBytes), 8);
  trailer.set(MAGIC, 16);
  return Buffer.concat([description, trailer]);
}

/**
 * The units of a file, in their order.
 * @param headerBytes before the first one.
 * @throws VerificationError if descriptions do not lead from the end of the file to its beginning.
 */
export function listStagedUnits({ path, byteLength, read }: StagedUnitFile, headerBytes: number): StagedUnit[] {
  const units: StagedUnit[] = [];
  const bytesAt = (position: number, count: number) => {
    const { buffer, byteOffset, byteLength } = read(position, count);
    return Buffer.from(buffer, byteOffset, byteLength);
  };
  for (let end = byteLength; end > headerBytes; ) {
    const trailer = end < TRAILER_BYTES ? Buffer.alloc(0) : bytesAt(end - TRAILER_BYTES, TRAILER_BYTES);
    const isTrailer = trailer.byteLength === TRAILER_BYTES && MAGIC.compare(trailer, 16) === 0;
    const [bytes, crc] = isTrailer ? [trailer.readUInt32LE(0), trailer.readUInt32LE(4)] : [0, 0];
    const at = end - TRAILER_BYTES - bytes;
    const start = isTrailer ? at - Number(trailer.readBigUInt64LE(8)) : -1;
    if (start < headerBytes) throw new VerificationError(`${path}: no unit ends at byte ${end}`);
    const description = () => {
      const found = bytesAt(at, bytes);
      if (crc32(found) === crc) return found;
      throw new VerificationError(`${path}: the description of a unit is damaged on disk; run the job again`);
    };
    units.push({ start, description });
    end = start;
  }
  return units.reverse();
}
