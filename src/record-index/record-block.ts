/**
 * Encodes where up to 4,096 records end, in about 2 + log2(mean length) bits each: the Elias-Fano code of
 * quasi-succinct indices (P. Elias, 1974; R. Fano, 1971). It can read one value without decoding the values before it.
 *
 * Let e[j] be the end of record j, counted from the start of the block, and least the length of the shortest record.
 * The values e[j] - (j + 1) * least never decrease, and the last of them is span. With k records each value is cut at
 * bit l = floor(log2(span / k)). Its lower l bits are stored as they are. Its upper bits, upper[j], are stored as one
 * set bit: bit (upper[j] + j).
 *
 *     lower    k * l bits, from the lowest bit of the first byte on, up to whole bytes
 *     upper    k + (span >> l) bits, up to whole bytes
 *
 * If all records have the same length, the span is 0 and the block takes no bytes.
 */

export interface BlockShape {
  readonly recordCount: number;
  readonly byteLength: number;
  readonly leastBytes: number;
}

interface Code {
  readonly lowerBits: number;
  readonly lowerBytes: number;
  readonly upperBytes: number;
}

function codeOf({ recordCount, byteLength, leastBytes }: BlockShape): Code {
  const span = byteLength - recordCount * leastBytes;
  if (span === 0) return { lowerBits: 0, lowerBytes: 0, upperBytes: 0 };
  const lowerBits = Math.max(0, 31 - Math.clz32(Math.floor(span / recordCount)));
  return {
    lowerBits,
    lowerBytes: Math.ceil((recordCount * lowerBits) / 8),
    upperBytes: Math.ceil((recordCount + Math.floor(span / 2 ** lowerBits)) / 8),
  };
}

export function blockBytesOf(shape: BlockShape): number {
  const { lowerBytes, upperBytes } = codeOf(shape);
  return lowerBytes + upperBytes;
}

/** @param target must be all zero. */
export function encodeBlock(ends: Float64Array, shape: BlockShape, target: Uint8Array): void {
  const { recordCount, leastBytes } = shape;
  const { lowerBits, lowerBytes, upperBytes } = codeOf(shape);
  if (upperBytes === 0) return;
  const base = 2 ** lowerBits;
  /** Lower bits that do not fill a byte yet. */
  let pending = 0;
  let pendingBits = 0;
  let at = 0;
  for (let j = 0; j < recordCount; j++) {
    const value = (ends[j] ?? 0) - (j + 1) * leastBytes;
    const upper = Math.floor(value / base);
    const bit = upper + j;
    const byte = lowerBytes + (bit >>> 3);
    target[byte] = (target[byte] ?? 0) | (1 << (bit & 7));
    // Up to 7 + 31 bits: too many for shifts.
    pending += (value - upper * base) * 2 ** pendingBits;
    pendingBits += lowerBits;
    while (pendingBits >= 8) {
      const rest = Math.floor(pending / 256);
      target[at] = pending - rest * 256;
      at += 1;
      pending = rest;
      pendingBits -= 8;
    }
  }
  if (pendingBits > 0) target[at] = pending;
}

/** The bounds in a block count from the start of the block. */
export interface RecordBounds {
  readonly start: number;
  readonly end: number;
}

/** A reader of a block remembers the set bit of every 64th record, so that finding a record looks at few bytes. */
const RECORDS_A_SAMPLE = 64;

export class RecordBlock {
  readonly #shape: BlockShape;
  readonly #code: Code;
  readonly #bytes: Uint8Array;
  /** The byte that has the set bit of records 0, 64, 128 and so on, and the number of set bits in the bytes before. */
  readonly #sampledBytes: Uint16Array;
  readonly #sampledCounts: Uint16Array;

  constructor(bytes: Uint8Array, shape: BlockShape) {
    this.#bytes = bytes;
    this.#shape = shape;
    this.#code = codeOf(shape);
    const sampleCount = this.#code.upperBytes === 0 ? 0 : Math.ceil(shape.recordCount / RECORDS_A_SAMPLE);
    this.#sampledBytes = new Uint16Array(sampleCount);
    this.#sampledCounts = new Uint16Array(sampleCount);
    let seen = 0;
    for (let at = this.#code.lowerBytes, sample = 0; at < bytes.byteLength && sample < sampleCount; at++) {
      const count = BITS_IN_BYTE[bytes[at] ?? 0] ?? 0;
      if (seen + count > sample * RECORDS_A_SAMPLE) {
        this.#sampledBytes[sample] = at;
        this.#sampledCounts[sample] = seen;
        sample += 1;
      }
      seen += count;
    }
  }

  /** Bytes in memory. */
  get byteLength(): number {
    return this.#bytes.byteLength + 2 * this.#sampledBytes.byteLength;
  }

  boundsOf(j: number): RecordBounds {
    const { leastBytes } = this.#shape;
    if (this.#code.upperBytes === 0) return { start: j * leastBytes, end: (j + 1) * leastBytes };
    if (j === 0) return { start: 0, end: this.#valueAt(0, this.#select(0)) + leastBytes };
    const bit = this.#select(j - 1);
    const start = this.#valueAt(j - 1, bit) + j * leastBytes;
    return { start, end: this.#valueAt(j, this.#nextSet(bit + 1)) + (j + 1) * leastBytes };
  }

  /** @param bit the set bit of record j. */
  #valueAt(j: number, bit: number): number {
    const bytes = this.#bytes;
    const { lowerBits } = this.#code;
    const first = j * lowerBits;
    const at = first >>> 3;
    const shift = first & 7;
    // Up to 7 + 31 bits: too many for shifts. The bits of later records are cut off below.
    let lower = (bytes[at] ?? 0) >>> shift;
    for (let taken = 8 - shift, next = at + 1; taken < lowerBits; taken += 8, next++) {
      lower += (bytes[next] ?? 0) * 2 ** taken;
    }
    const scale = 2 ** lowerBits;
    return (bit - j) * scale + (lower % scale);
  }

  /** The place of the set bit that has j set bits before it. */
  #select(j: number): number {
    const bytes = this.#bytes;
    const { lowerBytes } = this.#code;
    const sample = Math.floor(j / RECORDS_A_SAMPLE);
    let left = j - (this.#sampledCounts[sample] ?? 0);
    for (let at = this.#sampledBytes[sample] ?? lowerBytes; at < bytes.byteLength; at++) {
      let byte = bytes[at] ?? 0;
      const count = BITS_IN_BYTE[byte] ?? 0;
      if (left >= count) {
        left -= count;
        continue;
      }
      for (; left > 0; left--) byte &= byte - 1;
      return (at - lowerBytes) * 8 + (31 - Math.clz32(byte & -byte));
    }
    throw new RangeError(`a block of ${this.#shape.recordCount} records has no record ${j}`);
  }

  #nextSet(from: number): number {
    const { lowerBytes } = this.#code;
    let at = lowerBytes + (from >>> 3);
    let byte = (this.#bytes[at] ?? 0) & (0xff << (from & 7)) & 0xff;
    while (byte === 0 && at < this.#bytes.byteLength) {
      at += 1;
      byte = this.#bytes[at] ?? 0;
    }
    return (at - lowerBytes) * 8 + (31 - Math.clz32(byte & -byte));
  }
}

const BITS_IN_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest > 0; rest >>>= 1) count += rest & 1;
  return count;
});
