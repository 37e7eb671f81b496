/**
 * The format of the record index of one file, which says where each record lies, for access in any order. Finding a
 * record takes a few reads at known places, however many records there are. Every byte has a checksum (CRC-32, as in
 * zlib) that a reader can verify without reading the rest:
 *
 *     byte 0   magic "pshindx1", the format's version in its last byte
 *          8   u64 records     16  u64 blocks     24  u64 place of the block table
 *         32   u64 cells       40  u32 decoded bytes a cell
 *         44   u32 stretches   48  u32 byte length of the description
 *         52   u32 CRC of the stretch table, 56 of the description, 60 of the 60 bytes before
 *         64   cells of a compressed file, 28 bytes each (see `cellEntry`)
 *              blocks (`record-block.ts`), in any order
 *              block table, 40 bytes each:
 *              u64 position of the block's first record, u64 end of its last one, u64 place of the block in the index,
 *              u32 bytes of its shortest record, u32 records, u32 CRC of the block,
 *              u32 CRC of the 36 bytes before, seeded with the block's number
 *              stretch table, 16 bytes each: u64 first record, u64 first block
 *              description, JSON
 *
 * A stretch is the part of the file that one task read. Its blocks hold 4,096 records each, the last one fewer, so the
 * stretch table says which block has record i; it is small and stays in memory. Positions count the decoded bytes of the
 * file. Each record starts where the record before it ends. All numbers are little-endian.
 */
import { crc32 } from 'node:zlib';
import type { StoredMember } from '../formats/codec.js';
import { nullable, object, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { FIRST_BYTES_OF_RECORD_INDEXES } from '../io/own-files.js';
import type { Remedy } from '../io/sealed-file.js';

export const MAGIC = Buffer.concat([FIRST_BYTES_OF_RECORD_INDEXES, Buffer.from('1', 'latin1')]);
/** A block of so many records has about 5 KB, which takes some microseconds to read and check. */
export const BLOCK_RECORDS = 4096;
/** Readers hold the stretch table in memory. */
export const MOST_STRETCHES = 2 ** 20;
export const MOST_DESCRIPTION_BYTES = 64 * 1024;
const CRC_BYTES = 4;

/** The whole numbers of an entry: `{ name: byte length }`, little-endian, without gaps. A checksum may follow them. */
class FixedFields<Name extends string> {
  /** The end of the fields: the bytes before `start` count, too. */
  readonly byteLength: number;
  readonly sealedBytes: number;
  readonly #fields: readonly { readonly name: Name; readonly at: number; readonly isWide: boolean }[];

  /** @param start the first byte of the first field. */
  constructor(fields: Readonly<Record<Name, 4 | 8>>, start = 0) {
    let end = start;
    this.#fields = (Object.entries(fields) as [Name, 4 | 8][]).map(([name, byteLength]) => {
      const at = end;
      end += byteLength;
      return { name, at, isWide: byteLength === 8 };
    });
    this.byteLength = end;
    this.sealedBytes = end + CRC_BYTES;
  }

  write(target: Buffer, offset: number, values: Readonly<Record<Name, number>>): void {
    for (const { name, at, isWide } of this.#fields) {
      if (isWide) target.writeBigUInt64LE(BigInt(values[name]), offset + at);
      else target.writeUInt32LE(values[name], offset + at);
    }
  }

  read(bytes: Buffer, offset = 0): Readonly<Record<Name, number>> {
    const values = this.#fields.map(({ name, at, isWide }) => [
      name,
      isWide ? Number(bytes.readBigUInt64LE(offset + at)) : bytes.readUInt32LE(offset + at),
    ]);
    return Object.fromEntries(values) as Record<Name, number>;
  }

  /** Writes the checksum after the fields. It is seeded with `index`: an entry in the place of another one is noticed. */
  seal(target: Buffer, offset: number, index: number): void {
    const end = offset + this.byteLength;
    target.writeUInt32LE(crc32(target.subarray(offset, end), index % 2 ** 32), end);
  }

  /** Undefined when the checksum is not that of entry `index`. */
  readSealed(bytes: Buffer, index: number): Readonly<Record<Name, number>> | undefined {
    const crc = crc32(bytes.subarray(0, this.byteLength), index % 2 ** 32);
    return crc === bytes.readUInt32LE(this.byteLength) ? this.read(bytes) : undefined;
  }
}

type ValuesOf<Fields> = Fields extends FixedFields<infer Name> ? Readonly<Record<Name, number>> : never;

export const indexHeader = new FixedFields(
  {
    recordCount: 8,
    blockCount: 8,
    blockTableAt: 8,
    cellCount: 8,
    cellBytes: 4,
    stretchCount: 4,
    descriptionBytes: 4,
    stretchTableCrc: 4,
    descriptionCrc: 4,
  },
  MAGIC.byteLength,
);
export const HEADER_BYTES = indexHeader.sealedBytes;
export type IndexHeader = ValuesOf<typeof indexHeader>;

export function encodeHeader(values: IndexHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes);
  indexHeader.write(bytes, 0, values);
  indexHeader.seal(bytes, 0, 0);
  return bytes;
}

/** `start` and `end` are decoded positions in the file, `place` is the block's position in the index. */
export const blockEntry = new FixedFields({ start: 8, end: 8, place: 8, leastBytes: 4, recordCount: 4, crc: 4 });
export const BLOCK_ENTRY_BYTES = blockEntry.sealedBytes;
export type BlockEntry = ValuesOf<typeof blockEntry>;

