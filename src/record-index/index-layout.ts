/**
 * The record index of one file: where each of its records lies, for access in any order. Every byte is covered by a
 * checksum (CRC-32, as of zlib) that whoever reads it can verify without reading the rest, and what a record needs is
 * found with a few reads at known places, however many records there are:
 *
 *     byte 0   magic "pshindx1", the format's version in its last byte
 *          8   u64 records     16  u64 blocks     24  u64 place of the block table
 *         32   u64 cells       40  u32 decoded bytes a cell
 *         44   u32 stretches   48  u32 byte length of the description
 *         52   u32 CRC of the stretch table, 56 of the description, 60 of the 60 bytes before
 *         64   cells, 28 bytes each (`member-cells.ts`), of a compressed file
 *              blocks (`record-block.ts`), in any order
 *              block table, 40 bytes each:
 *              u64 position of the block's first record, u64 end of its last one, u64 place of the block in the index,
 *              u32 bytes of its shortest record, u32 records, u32 CRC of the block,
 *              u32 CRC of the 36 bytes before, from the block's number on
 *              stretch table, 16 bytes each: u64 first record, u64 first block
 *              description, JSON (`index-description.ts`)
 *
 * A stretch is what one task found, or a part of that: its blocks hold 4,096 records each, the last one fewer.
 * So which block has record i follows from the stretch table, which is small and kept in memory. Positions count the
 * decoded bytes of the file. Records join: one begins where the one before ends. All numbers are little-endian.
 */
import { crc32 } from 'node:zlib';

export const MAGIC = Buffer.from('pshindx1', 'latin1');
/** Of all versions. */
export const FIRST_BYTES_OF_RECORD_INDEXES = MAGIC.subarray(0, -1);
export const HEADER_BYTES = 64;
export const BLOCK_ENTRY_BYTES = 40;
export const STRETCH_ENTRY_BYTES = 16;
/** Records of a block: it has about 5 KB then, which is read and checked in some microseconds. */
export const BLOCK_RECORDS = 4096;
/** A reader keeps the stretch table in memory. */
export const MOST_STRETCHES = 2 ** 20;
export const MOST_DESCRIPTION_BYTES = 64 * 1024;

/** What the header says of the tables. */
export interface IndexHeader {
  readonly recordCount: number;
  readonly blockCount: number;
  readonly blockTableAt: number;
  readonly cellCount: number;
  readonly cellBytes: number;
  readonly stretchCount: number;
  readonly descriptionBytes: number;
  readonly stretchTableCrc: number;
  readonly descriptionCrc: number;
}

/** Where one block of records lies, in the file and in the index. */
export interface BlockEntry {
  /** Decoded position of the first record, and of the end of the last one. */
  readonly start: number;
  readonly end: number;
  readonly place: number;
  readonly leastBytes: number;
  readonly recordCount: number;
  readonly crc: number;
}

export interface StretchEntry {
  readonly firstRecord: number;
  readonly firstBlock: number;
}

export function encodeHeader(header: IndexHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes.writeBigUInt64LE(BigInt(header.recordCount), 8);
  bytes.writeBigUInt64LE(BigInt(header.blockCount), 16);
  bytes.writeBigUInt64LE(BigInt(header.blockTableAt), 24);
  bytes.writeBigUInt64LE(BigInt(header.cellCount), 32);
  bytes.writeUInt32LE(header.cellBytes, 40);
  bytes.writeUInt32LE(header.stretchCount, 44);
  bytes.writeUInt32LE(header.descriptionBytes, 48);
  bytes.writeUInt32LE(header.stretchTableCrc, 52);
  bytes.writeUInt32LE(header.descriptionCrc, 56);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60);
  return bytes;
}

/** @returns undefined when its checksum is wrong. */
export function decodeHeader(bytes: Buffer): IndexHeader | undefined {
  if (crc32(bytes.subarray(0, 60)) !== bytes.readUInt32LE(60)) return undefined;
  return {
    recordCount: Number(bytes.readBigUInt64LE(8)),
    blockCount: Number(bytes.readBigUInt64LE(16)),
    blockTableAt: Number(bytes.readBigUInt64LE(24)),
    cellCount: Number(bytes.readBigUInt64LE(32)),
    cellBytes: bytes.readUInt32LE(40),
    stretchCount: bytes.readUInt32LE(44),
    descriptionBytes: bytes.readUInt32LE(48),
    stretchTableCrc: bytes.readUInt32LE(52),
    descriptionCrc: bytes.readUInt32LE(56),
  };
}

/** All but the checksum, which follows from the block's number. */
export function writeBlockEntry(table: Buffer, offset: number, entry: BlockEntry): void {
  table.writeBigUInt64LE(BigInt(entry.start), offset);
  table.writeBigUInt64LE(BigInt(entry.end), offset + 8);
  table.writeBigUInt64LE(BigInt(entry.place), offset + 16);
  table.writeUInt32LE(entry.leastBytes, offset + 24);
  table.writeUInt32LE(entry.recordCount, offset + 28);
  table.writeUInt32LE(entry.crc, offset + 32);
}

/** Writes the checksums of the entries of a block table, the first of which is that of block `firstBlock`. */
export function sealBlockEntries(table: Buffer, firstBlock: number): void {
  for (let at = 0; at < table.byteLength; at += BLOCK_ENTRY_BYTES) {
    const seed = crcSeed(firstBlock + at / BLOCK_ENTRY_BYTES);
    table.writeUInt32LE(crc32(table.subarray(at, at + 36), seed), at + 36);
  }
}

/** @returns undefined when its checksum is not that of block `index`. */
export function decodeBlockEntry(bytes: Buffer, index: number): BlockEntry | undefined {
  if (crc32(bytes.subarray(0, 36), crcSeed(index)) !== bytes.readUInt32LE(36)) return undefined;
  return {
    start: Number(bytes.readBigUInt64LE(0)),
    end: Number(bytes.readBigUInt64LE(8)),
    place: Number(bytes.readBigUInt64LE(16)),
    leastBytes: bytes.readUInt32LE(24),
    recordCount: bytes.readUInt32LE(28),
    crc: bytes.readUInt32LE(32),
  };
}

/** What a checksum begins with, so that an entry that lies in the place of another one is found out. */
export function crcSeed(index: number): number {
  return index % 2 ** 32;
}

export function encodeStretches(stretches: readonly StretchEntry[]): Buffer {
  const bytes = Buffer.alloc(stretches.length * STRETCH_ENTRY_BYTES);
  for (const [i, { firstRecord, firstBlock }] of stretches.entries()) {
    bytes.writeBigUInt64LE(BigInt(firstRecord), i * STRETCH_ENTRY_BYTES);
    bytes.writeBigUInt64LE(BigInt(firstBlock), i * STRETCH_ENTRY_BYTES + 8);
  }
  return bytes;
}

export function decodeStretches(bytes: Buffer): StretchEntry[] {
  return Array.from({ length: bytes.byteLength / STRETCH_ENTRY_BYTES }, (_, i) => ({
    firstRecord: Number(bytes.readBigUInt64LE(i * STRETCH_ENTRY_BYTES)),
    firstBlock: Number(bytes.readBigUInt64LE(i * STRETCH_ENTRY_BYTES + 8)),
  }));
}
