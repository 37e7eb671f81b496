/**
 * Where decoding must begin to reach a decoded position of a compressed file. Consecutive members are grouped into
 * *spans* of at least one cell, and a span is decoded as a whole. Decoded bytes are divided into cells of 32 KiB. For
 * each cell the index has the last span that begins before the end of the cell, so one of two adjacent entries has the
 * span of any position.
 *
 *     cells      |      0      |      1      |      2      |      3      |
 *     spans      |A                   |B                      |C         |
 *     entries           A             B             B             C
 *
 *     entry      u64 decoded start, u64 stored start, u32 decoded bytes, u32 stored bytes of the span,
 *                u32 CRC of the 24 bytes before, seeded with the cell's number
 */
import type { Member } from '../formats/codec.js';
import { FixedFields, type ValuesOf } from './index-layout.js';

const cellEntry = new FixedFields({ decodedStart: 8, storedStart: 8, decodedBytes: 4, storedBytes: 4 });

export const CELL_ENTRY_BYTES = cellEntry.sealedBytes;
export const CELL_BYTES = 32 * 1024;
/** The most that a reader decodes and holds at one time for one record. */
export const MOST_SPAN_BYTES = 64 * 2 ** 20;

/** Consecutive whole members of a compressed file. */
export type Span = ValuesOf<typeof cellEntry>;

export class SpanBuilder {
  readonly #take: (span: Span) => void;
  readonly #cellBytes: number;
  #decodedStart = 0;
  #storedStart = 0;

  /** @param cellBytes the least that a span holds, the last one excepted. */
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

  /** Call it with the end of the file. */
  end(storedEnd: number, decodedEnd: number): void {
    const decodedBytes = decodedEnd - this.#decodedStart;
    if (decodedBytes === 0) return;
    const span = { decodedStart: this.#decodedStart, storedStart: this.#storedStart };
    this.#take({ ...span, decodedBytes, storedBytes: storedEnd - this.#storedStart });
  }
}

/** Encodes the entries of all cells from the spans, which come in their order. */
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

  /** Returns the entries of the cells that end before this span begins. */
  add(span: Span): Buffer {
    const entries = this.#entriesUpTo(Math.floor(span.decodedStart / this.#cellBytes));
    this.#last = span;
    return entries;
  }

  end(): Buffer {
    const { decodedStart, decodedBytes } = this.#last ?? { decodedStart: 0, decodedBytes: 0 };
    return this.#entriesUpTo(Math.ceil((decodedStart + decodedBytes) / this.#cellBytes));
  }

  #entriesUpTo(endCell: number): Buffer {
    const span = this.#last;
    if (span === undefined || endCell <= this.#cellCount) return Buffer.alloc(0);
    const bytes = Buffer.alloc((endCell - this.#cellCount) * CELL_ENTRY_BYTES);
    for (let at = 0; at < bytes.byteLength; at += CELL_ENTRY_BYTES) {
      cellEntry.write(bytes, at, span);
      cellEntry.seal(bytes, at, this.#cellCount);
      this.#cellCount += 1;
    }
    return bytes;
  }
}

/** Undefined when the checksum is not that of this cell. */
export function decodeCell(bytes: Buffer, cell: number): Span | undefined {
  return cellEntry.readSealed(bytes, cell);
}
