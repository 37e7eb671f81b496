/** Copies of the records that the places of an output draw, with replacement, from ordered records in memory. */
import type { Arena } from '../arena.js';

/** Records in their order: the end of each, f64, then their bytes. */
export interface OrderedRecords {
  readonly buffer: SharedArrayBuffer;
  readonly records: number;
}

interface OrderedView {
  readonly ends: Float64Array;
  readonly bytes: Uint8Array;
}

export function viewOrdered({ buffer, records }: OrderedRecords): OrderedView {
  const ends = new Float64Array(buffer, 0, records);
  return { ends, bytes: new Uint8Array(buffer, ends.byteLength) };
}

/** Places whose ranks are drawn together. */
const PLACES = 1024;
const RANK_BYTES = 8;
/** Memory that the draws need in an arena. */
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
  /** The ranks of the places from `#firstPlace` on. */
  #ranks = new Float64Array(0);
  #firstPlace = 0;
  /** The bytes that the last `copy` wrote. */
  copiedBytes = 0;
  /** The sum of the hashes of all copies; only its lowest 64 bits count. */
  checksum = 0n;

  /** @param ranksAt the address of `DRAW_BYTES`. */
  constructor(arena: Arena, ranksAt: number, key: bigint, pieces: readonly OrderedRecords[]) {
    this.#arena = arena;
    this.#ranksAt = ranksAt;
    this.#key = key;
    let firstRank = 0;
    this.#pieces = pieces.map((piece) => {
      const viewed = { ...viewOrdered(piece), firstRank };
      firstRank += piece.records;
      return viewed;
    });
    this.#records = firstRank;
  }

  /**
   * Copies the records of the places [first, end) to `address`, which has room for `capacityBytes`. Stops before a record
   * that does not fit.
   * @returns the place where it stopped.
   */
  copy(first: number, end: number, address: number, capacityBytes: number): number {
    const { bytes: memory, wasm } = this.#arena.kernel;
    let filled = 0;
    let place = first;
    for (; place < end; place++) {
      const rank = this.#rankOf(place);
      const { ends, bytes, firstRank } = this.#pieceOf(rank);
      const from = startIn(ends, rank - firstRank);
      const byteLength = (ends[rank - firstRank] ?? 0) - from;
      if (byteLength > capacityBytes - filled) break;
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
    const rank = this.#rankOf(place);
    const { ends, bytes, firstRank } = this.#pieceOf(rank);
    return bytes.subarray(startIn(ends, rank - firstRank), ends[rank - firstRank]);
  }

  #rankOf(place: number): number {
    const known = this.#ranks[place - this.#firstPlace];
    if (known !== undefined) return known;
    const { wasm, bytes } = this.#arena.kernel;
    wasm.drawRanks(this.#key, BigInt(place), PLACES, BigInt(this.#records), this.#ranksAt);
    this.#ranks = new Float64Array(bytes.buffer, this.#ranksAt, PLACES).slice();
    this.#firstPlace = place;
    return this.#ranks[0] ?? 0;
  }

  /** The last piece that begins at the rank or before it. */
  #pieceOf(rank: number): Piece {
    let [low, high] = [0, this.#pieces.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#pieces[middle]?.firstRank ?? 0) <= rank) low = middle;
      else high = middle;
    }
    const piece = this.#pieces[low];
    if (piece === undefined) throw new RangeError('there is no record to draw');
    return piece;
  }
}

function startIn(ends: Float64Array, index: number): number {
  return index === 0 ? 0 : (ends[index - 1] ?? 0);
}
