/**
 * The index of a pile set: for each pile how many records, bytes and segments it has and their
 * multiset checksum, then the segments, pile-major, in the order in which they were written. Any
 * range of piles is read with two reads.
 *
 *     byte 0    magic "pileset1", the format's version in its last byte
 *          8    u32 piles          12   u32 unused, 0      16   u64 segments
 *         24    u64 unused, 0
 *         32    pile table, 40 bytes each:
 *               u64 first segment, u64 segments, u64 records, u64 record bytes, u64 checksum
 *               segment table, 16 bytes each:
 *               u64 place, u32 byte length, u32 medium (0 the pile's data file, 1 the memory pool)
 *
 * All numbers little-endian. The place is a byte offset in the data file or in the memory pool.
 */
import { VerificationError } from '../errors.js';
import { closeFile, createTempFile, openForRead, readAt, versionOf, withFile, writeAt } from '../io/files.js';

const MAGIC = Buffer.from('pileset1', 'latin1');
const HEADER_BYTES = 32;
const PILE_ENTRY_BYTES = 40;
const SEGMENT_ENTRY_BYTES = 16;
const MEDIUM_RAM = 1;

/** What is known of the records of one pile. */
export interface PileTally {
  readonly records: number;
  /** Bytes of the records as they will be written, terminators included. */
  readonly recordBytes: number;
  /** Sum modulo 2^64 of the records' hashes. */
  readonly checksum: bigint;
}

/** Contiguous bytes of one pile. */
export interface Segment {
  readonly medium: 'disk' | 'ram';
  readonly place: number;
  readonly byteLength: number;
}

/** One pile of one pile set. */
export interface PileEntry extends PileTally {
  readonly segments: readonly Segment[];
}

/** Where an index lies: in a file, or in memory when nothing of its pile set went to disk. */
export type IndexSource = { readonly path: string } | { readonly bytes: Uint8Array };

/** Segments as they are written, in columns. */
export class SegmentLog {
  readonly piles: number[] = [];
  readonly places: number[] = [];
  readonly byteLengths: number[] = [];
  readonly inRam: boolean[] = [];

  add(pile: number, place: number, byteLength: number, inRam: boolean): void {
    this.piles.push(pile);
    this.places.push(place);
    this.byteLengths.push(byteLength);
    this.inRam.push(inRam);
  }
}

export function encodePileSetIndex(tallies: readonly PileTally[], log: SegmentLog): Uint8Array {
  const pileCount = tallies.length;
  const segmentCount = log.piles.length;
  const segmentsAt = HEADER_BYTES + pileCount * PILE_ENTRY_BYTES;
  // Shared memory, so that an index that stays in memory is not copied into every task.
  const bytes = Buffer.from(new SharedArrayBuffer(segmentsAt + segmentCount * SEGMENT_ENTRY_BYTES));
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(pileCount, 8);
  bytes.writeBigUInt64LE(BigInt(segmentCount), 16);

  const nextSegment = new Float64Array(pileCount + 1);
  for (const pile of log.piles) nextSegment[pile + 1] = (nextSegment[pile + 1] ?? 0) + 1;
  for (const [pile, tally] of tallies.entries()) {
    const at = HEADER_BYTES + pile * PILE_ENTRY_BYTES;
    const first = nextSegment[pile] ?? 0;
    const count = nextSegment[pile + 1] ?? 0;
    nextSegment[pile + 1] = first + count;
    bytes.writeBigUInt64LE(BigInt(first), at);
    bytes.writeBigUInt64LE(BigInt(count), at + 8);
    bytes.writeBigUInt64LE(BigInt(tally.records), at + 16);
    bytes.writeBigUInt64LE(BigInt(tally.recordBytes), at + 24);
    bytes.writeBigUInt64LE(tally.checksum, at + 32);
  }
  for (const [i, pile] of log.piles.entries()) {
    const segment = nextSegment[pile] ?? 0;
    nextSegment[pile] = segment + 1;
    const at = segmentsAt + segment * SEGMENT_ENTRY_BYTES;
    bytes.writeBigUInt64LE(BigInt(log.places[i] ?? 0), at);
    bytes.writeUInt32LE(log.byteLengths[i] ?? 0, at + 8);
    bytes.writeUInt32LE(log.inRam[i] ? MEDIUM_RAM : 0, at + 12);
  }
  return bytes;
}

