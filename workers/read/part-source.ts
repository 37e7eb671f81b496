/**
 * The contract of a source: it gives the decoded bytes of one part of an input. Whoever reads from it knows neither where
 * the bytes lie nor how they are stored: in a file, a stream, memory, or members of a compressed file.
 */
import type { Doubt } from '../../src/formats/first-look.js';
import { contextBytesAt, type Framing, NOTHING, readerStart } from '../../src/formats/framing.js';
import type { Header } from '../../src/formats/header.js';
import type { ColumnMemory } from '../../src/formats/rows/parquet/columns/column-memory.js';
import type { JobControl } from '../../src/job-control.js';
import type { ReadSpec } from '../../src/spec.js';
import type { ThreadDecoderMemory } from '../thread-state.js';

export interface PartSource {
  readonly framing: Framing;
  readonly begin: ReadBegin;
  /** The part has the records that begin before this place. Infinity: all that the source gives. */
  readonly end: number;
  /** Of a stream, which is read for the first time here. */
  readonly header?: Header | undefined;
  /**
   * Puts the next bytes at an address, `most` or fewer, and returns how many; 0: the input ends here.
   * @param memory may have become another object when the bytes come.
   */
  read(memory: { readonly bytes: Uint8Array }, at: number, most: number): number | Promise<number>;
  /** Call it after the last record. @throws if what was read is not what was planned. */
  finish?(): void | Promise<void>;
}

/** Reads from a source, which is closed afterwards. */
export type UseOfSource<T> = (source: PartSource) => Promise<T>;

/** What sources need beside the part. */
export interface ReadContext {
  readonly read: ReadSpec;
  /** Undefined: only the header of a stream declares it. */
  readonly framing: Framing | undefined;
  readonly control: JobControl;
  readonly decoderMemory: ThreadDecoderMemory;
  /** The memory in which this thread decodes pages. */
  columns(): ColumnMemory;
  readonly told: ToldBySource;
}

/** Known while the bytes are read. */
export interface ToldBySource {
  /** The library or program that decodes the bytes; undefined for plain ones. */
  decoder?: string;
  /** What the first bytes say, if nothing looked at them before. */
  doubt?: Doubt;
}

/** Where a reader begins. */
export interface ReadBegin {
  /** The decoded position of the first byte that it gets. */
  readonly firstByte: number;
  /** Of the first one that it scans. */
  readonly scanStart: number;
  /** Whether the first bytes belong to another part. */
  readonly isBefore: boolean;
  /** How often the byte that the framing counts occurs before `scanStart`. */
  readonly countBefore: number;
}

/** For a part from decoded byte `start` on: as far back as shows whether a record begins there. */
export function beginAt(framing: Framing, start: number, headerBytes: number, countBefore = 0): ReadBegin {
  const scanStart = readerStart(framing, start, headerBytes);
  const firstByte = scanStart - contextBytesAt(framing, scanStart, headerBytes);
  return { firstByte, scanStart, isBefore: scanStart < start, countBefore };
}

/** A `read` of pieces, each of which is valid until the next one. */
export class PieceReader {
  readonly #pieces: AsyncIterator<Uint8Array, void>;
  #left: Uint8Array;

  /** @param first comes before the pieces. */
  constructor(pieces: AsyncIterator<Uint8Array, void>, first: Uint8Array = NOTHING) {
    this.#pieces = pieces;
    this.#left = first;
  }

  async read(memory: { readonly bytes: Uint8Array }, at: number, most: number): Promise<number> {
    while (this.#left.byteLength === 0) {
      const { done, value } = await this.#pieces.next();
      if (done === true) return 0;
      this.#left = value;
    }
    const piece = this.#left.subarray(0, most);
    memory.bytes.set(piece, at);
    this.#left = this.#left.subarray(piece.byteLength);
    return piece.byteLength;
  }
}
