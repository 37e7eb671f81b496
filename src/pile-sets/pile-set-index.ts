/**
 * The index of a pile set: for each pile its number of records, bytes and segments and its multiset checksum; then the
 * segments, pile-major, in the order in which they were written. A few reads give any range of piles, and checksums
 * (CRC-32, as in zlib) cover every byte, so that these reads can be verified.
 *
 *     byte 0    magic "pileset3", the format's version in its last byte
 *          8    u64 segments       16   u32 piles            20   u32 stripes       24   u32 disks
 *         28    u32 byte length of the description
 *         32    u32 CRC of the data file table, 36 of the description, 40 of the 40 bytes before
 *         44    data file table, 8 bytes for each (stripe, disk), stripe-major:
 *               u64 byte length; 0: the file does not exist
 *               pile table, 48 bytes each:
 *               u64 first segment, u64 segments, u64 records, u64 record bytes, u64 checksum,
 *               u32 CRC of its segment entries, u32 CRC of the 44 bytes before, from the pile's number on
 *               segment table, 24 bytes each:
 *               u64 place, u32 byte length, u32 bytes in the pile's data file (fewer: it is compressed;
 *               0: it lies in the memory pool), u64 checksum of its bytes before compression
 *               description, JSON: the pile set's name and the job's report
 *
 * All numbers are little-endian.
 */
import { crc32 } from 'node:zlib';
import type { OwnRole } from '../io/files.js';
import { type PileTally, type PileTotals, tallyOf } from './pile-totals.js';
import type { Segment, SegmentLog } from './segments.js';

export const MAGIC = Buffer.from('pileset3', 'latin1');
/** The magic bytes that all versions share. */
export const FIRST_BYTES_OF_INDEXES = MAGIC.subarray(0, -1);
export const HEADER_BYTES = 44;
export const DATA_FILE_ENTRY_BYTES = 8;
export const PILE_ENTRY_BYTES = 48;
export const SEGMENT_ENTRY_BYTES = 24;
/** Longer segments are never compressed, so that a reader has room for both forms. Equal to the largest pile buffer. */
export const MOST_COMPRESSED_BYTES = 4 * 2 ** 20;

/** Valid names of pile sets, which become names of files. */
export const PILE_SET_NAME = /^[a-z0-9-]+$/;

export interface PileEntry extends PileTally {
  readonly segments: readonly Segment[];
}

/** A data file that is not empty. */
export interface DataFileSize {
  readonly stripe: number;
  readonly disk: number;
  readonly byteLength: number;
}

export interface PileSetDescription {
  /** The beginning of the names of its data files. */
  readonly name: string;
  readonly stripeCount: number;
  readonly diskCount: number;
  readonly dataFiles: readonly DataFileSize[];
  /** Any JSON value that the job needs later. */
  readonly report: unknown;
}

/** Where an index lies: in a file (a temp file unless `role` says otherwise) or in memory. */
export type IndexSource = { readonly path: string; readonly role?: OwnRole } | { readonly bytes: Uint8Array };

export function encodePileSetIndex(totals: PileTotals, log: SegmentLog, description: PileSetDescription): Uint8Array {
  const { name, stripeCount, diskCount, dataFiles, report } = description;
  if (!PILE_SET_NAME.test(name)) throw new RangeError(`${name} is no name for a pile set`);
  const text = Buffer.from(JSON.stringify({ name, report }));
  const pileCount = totals.records.length;
  const pilesAt = HEADER_BYTES + stripeCount * diskCount * DATA_FILE_ENTRY_BYTES;
  const segmentsAt = pilesAt + pileCount * PILE_ENTRY_BYTES;
  const textAt = segmentsAt + log.count * SEGMENT_ENTRY_BYTES;
  // Shared memory, so that an index that stays in memory is not copied into every task.
  const bytes = Buffer.from(new SharedArrayBuffer(textAt + text.byteLength));

  for (const { stripe, disk, byteLength } of dataFiles) {
    bytes.writeBigUInt64LE(BigInt(byteLength), HEADER_BYTES + (stripe * diskCount + disk) * DATA_FILE_ENTRY_BYTES);
  }
  const firstSegments = writeSegments(bytes, segmentsAt, pileCount, log);
  for (let pile = 0; pile < pileCount; pile++) {
    const { records, recordBytes, checksum } = tallyOf(totals, pile);
    const first = firstSegments[pile] ?? 0;
    const end = firstSegments[pile + 1] ?? 0;
    const at = pilesAt + pile * PILE_ENTRY_BYTES;
    bytes.writeBigUInt64LE(BigInt(first), at);
    bytes.writeBigUInt64LE(BigInt(end - first), at + 8);
    bytes.writeBigUInt64LE(BigInt(records), at + 16);
    bytes.writeBigUInt64LE(BigInt(recordBytes), at + 24);
    bytes.writeBigUInt64LE(checksum, at + 32);
    const ofPile = bytes.subarray(segmentsAt + first * SEGMENT_ENTRY_BYTES, segmentsAt + end * SEGMENT_ENTRY_BYTES);
    bytes.writeUInt32LE(crc32(ofPile), at + 40);
    bytes.writeUInt32LE(crc32(bytes.subarray(at, at + 44), pile), at + 44);
  }
  text.copy(bytes, textAt);

  MAGIC.copy(bytes);
  bytes.writeBigUInt64LE(BigInt(log.count), 8);
  bytes.writeUInt32LE(pileCount, 16);
  bytes.writeUInt32LE(stripeCount, 20);
  bytes.writeUInt32LE(diskCount, 24);
  bytes.writeUInt32LE(text.byteLength, 28);
  bytes.writeUInt32LE(crc32(bytes.subarray(HEADER_BYTES, pilesAt)), 32);
  bytes.writeUInt32LE(crc32(text), 36);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 40)), 40);
  return bytes;
}

/** Returns the number of the first segment of each pile, then the number of all segments. */
function writeSegments(bytes: Buffer, segmentsAt: number, pileCount: number, log: SegmentLog): Float64Array {
  const firstSegments = new Float64Array(pileCount + 1);
  for (let number = 0; number < log.count; number++) {
    const pile = log.pile(number);
    firstSegments[pile + 1] = (firstSegments[pile + 1] ?? 0) + 1;
  }
  for (let pile = 0; pile < pileCount; pile++) {
    firstSegments[pile + 1] = (firstSegments[pile] ?? 0) + (firstSegments[pile + 1] ?? 0);
  }
  const nextSegments = firstSegments.slice();
  for (let number = 0; number < log.count; number++) {
    const pile = log.pile(number);
    const { place, byteLength, diskBytes, checksum } = log.segment(number);
    const segment = nextSegments[pile] ?? 0;
    nextSegments[pile] = segment + 1;
    const at = segmentsAt + segment * SEGMENT_ENTRY_BYTES;
    bytes.writeBigUInt64LE(BigInt(place), at);
    bytes.writeUInt32LE(byteLength, at + 8);
    bytes.writeUInt32LE(diskBytes, at + 12);
    bytes.writeBigUInt64LE(checksum, at + 16);
  }
  return firstSegments;
}