export const stretchEntry = new FixedFields({ firstRecord: 8, firstBlock: 8 });
export type StretchEntry = ValuesOf<typeof stretchEntry>;

export function encodeStretches(stretches: readonly StretchEntry[]): Buffer {
  const bytes = Buffer.alloc(stretches.length * stretchEntry.byteLength);
  for (const [i, stretch] of stretches.entries()) stretchEntry.write(bytes, i * stretchEntry.byteLength, stretch);
  return bytes;
}

export function decodeStretches(bytes: Buffer): StretchEntry[] {
  const { byteLength } = stretchEntry;
  return Array.from({ length: bytes.byteLength / byteLength }, (_, i) => stretchEntry.read(bytes, i * byteLength));
}

/** The facts by which an index recognizes its file. A copy with the same time counts as the same file. */
const fileFingerprint = object({
  byteLength: wholeNumber(),
  /** Modification time: nanoseconds since 1970, in decimal digits. */
  modified: text,
  /** SHA-256 of the first and the last 4 KiB, in hex. */
  ends: text,
});

export type FileFingerprint = ValueOf<typeof fileFingerprint>;

export const indexDescription = object({
  file: fileFingerprint,
  /** The format in words: `delimited 0a, header lines 1`. */
  format: text,
  /** Compression of the file; null: none. */
  codec: nullable(text),
  /** Decoded positions of the first record, and of the end of the last one. */
  recordsStart: wholeNumber(),
  recordsEnd: wholeNumber(),
  /** Bytes that the last record lacks at its end, in hex. */
  missing: text,
});

export type IndexDescription = ValueOf<typeof indexDescription>;

export function indexRemedy(file: string): Remedy {
  const again = `make it again with \`pileshuf index ${file}\``;
  return { ifDamaged: again, ifOtherVersion: again, otherVersionCode: 'ERR_INDEX_VERSION' };
}

/**
 * The place where decoding must begin to reach a decoded position of a compressed file. Consecutive members are grouped
 * into *spans* of at least one cell, and a span is decoded as a whole. Decoded bytes are divided into cells of 32 KiB.
 * For each cell the index has the last span that begins before the end of the cell, so one of two adjacent entries has
 * the span of any position.
 *
 *     cells      |      0      |      1      |      2      |      3      |
 *     spans      |A                   |B                      |C         |
 *     entries           A             B             B             C
 *
 *     entry      u64 decoded start, u64 stored start, u32 decoded bytes, u32 stored bytes of the span,
 *                u32 CRC of the 24 bytes before, seeded with the cell's number
 */
export const cellEntry = new FixedFields({ decodedStart: 8, storedStart: 8, decodedBytes: 4, storedBytes: 4 });

export const CELL_ENTRY_BYTES = cellEntry.sealedBytes;
export const CELL_BYTES = 32 * 1024;
/** The most that a reader decodes and holds at one time for one record. */
export const MOST_SPAN_BYTES = 64 * 2 ** 20;

/** Consecutive whole members of a compressed file. */
export type Span = ValuesOf<typeof cellEntry>;

/** Groups members, which come in their order, into spans, and encodes the entries of all cells. */
export class CellEncoder {
  readonly #takeSpan: (span: Span) => void;
  readonly #takeEntries: (entries: Buffer) => void;
  readonly #cellBytes: number;
  #start = { decodedStart: 0, storedStart: 0 };
  #last: Span | undefined;
  #cellCount = 0;

  /** @param cellBytes the least that a span holds, the last one excepted. */
  constructor(takeSpan: (span: Span) => void, takeEntries: (entries: Buffer) => void, cellBytes = CELL_BYTES) {
    this.#takeSpan = takeSpan;
    this.#takeEntries = takeEntries;
    this.#cellBytes = cellBytes;
  }

  get cellCount(): number {
    return this.#cellCount;
  }

  add({ storedStart, decodedStart }: Pick<StoredMember, 'storedStart' | 'decodedStart'>): void {
    if (decodedStart - this.#start.decodedStart < this.#cellBytes) return;
    this.#endSpan(storedStart, decodedStart);
    this.#encodeUpTo(Math.floor(decodedStart / this.#cellBytes));
    this.#start = { decodedStart, storedStart };
  }

  /** Call it with the end of the file. */
  end(storedEnd: number, decodedEnd: number): void {
    if (decodedEnd > this.#start.decodedStart) this.#endSpan(storedEnd, decodedEnd);
    this.#encodeUpTo(Math.ceil(decodedEnd / this.#cellBytes));
  }

  #endSpan(storedEnd: number, decodedEnd: number): void {
    const { decodedStart, storedStart } = this.#start;
    this.#last = {
      ...this.#start,
      decodedBytes: decodedEnd - decodedStart,
      storedBytes: storedEnd - storedStart,
    };
    this.#takeSpan(this.#last);
  }

  /** No later span begins before the end of these cells. */
  #encodeUpTo(endCell: number): void {
    const span = this.#last;
    if (span === undefined) return;
    const bytes = Buffer.alloc((endCell - this.#cellCount) * CELL_ENTRY_BYTES);
    for (let at = 0; at < bytes.byteLength; at += CELL_ENTRY_BYTES) {
      cellEntry.write(bytes, at, span);
      cellEntry.seal(bytes, at, this.#cellCount);
      this.#cellCount += 1;
    }
    this.#takeEntries(bytes);
  }
}