export function writePileSetIndex(path: string, bytes: Uint8Array): void {
  const file = createTempFile(path);
  try {
    writeAt(file, bytes, 0, bytes.byteLength, 0);
  } finally {
    closeFile(file);
  }
}

/** Reads the entries of piles [first, end). */
export function readPileEntries(source: IndexSource, first: number, end: number): PileEntry[] {
  if ('bytes' in source) {
    return parseEntries(
      (offset, byteLength) => source.bytes.subarray(offset, offset + byteLength),
      source.bytes.byteLength,
      'memory',
      first,
      end,
    );
  }
  return withFile(openForRead(source.path, 'temp'), (file) =>
    parseEntries(
      (offset, byteLength) => {
        const bytes = new Uint8Array(byteLength);
        const count = readAt(file, bytes, 0, byteLength, offset);
        return bytes.subarray(0, count);
      },
      versionOf(file).byteLength,
      source.path,
      first,
      end,
    ),
  );
}

function parseEntries(
  read: (offset: number, byteLength: number) => Uint8Array,
  indexBytes: number,
  path: string,
  first: number,
  end: number,
): PileEntry[] {
  const damaged = (what: string) => new VerificationError(`the index ${path} of a pile set is damaged: ${what}`);
  const view = (offset: number, byteLength: number): DataView => {
    const bytes = read(offset, byteLength);
    if (bytes.byteLength !== byteLength) throw damaged(`it ends before byte ${offset + byteLength}`);
    return new DataView(bytes.buffer, bytes.byteOffset, byteLength);
  };
  const header = view(0, HEADER_BYTES);
  for (const [i, byte] of MAGIC.entries()) {
    if (header.getUint8(i) !== byte) throw damaged('its magic bytes are wrong');
  }
  const pileCount = header.getUint32(8, true);
  const segmentCount = Number(header.getBigUint64(16, true));
  const expectedBytes = HEADER_BYTES + pileCount * PILE_ENTRY_BYTES + segmentCount * SEGMENT_ENTRY_BYTES;
  if (indexBytes !== expectedBytes) throw damaged(`it has ${indexBytes} bytes, expected ${expectedBytes}`);
  if (end > pileCount) throw damaged(`it has ${pileCount} piles, expected at least ${end}`);

  const table = view(HEADER_BYTES + first * PILE_ENTRY_BYTES, (end - first) * PILE_ENTRY_BYTES);
  const number = (at: number) => Number(table.getBigUint64(at, true));
  const firstSegment = end > first ? number(0) : 0;
  const last = (end - first - 1) * PILE_ENTRY_BYTES;
  const endSegment = end > first ? number(last) + number(last + 8) : 0;
  if (endSegment < firstSegment || endSegment > segmentCount) throw damaged('its segment counts do not add up');
  const segments = view(
    HEADER_BYTES + pileCount * PILE_ENTRY_BYTES + firstSegment * SEGMENT_ENTRY_BYTES,
    (endSegment - firstSegment) * SEGMENT_ENTRY_BYTES,
  );

  const entries: PileEntry[] = [];
  let nextSegment = firstSegment;
  for (let at = 0; at < table.byteLength; at += PILE_ENTRY_BYTES) {
    if (number(at) !== nextSegment) throw damaged('its segment tables do not join');
    const pileSegments: Segment[] = [];
    for (const stop = nextSegment + number(at + 8); nextSegment < stop; nextSegment++) {
      const segmentAt = (nextSegment - firstSegment) * SEGMENT_ENTRY_BYTES;
      if (segmentAt >= segments.byteLength) throw damaged('a segment lies outside its table');
      pileSegments.push({
        place: Number(segments.getBigUint64(segmentAt, true)),
        byteLength: segments.getUint32(segmentAt + 8, true),
        medium: segments.getUint32(segmentAt + 12, true) === MEDIUM_RAM ? 'ram' : 'disk',
      });
    }
    entries.push({
      records: number(at + 16),
      recordBytes: number(at + 24),
      checksum: table.getBigUint64(at + 32, true),
      segments: pileSegments,
    });
  }
  return entries;
}
