/**
 * Where decoding must begin to reach a decoded position of a compressed file. Members that follow each other are taken
 * together until they hold as much as a cell, or more, to one *span*, which is decoded as a whole. Decoded bytes are
 * divided into cells of 32 KiB, and of each the index says which span was the last one to begin before its end: so that
 * of any position is one of two entries that lie side by side.
 *
 *     cells      |      0      |      1      |      2      |      3      |
 *     spans      |A                   |B                      |C         |
 *     entries           A             B             B             C
 *
 *     entry      u64 decoded start, u64 stored start, u32 decoded bytes, u32 stored bytes of the span,
 *                u32 CRC of the 24 bytes before, from the cell's number on
 */
import { crc32 } from 'node:zlib';
import type { Member } from '../formats/codec.js';
import { crcSeed } from './index-layout.js';

export const CELL_ENTRY_BYTES = 28;
export const CELL_BYTES = 32 * 1024;
/** What a reader of one record may have to decode, and to hold, at one time. */
export const MOST_SPAN_BYTES = 64 * 2 ** 20;

/** Whole members of a compressed file that follow each other. */
export interface Span {
  readonly decodedStart: number;
  readonly storedStart: number;
  readonly decodedBytes: number;
  readonly storedBytes: number;
}

/**
 * Takes the members of a file together, one after the other.
 * @param cellBytes that a span must hold before another one begins.
 */
export class SpanBuilder {
  readonly #take: (span: Span) => void;
  readonly #cellBytes: number;
  #decodedStart = 0;
  #storedStart = 0;

  constructor(take: (span: Span) => void, cellBytes = CELL_BYTES) {
    this.#take = take;
    this.#cellBytes = cellBytes;
  }

  add({ storedStart, decodedStart }: Pick<Member, 'storedStart' | 'decodedStart'>): void {
    if (decodedStart - this.#decodedStart < this.#cellBytes) return;
    this.end(storedStart, decodedStart);
    this.#decodedStart = decodedStart;
    this.#storedStart = storedStart;
  }

  /** The file ends there. */
  end(storedEnd: number, decodedEnd: number): void {
    const decodedBytes = decodedEnd - this.#decodedStart;
    if (decodedBytes === 0) return;
    const span = { decodedStart: this.#decodedStart, storedStart: this.#storedStart };
    this.#take({ ...span, decodedBytes, storedBytes: storedEnd - this.#storedStart });
  }
}

/** Makes the entries of all cells from the spans, one after the other. */
export class CellEncoder {
  readonly #cellBytes: number;
  #cellCount = 0;
  #last: Span | undefined;

  constructor(cellBytes = CELL_BYTES) {
    this.#cellBytes = cellBytes;
  }

  get cellCount(): number {
    return this.#cellCount;
  }

  /** @returns the entries of the cells in which no span behind this one begins. */
  add(span: Span): Buffer {
    const entries = this.#entriesUpTo(Math.floor(span.decodedStart / this.#cellBytes));
    this.#last = span;
    return entries;
  }

  /** @returns the entries of the cells that are left. */
  end(): Buffer {
    const { decodedStart, decodedBytes } = this.#last ?? { decodedStart: 0, decodedBytes: 0 };
    return this.#entriesUpTo(Math.ceil((decodedStart + decodedBytes) / this.#cellBytes));
  }

  #entriesUpTo(endCell: number): Buffer {
    const span = this.#last;
    if (span === undefined || endCell <= this.#cellCount) return Buffer.alloc(0);
    const bytes = Buffer.alloc((endCell - this.#cellCount) * CELL_ENTRY_BYTES);
    for (let at = 0; at < bytes.byteLength; at += CELL_ENTRY_BYTES) {
      writeCell(bytes, at, span, this.#cellCount);
      this.#cellCount += 1;
    }
    return bytes;
  }
}

function writeCell(bytes: Buffer, at: number, span: Span, cell: number): void {
  bytes.writeBigUInt64LE(BigInt(span.decodedStart), at);
  bytes.writeBigUInt64LE(BigInt(span.storedStart), at + 8);
  bytes.writeUInt32LE(span.decodedBytes, at + 16);
  bytes.writeUInt32LE(span.storedBytes, at + 20);
  bytes.writeUInt32LE(crc32(bytes.subarray(at, at + 24), crcSeed(cell)), at + 24);
}

/** @returns undefined when the checksum is not that of this cell. */
export function decodeCell(bytes: Buffer, cell: number): Span | undefined {
  if (crc32(bytes.subarray(0, 24), crcSeed(cell)) !== bytes.readUInt32LE(24)) return undefined;
  return {
    decodedStart: Number(bytes.readBigUInt64LE(0)),
    storedStart: Number(bytes.readBigUInt64LE(8)),
    decodedBytes: bytes.readUInt32LE(16),
    storedBytes: bytes.readUInt32LE(20),
  };
}
