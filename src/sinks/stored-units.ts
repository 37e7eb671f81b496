/**
 * How an output that ends with a directory of its units, such as the footer of a table, lies in its staged file. Each unit is
 * followed by what the directory will say of it. So the end of a file follows from its bytes, whoever wrote them and when, and
 * is made of one file after the other. What a reader of the whole file does not know lies in gaps that it never reads.
 *
 *     header | unit | description | ends | unit | description | ends | ... | directory
 *
 *     ends   u64 byte length of the unit, u32 of the description, u32 CRC of the description and these lengths
 *
 * A stream cannot be read again: the same descriptions, with their ends, lie in a temp file, without the units.
 */
import { crc32 } from 'node:zlib';
import { VerificationError } from '../errors.js';
import { closeFile, type OpenFile, openForRead, openOwnForRead, readBytes, versionOf } from '../io/files.js';

const ENDS_BYTES = 16;

export interface StoredUnit {
  /** Bytes [start, start + byteLength) of the file. */
  readonly start: number;
  readonly byteLength: number;
  readonly description: Uint8Array;
}

/** What the end of a file is made from. */
export interface FileContent {
  /** Bytes of its records, decompressed. */
  readonly recordBytes: number;
  /** Its units in order, if it has any. Reads them anew with each call. */
  units(): Iterable<StoredUnit>;
}

/** Of a file without units. */
export function contentOfBytes(recordBytes: number): FileContent {
  return { recordBytes, units: () => [] };
}

/** What follows a unit in its file. */
export function describedEnd(unitBytes: number, description: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(description.byteLength + ENDS_BYTES);
  bytes.set(description);
  const end = description.byteLength;
  bytes.writeBigUInt64LE(BigInt(unitBytes), end);
  bytes.writeUInt32LE(description.byteLength, end + 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, end + 12)), end + 12);
  return bytes;
}

export function bytesBehindUnit(description: Uint8Array): number {
  return description.byteLength + ENDS_BYTES;
}

/** The units in bytes [start, end) of a file, which they tile. */
interface UnitBytes {
  readonly start: number;
  readonly end: number;
}

/** @param regions in order. @throws VerificationError if they do not consist of units. */
export function* unitsOfFile(path: string, regions: readonly UnitBytes[]): Generator<StoredUnit, void> {
  if (regions.length === 0) return;
  const file = openForRead(path, 'output');
  try {
    for (const region of regions) yield* describedUnits(file, region, true);
  } finally {
    closeFile(file);
  }
}

/** @param path of the descriptions of a stream. @param start where its first unit begins. */
export function* unitsOfStream(path: string, start: number): Generator<StoredUnit, void> {
  const file = openOwnForRead(path, 'temp');
  try {
    let place = start;
    for (const unit of describedUnits(file, { start: 0, end: versionOf(file).byteLength }, false)) {
      yield { ...unit, start: place };
      place += unit.byteLength + bytesBehindUnit(unit.description);
    }
  } finally {
    closeFile(file);
  }
}

/** @param areThere whether the units themselves are in the file. */
function* describedUnits(file: OpenFile, { start, end }: UnitBytes, areThere: boolean): Generator<StoredUnit, void> {
  const ends: number[] = [];
  for (let place = end; place > start; ) {
    ends.push(place);
    const { byteLength, descriptionBytes } = readEnds(file, start, place);
    place -= ENDS_BYTES + descriptionBytes + (areThere ? byteLength : 0);
    if (place < start) throw damaged(file, place);
  }
  for (const place of ends.reverse()) {
    const { byteLength, descriptionBytes } = readEnds(file, start, place);
    const description = place - ENDS_BYTES - descriptionBytes;
    const bytes = readBytes(file, description, descriptionBytes + ENDS_BYTES);
    if (crc32(bytes.subarray(0, -4)) !== viewOf(bytes).getUint32(bytes.byteLength - 4, true))
      throw damaged(file, place);
    yield { start: description - byteLength, byteLength, description: bytes.subarray(0, descriptionBytes) };
  }
}

function readEnds(file: OpenFile, start: number, end: number): { byteLength: number; descriptionBytes: number } {
  if (end - start < ENDS_BYTES) throw damaged(file, end);
  const bytes = readBytes(file, end - ENDS_BYTES, ENDS_BYTES);
  if (bytes.byteLength < ENDS_BYTES) throw damaged(file, end);
  const view = viewOf(bytes);
  const ends = { byteLength: Number(view.getBigUint64(0, true)), descriptionBytes: view.getUint32(8, true) };
  if (ends.descriptionBytes > end - start - ENDS_BYTES) throw damaged(file, end);
  return ends;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function damaged({ path }: OpenFile, end: number): VerificationError {
  return new VerificationError(
    `${path}: what was written up to byte ${end} is not there any more; check the disk and the memory of this machine`,
  );
}
