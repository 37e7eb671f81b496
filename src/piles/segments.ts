/**
 * Segments: contiguous bytes of one pile, at least one, in one data file or in the memory pool. The log of a pile set's
 * segments, and the contracts of the hasher and the compressor of segments.
 */

export interface Segment {
  /** A byte offset in the data file or in the memory pool. */
  readonly place: number;
  readonly byteLength: number;
  /** Its bytes in the data file: fewer when it is compressed, 0 when it lies in the memory pool. */
  readonly diskBytes: number;
  /**
   * The checksum of the uncompressed bytes, so that it covers compression, writing and reading. A segment in a linear memory
   * has none: it is not copied, and the totals of its pile cover its records and their keys.
   */
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

/** Computes the checksum of a segment: when it is written, and again when it has been read. */
export interface SegmentHasher {
  /**
   * Checksum of a segment that lies in one piece.
   * @param bytes here and in `add`: the memory that the hasher works on.
   */
  hash(bytes: Uint8Array, offset: number, byteLength: number): bigint;
  /** Begins the checksum of a segment that comes in pieces; until it ends, only `hash` may be used for others. */
  begin(): void;
  add(bytes: Uint8Array, offset: number, byteLength: number): void;
  /** The checksum of all bytes added since `begin`: equal to that of `hash`, whatever the pieces. */
  checksum(): bigint;
}

export interface SegmentCompressor {
  /**
   * @param bytes at most `MOST_COMPRESSED_BYTES`.
   * @returns the compressed bytes, valid until the next call; undefined when they would not be fewer.
   */
  compress(bytes: Uint8Array): Uint8Array | undefined;
}

export interface SegmentExpander {
  /**
   * Fills all of `target` with the expanded `bytes`.
   * @throws Error, of any kind, when the length differs or `bytes` are damaged.
   */
  expand(bytes: Uint8Array, target: Uint8Array): void;
}
