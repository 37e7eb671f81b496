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
import type { VerificationError } from '../errors.js';
import { type OwnRole, readAt, versionOf, withFile } from '../io/files.js';
import { stripeOfPile } from './pile-layout.js';
import { damagedPileSetError, openPileSetFile, readingPileSet } from './pile-set-file.js';
import {
  addTotals,
  emptyTotals,
  type PileTotals,
  pileTotalsOf,
  type RecordTotals,
  totalsOfPile,
} from './pile-totals.js';
import type { Segment, SegmentLog } from './segments.js';

const MAGIC = Buffer.from('pileset3', 'latin1');
/** The magic bytes that all versions share. */
export const FIRST_BYTES_OF_INDEXES = MAGIC.subarray(0, -1);
const HEADER_BYTES = 44;
const DATA_FILE_ENTRY_BYTES = 8;
const PILE_ENTRY_BYTES = 48;
const SEGMENT_ENTRY_BYTES = 24;
/** Longer segments are never compressed, so that a reader has room for both forms. Equal to the largest pile buffer. */
export const MOST_COMPRESSED_BYTES = 4 * 2 ** 20;

/** Valid names of pile sets, which become names of files. */
export const PILE_SET_NAME = /^[a-z0-9-]+$/;

export interface PileEntry extends RecordTotals {
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

/** The place of an index: in a file (a temp file unless `role` says otherwise) or in memory. */
export type IndexSource = { readonly path: string; readonly role?: OwnRole } | { readonly bytes: Uint8Array };

export function encodePileSetIndex(totals: PileTotals, log: SegmentLog, description: PileSetDescription): Uint8Array {
  const { name, stripeCount, diskCount, dataFiles, report } = description;
  if (!PILE_SET_NAME.test(name)) throw new RangeError(`${name} is not a name for a pile set`);
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
    const { records, bytes: recordBytes, checksum } = totalsOfPile(totals, pile);
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

/** Piles that are read together when all piles are read. */
const PILES_TOGETHER = 4096;

/** Reads no other part of the index than the entries of piles [first, end) need. Errors name `pileSetName`. */
export function readPileEntries(source: IndexSource, first: number, end: number, pileSetName?: string): PileEntry[] {
  return withIndex(source, pileSetName, (index) => index.entries(first, end));
}

export function readPileSetDescription(source: IndexSource): PileSetDescription {
  return withIndex(source, undefined, (index) => index.description());
}

/** Verifies every byte of the index. */
export function readPileTotals(source: IndexSource): PileTotals {
  return withIndex(source, undefined, (index) => {
    index.description();
    const { pileCount } = index;
    const totals = emptyTotals(pileCount);
    for (let first = 0; first < pileCount; first += PILES_TOGETHER) {
      addTotals(totals, pileTotalsOf(index.entries(first, Math.min(pileCount, first + PILES_TOGETHER))), first);
    }
    return totals;
  });
}

function withIndex<T>(source: IndexSource, pileSetName: string | undefined, use: (index: OpenIndex) => T): T {
  if ('bytes' in source) {
    const { bytes } = source;
    const read: Read = (offset, byteLength) => Buffer.from(bytes.buffer, bytes.byteOffset + offset, byteLength);
    return use(new OpenIndex(read, bytes.byteLength, 'in memory', pileSetName, 'temp'));
  }
  const { path, role = 'temp' } = source;
  return withFile(openPileSetFile(path, pileSetName, role), (file) => {
    const read: Read = (offset, byteLength) => {
      const bytes = Buffer.allocUnsafe(byteLength);
      const count = readingPileSet(path, pileSetName, role, () => readAt(file, bytes, 0, byteLength, offset));
      return bytes.subarray(0, count);
    };
    const { byteLength } = readingPileSet(path, pileSetName, role, () => versionOf(file));
    return use(new OpenIndex(read, byteLength, path, pileSetName, role));
  });
}

/** Reads bytes of the index; fewer when the file has become shorter. */
type Read = (offset: number, byteLength: number) => Buffer;

/**
 * Uses bytes only after verifying their checksum; damage is a VerificationError that names the index. Compares every
 * number with the size of the index, or of the data file that the number points into, before using it.
 */
class OpenIndex {
  readonly pileCount: number;
  readonly #read: Read;
  readonly #byteLength: number;
  readonly #where: string;
  readonly #pileSetName: string | undefined;
  readonly #role: OwnRole;
  readonly #stripeCount: number;
  readonly #diskCount: number;
  readonly #segmentCount: number;
  readonly #pilesAt: number;
  readonly #segmentsAt: number;
  readonly #descriptionAt: number;
  readonly #descriptionCrc: number;
  /** Byte length of each data file, stripe-major. */
  readonly #dataFileBytes: readonly number[];

  constructor(read: Read, byteLength: number, where: string, pileSetName: string | undefined, role: OwnRole) {
    this.#read = read;
    this.#byteLength = byteLength;
    this.#where = where;
    this.#pileSetName = pileSetName;
    this.#role = role;

    const header = this.#bytesAt(0, HEADER_BYTES);
    if (!header.subarray(0, MAGIC.byteLength).equals(MAGIC)) throw this.#damaged('its magic bytes are wrong');
    this.#require(crc32(header.subarray(0, 40)), header.readUInt32LE(40), 'header');
    this.#segmentCount = this.#numberAt(header, 8);
    this.pileCount = header.readUInt32LE(16);
    this.#stripeCount = header.readUInt32LE(20);
    this.#diskCount = header.readUInt32LE(24);
    this.#descriptionCrc = header.readUInt32LE(36);
    this.#pilesAt = HEADER_BYTES + this.#stripeCount * this.#diskCount * DATA_FILE_ENTRY_BYTES;
    this.#segmentsAt = this.#pilesAt + this.pileCount * PILE_ENTRY_BYTES;
    this.#descriptionAt = this.#segmentsAt + this.#segmentCount * SEGMENT_ENTRY_BYTES;
    const expectedBytes = this.#descriptionAt + header.readUInt32LE(28);
    // From here on, all tables lie within the index.
    if (byteLength !== expectedBytes) throw this.#damaged(`it has ${byteLength} bytes, expected ${expectedBytes}`);

    const table = this.#bytesAt(HEADER_BYTES, this.#pilesAt - HEADER_BYTES);
    this.#require(crc32(table), header.readUInt32LE(32), 'data file table');
    this.#dataFileBytes = Array.from({ length: table.byteLength / DATA_FILE_ENTRY_BYTES }, (_, i) =>
      this.#numberAt(table, i * DATA_FILE_ENTRY_BYTES),
    );
  }

  entries(first: number, end: number): PileEntry[] {
    if (end > this.pileCount) throw this.#damaged(`it has ${this.pileCount} piles, expected at least ${end}`);
    if (first >= end) return [];
    const table = this.#bytesAt(this.#pilesAt + first * PILE_ENTRY_BYTES, (end - first) * PILE_ENTRY_BYTES);
    const entryOf = (pile: number) => {
      const at = (pile - first) * PILE_ENTRY_BYTES;
      return table.subarray(at, at + PILE_ENTRY_BYTES);
    };
    const firstSegment = this.#numberAt(entryOf(first), 0);
    const endSegment = this.#numberAt(entryOf(end - 1), 0) + this.#numberAt(entryOf(end - 1), 8);
    if (endSegment < firstSegment || endSegment > this.#segmentCount)
      throw this.#damaged('its segment counts do not add up');
    const segments = this.#bytesAt(
      this.#segmentsAt + firstSegment * SEGMENT_ENTRY_BYTES,
      (endSegment - firstSegment) * SEGMENT_ENTRY_BYTES,
    );

    const entries: PileEntry[] = [];
    let nextAt = 0;
    for (let pile = first; pile < end; pile++) {
      const entry = entryOf(pile);
      this.#require(crc32(entry.subarray(0, 44), pile), entry.readUInt32LE(44), `entry of pile ${pile}`);
      const at = nextAt;
      nextAt += this.#numberAt(entry, 8) * SEGMENT_ENTRY_BYTES;
      if (this.#numberAt(entry, 0) !== firstSegment + at / SEGMENT_ENTRY_BYTES || nextAt > segments.byteLength)
        throw this.#damaged('its segment tables do not join');
      entries.push({
        records: this.#numberAt(entry, 16),
        bytes: this.#numberAt(entry, 24),
        checksum: entry.readBigUInt64LE(32),
        segments: this.#segments(pile, segments.subarray(at, nextAt), entry.readUInt32LE(40)),
      });
    }
    return entries;
  }

  #segments(pile: number, table: Buffer, crc: number): Segment[] {
    this.#require(crc32(table), crc, `segment table of pile ${pile}`);
    const dataFile = stripeOfPile({ pileCount: this.pileCount, stripeCount: this.#stripeCount }, pile);
    const dataFileBytes = this.#dataFileBytes[dataFile * this.#diskCount + (pile % this.#diskCount)] ?? 0;
    const segments: Segment[] = [];
    for (let at = 0; at < table.byteLength; at += SEGMENT_ENTRY_BYTES) {
      const place = this.#numberAt(table, at);
      const byteLength = table.readUInt32LE(at + 8);
      const diskBytes = table.readUInt32LE(at + 12);
      if (diskBytes > 0 && place + diskBytes > dataFileBytes)
        throw this.#damaged(`a segment of pile ${pile} ends after its data file`);
      if (diskBytes > byteLength)
        throw this.#damaged(`a segment of pile ${pile} takes ${diskBytes} bytes and has ${byteLength}`);
      if (diskBytes > 0 && diskBytes < byteLength && byteLength > MOST_COMPRESSED_BYTES)
        throw this.#damaged(`a segment of pile ${pile} has ${byteLength} bytes, too many for one that is compressed`);
      segments.push({ place, byteLength, diskBytes, checksum: table.readBigUInt64LE(at + 16) });
    }
    return segments;
  }

  description(): PileSetDescription {
    const text = this.#bytesAt(this.#descriptionAt, this.#byteLength - this.#descriptionAt);
    this.#require(crc32(text), this.#descriptionCrc, 'description');
    const { name, report } = this.#parse(text.toString());
    if (typeof name !== 'string' || !PILE_SET_NAME.test(name)) throw this.#damaged('it names no pile set');
    return { name, stripeCount: this.#stripeCount, diskCount: this.#diskCount, dataFiles: this.#dataFiles(), report };
  }

  #dataFiles(): DataFileSize[] {
    return this.#dataFileBytes.flatMap((byteLength, i) =>
      byteLength > 0 ? [{ stripe: Math.floor(i / this.#diskCount), disk: i % this.#diskCount, byteLength }] : [],
    );
  }

  #parse(text: string): { readonly name?: unknown; readonly report?: unknown } {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) return value;
    } catch {
      // The error below covers this, like any other text that is not a JSON object.
    }
    throw this.#damaged('its description is not a JSON object');
  }

  #bytesAt(offset: number, byteLength: number): Buffer {
    if (offset + byteLength <= this.#byteLength) {
      const bytes = this.#read(offset, byteLength);
      if (bytes.byteLength === byteLength) return bytes;
    }
    throw this.#damaged(`it ends before byte ${offset + byteLength}`);
  }

  #numberAt(bytes: Buffer, offset: number): number {
    const value = bytes.readBigUInt64LE(offset);
    if (value > Number.MAX_SAFE_INTEGER) throw this.#damaged(`it holds the number ${value}`);
    return Number(value);
  }

  #require(crc: number, expected: number, what: string): void {
    if (crc !== expected) throw this.#damaged(`the checksum of its ${what} is wrong`);
  }

  #damaged(what: string): VerificationError {
    return damagedPileSetError(
      `the index ${this.#where} of a pile set is damaged: ${what}`,
      this.#pileSetName,
      this.#role,
    );
  }
}
