/** Gives the bytes of records. Whoever reads them knows neither where they lie nor how they are stored. */
import { copySharedBytes } from '../io/shared-bytes.js';
import { type Framing, NO_BYTES } from './framing.js';

export interface RecordSource {
  readonly framing: Framing;
  /**
   * Puts the next bytes at an address, `most` or fewer, and returns how many; 0: there are no more.
   * @param memory may have become another object when the bytes come.
   */
  read(memory: { readonly bytes: Uint8Array }, at: number, most: number): number | Promise<number>;
  /** Call it after the last record. @throws if what was read is not what was planned. */
  finish?(): void | Promise<void>;
}

/** A `read` of pieces, each of which is valid until the next one. */
export class PieceReader {
  readonly #pieces: AsyncIterator<Uint8Array, void>;
  #left: Uint8Array;

  /** @param first comes before the pieces. */
  constructor(pieces: AsyncIterator<Uint8Array, void>, first: Uint8Array = NO_BYTES) {
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
    copySharedBytes(piece, memory.bytes, at);
    this.#left = this.#left.subarray(piece.byteLength);
    return piece.byteLength;
  }
}
