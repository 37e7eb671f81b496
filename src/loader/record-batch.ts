/**
 * Records that are given together. Nothing is made for each of them until somebody looks at it.
 */

/** Good until the next batch is asked for: the memory is used again then. Copy what is to be kept. */
export class RecordBatch implements Iterable<Uint8Array> {
  /** The epoch that they are of. */
  readonly epoch: number;
  /** How many they are. */
  readonly length: number;
  readonly #bytes: Uint8Array;
  readonly #ends: Uint32Array;
  readonly #first: number;

  /** Records [first, first + length) of those that end at `ends` of `bytes`. */
  constructor(epoch: number, bytes: Uint8Array, ends: Uint32Array, first: number, length: number) {
    this.epoch = epoch;
    this.length = length;
    this.#bytes = bytes;
    this.#ends = ends;
    this.#first = first;
  }

  /** The records, one behind the other. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(this.#startOf(0), this.#startOf(this.length));
  }

  /** Where each record ends in `bytes`; made anew each time. */
  get ends(): Uint32Array {
    const start = this.#startOf(0);
    return this.#ends.slice(this.#first, this.#first + this.length).map((end) => end - start);
  }

  /** The record at this place, from 0 on, or from -1 on backwards; undefined where there is none. */
  at(index: number): Uint8Array | undefined {
    const place = index < 0 ? index + this.length : index;
    if (!Number.isInteger(place) || place < 0 || place >= this.length) return undefined;
    return this.#bytes.subarray(this.#startOf(place), this.#startOf(place + 1));
  }

  *[Symbol.iterator](): Generator<Uint8Array, void> {
    for (let index = 0; index < this.length; index++) {
      yield this.#bytes.subarray(this.#startOf(index), this.#startOf(index + 1));
    }
  }

  #startOf(index: number): number {
    const record = this.#first + index;
    return record === 0 ? 0 : (this.#ends[record - 1] ?? 0);
  }
}
