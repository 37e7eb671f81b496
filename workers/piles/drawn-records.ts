/** Fills the places of an output: with records drawn from those in memory, with replacement, or with computed numbers. */
import type { NumberOrder } from '../../src/keep/numbers.js';
import type { PoolMemoryHandle } from '../../src/piles/ram-pool.js';
import type { Arena } from '../arena.js';

/** Pieces of records in their order. A piece has a slab: where each record begins and the last one ends, u32, then their bytes. */
export interface OrderedRecords {
  readonly memory: PoolMemoryHandle;
  /** The number of records of each piece. */
  readonly records: readonly number[];
}

interface OrderedView {
  readonly starts: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Returns the bytes of the slab of a piece. @param byteLength of its records. */
export function orderedSlabBytes(records: number, byteLength: number): number {
  return (records + 1) * Uint32Array.BYTES_PER_ELEMENT + byteLength;
}

export function viewOrdered(slab: Uint8Array | undefined, records: number): OrderedView {
  if (slab === undefined) throw new RangeError('a piece of ordered records has no memory');
  const starts = new Uint32Array(slab.buffer, slab.byteOffset, records + 1);
  return { starts, bytes: slab.subarray(starts.byteLength) };
}

const PLACES = 1024;
/** The places before a copy whose records are touched: see `#touchAhead`. */
const PREFETCHED_TOGETHER = 64;
const CACHE_LINE_BYTES = 64;
const RANK_BYTES = 8;
export const DRAW_BYTES = PLACES * RANK_BYTES;
/** Up to here, a loop copies faster than a call. */
const SHORT_BYTES = 64;

interface Piece extends OrderedView {
  readonly firstRank: number;
}

export class DrawnRecords {
  readonly #arena: Arena;
  readonly #ranksAt: number;
  readonly #key: bigint;
  readonly #pieces: readonly Piece[];
  readonly #records: number;
  /** The piece of the record of each place from `#firstPlace` on, and where it begins and ends there. */
  readonly #pieceOf = new Uint16Array(PLACES);
  readonly #from = new Uint32Array(PLACES);
  readonly #to = new Uint32Array(PLACES);
  #firstPlace = Number.POSITIVE_INFINITY;
  #touched = 0;
  /** The bytes that the last `copy` wrote. */
  copiedBytes = 0;
  /** The sum of the hashes of all copies; only its lowest 64 bits count. */
  checksum = 0n;

  constructor(arena: Arena, ranksAt: number, key: bigint, slabs: readonly Uint8Array[], records: readonly number[]) {
    this.#arena = arena;
    this.#ranksAt = ranksAt;
    this.#key = key;
    let firstRank = 0;
    this.#pieces = records.map((count, piece) => {
      const viewed = { ...viewOrdered(slabs[piece], count), firstRank };
      firstRank += count;
      return viewed;
    });
    this.#records = firstRank;
  }

  /**
   * Copies the records of the places [first, end) to `address`. Stops before a record that does not fit `capacityBytes`.
   * @returns the place where it stopped.
   */
  copy(first: number, end: number, address: number, capacityBytes: number): number {
    const { bytes: memory, wasm } = this.#arena.kernel;
    let filled = 0;
    let place = first;
    for (let prefetchedEnd = first; place < end; place++) {
      const found = this.#find(place);
      if (place === prefetchedEnd) prefetchedEnd += this.#touchAhead(found);
      const from = this.#from[found] ?? 0;
      const byteLength = (this.#to[found] ?? 0) - from;
      if (byteLength > capacityBytes - filled) break;
      const { bytes } = this.#piece(found);
      const target = address + filled;
      if (byteLength > SHORT_BYTES) memory.set(bytes.subarray(from, from + byteLength), target);
      else for (let i = 0; i < byteLength; i++) memory[target + i] = bytes[from + i] ?? 0;
      this.checksum += wasm.recordHash(target, byteLength);
      filled += byteLength;
    }
    this.copiedBytes = filled;
    return place;
  }

  recordAt(place: number): Uint8Array {
    const found = this.#find(place);
    return this.#piece(found).bytes.subarray(this.#from[found], this.#to[found]);
  }

  /** Returns the index of the place in `#pieceOf`, `#from` and `#to`, which it fills anew if they lack the place. */
  #find(place: number): number {
    const known = place - this.#firstPlace;
    if (known >= 0 && known < PLACES) return known;
    const { wasm, bytes } = this.#arena.kernel;
    wasm.drawRanks(this.#key, BigInt(place), PLACES, BigInt(this.#records), this.#ranksAt);
    this.#firstPlace = place;
    const ranks = new Float64Array(bytes.buffer, this.#ranksAt, PLACES);
    for (let i = 0; i < PLACES; i++) this.#pieceOf[i] = this.#pieceWith(ranks[i] ?? 0);
    // In a loop of its own, so that the misses of its loads overlap.
    for (let i = 0; i < PLACES; i++) {
      const { starts, firstRank } = this.#piece(i);
      const index = (ranks[i] ?? 0) - firstRank;
      this.#from[i] = starts[index] ?? 0;
      this.#to[i] = starts[index + 1] ?? 0;
    }
    return 0;
  }

  /**
   * Records lie at random in the memory, so the first load of each is a miss. Plain loads of several records at once let
   * their misses overlap. Returns the number of places whose records were touched.
   */
  #touchAhead(found: number): number {
    const end = Math.min(found + PREFETCHED_TOGETHER, PLACES);
    let seen = 0;
    for (let i = found; i < end; i++) {
      const { bytes } = this.#piece(i);
      const from = this.#from[i] ?? 0;
      seen += (bytes[from] ?? 0) + (bytes[from + CACHE_LINE_BYTES] ?? 0);
    }
    this.#touched ^= seen;
    return end - found;
  }

  #piece(found: number): Piece {
    const piece = this.#pieces[this.#pieceOf[found] ?? 0];
    if (piece === undefined) throw new RangeError('there is no record to draw');
    return piece;
  }

  #pieceWith(rank: number): number {
    let [low, high] = [0, this.#pieces.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#pieces[middle]?.firstRank ?? 0) <= rank) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** The digits of 2^64, and a byte that ends them. */
const MOST_LINE_BYTES = 21;

/** Does what `DrawnRecords` does, for numbers of a range. */
export class ComputedNumbers {
  readonly #arena: Arena;
  copiedBytes = 0;
  checksum = 0n;

  constructor(arena: Arena, { low, lastOffset, key, rows, columns, end }: NumberOrder) {
    this.#arena = arena;
    arena.kernel.wasm.prepareNumbers(low, lastOffset, key, rows, columns, end);
  }

  copy(first: number, end: number, address: number, capacityBytes: number): number {
    const { wasm } = this.#arena.kernel;
    const count = Math.min(end - first, Math.floor(capacityBytes / MOST_LINE_BYTES));
    this.copiedBytes = (wasm.writeNumbers(BigInt(first), count, address) >>> 0) - address;
    this.checksum += wasm.numbersChecksum.value;
    return first + count;
  }

  recordAt(place: number): Uint8Array {
    throw new RangeError(`a buffer has no room for the number at place ${place}`);
  }
}
