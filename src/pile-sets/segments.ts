/**
 * Segments: contiguous bytes of one pile in one data file, or in the memory pool. A log of those that a pile set has, and
 * the contracts of what hashes and compresses them.
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

/**
 * The checksum of a segment: computed when it is written, and again when it was read.
 */
export interface SegmentHasher {
  /**
   * Checksum of a segment that lies in one piece.
   * @param bytes for this and for `add`, the memory that the hasher works on.
   */
  hash(bytes: Uint8Array, offset: number, byteLength: number): bigint;
  /** Begins the checksum of a segment that comes in pieces; meanwhile only `hash` may be used for others. */
  begin(): void;
  add(bytes: Uint8Array, offset: number, byteLength: number): void;
  /** That of all bytes added since `begin`; the same as `hash` gives, however they were cut. */
  checksum(): bigint;
}

/**
 * The contracts of what makes segments smaller on their way to disk, and of what makes them what they were.
 */
export interface SegmentCompressor {
  /**
   * @param bytes at most `MOST_COMPRESSED_BYTES`.
   * @returns fewer bytes that stand for them, good until the next call; undefined when there are none.
   */
  compress(bytes: Uint8Array): Uint8Array | undefined;
}

export interface SegmentExpander {
  /**
   * Fills all of `target` with what was compressed to `bytes`.
   * @throws Error, of any kind, when that is another number of bytes, or `bytes` are damaged.
   */
  expand(bytes: Uint8Array, target: Uint8Array): void;
}
