/**
 * Segments in the order in which they are written, as plain numbers: a slice of some ten gigabytes has hundreds
 * of thousands of them.
 */

/** Contiguous bytes of one pile, at least one. */
export interface Segment {
  /** A byte offset in the data file or in the memory pool. */
  readonly place: number;
  readonly byteLength: number;
  /** What it takes in the data file: less when it is compressed, 0 when it lies in the memory pool. */
  readonly diskBytes: number;
  /** Of the bytes as they are in the end, so that it tells of all that may happen to them on the way. */
  readonly checksum: bigint;
}

const FIRST_CAPACITY = 256;
/** Pile, place, byte length, bytes on disk. */
const NUMBERS = 4;

export class SegmentLog {
  #count = 0;
  #numbers = new Float64Array(FIRST_CAPACITY * NUMBERS);
  #checksums = new BigUint64Array(FIRST_CAPACITY);

  add(pile: number, { place, byteLength, diskBytes, checksum }: Segment): void {
    if (this.#count === this.#checksums.length) this.#grow();
    const at = this.#count * NUMBERS;
    this.#numbers[at] = pile;
    this.#numbers[at + 1] = place;
    this.#numbers[at + 2] = byteLength;
    this.#numbers[at + 3] = diskBytes;
    this.#checksums[this.#count] = checksum;
    this.#count += 1;
  }

  /** How many there are. */
  get count(): number {
    return this.#count;
  }

  /** The pile of a segment, by its number in the order of writing. */
  pile(number: number): number {
    return this.#numbers[number * NUMBERS] ?? 0;
  }

  segment(number: number): Segment {
    const numbers = this.#numbers;
    const at = number * NUMBERS;
    return {
      place: numbers[at + 1] ?? 0,
      byteLength: numbers[at + 2] ?? 0,
      diskBytes: numbers[at + 3] ?? 0,
      checksum: this.#checksums[number] ?? 0n,
    };
  }

  #grow(): void {
    const [numbers, checksums] = [this.#numbers, this.#checksums];
    this.#numbers = new Float64Array(2 * numbers.length);
    this.#numbers.set(numbers);
    this.#checksums = new BigUint64Array(2 * checksums.length);
    this.#checksums.set(checksums);
  }
}
