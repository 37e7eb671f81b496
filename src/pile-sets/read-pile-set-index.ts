/**
 * Reads indexes of pile sets (pile-set-index.ts) from files or from memory. It uses bytes only after verifying their
 * checksum; damage is a VerificationError that names the index. It compares every number with the size of the index, or
 * of the data file that the number points into, before using it.
 */
import { crc32 } from 'node:zlib';
import type { VerificationError } from '../errors.js';
import { type OwnRole, readAt, versionOf, withFile } from '../io/files.js';
import { stripeOfPile } from './pile-layout.js';
import { damagedPileSet, openPileSetFile, readingPileSet } from './pile-set-file.js';
import {
  DATA_FILE_ENTRY_BYTES,
  type DataFileSize,
  HEADER_BYTES,
  type IndexSource,
  MAGIC,
  MOST_COMPRESSED_BYTES,
  PILE_ENTRY_BYTES,
  PILE_SET_NAME,
  type PileEntry,
  type PileSetDescription,
  SEGMENT_ENTRY_BYTES,
} from './pile-set-index.js';
import { addTotals, emptyTotals, type PileTotals, totalsOf } from './pile-totals.js';
import type { Segment } from './segments.js';

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
      addTotals(totals, totalsOf(index.entries(first, Math.min(pileCount, first + PILES_TOGETHER))), first);
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
        recordBytes: this.#numberAt(entry, 24),
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
        throw this.#damaged(`a segment of pile ${pile} ends behind its data file`);
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
    throw this.#damaged('its description is no JSON object');
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
    return damagedPileSet(`the index ${this.#where} of a pile set is damaged: ${what}`, this.#pileSetName, this.#role);
  }
}
