/**
 * The limit that all threads of a job share when it asks for the head of the order, its first n records: no record with a
 * larger key is among them. A histogram counts the keys up to the limit. As soon as n of them are small enough for a lower
 * limit, it falls; it never rises.
 *
 *     limit u64 | lock i32 | top slot i32 | head count f64 | counted f64 | counts f64 of each slot
 */
import type { Kernel } from '../kernel/kernel.js';

/** The bits of a slot, as in the kernel: a slot for each power of two and the 7 bits after the leading one. */
const SLOT_BITS = 7n;
export const SLOT_COUNT = 64 * 2 ** Number(SLOT_BITS);
export const LARGEST_KEY = 2n ** 64n - 1n;

const LOCK = 2;
const TOP_SLOT = 3;
const HEAD_COUNT = 2;
const COUNTED = 3;
const FIRST_COUNT = 4;

export class HeadLimit {
  /** The records of the head. */
  readonly records: number;
  readonly #limit: BigUint64Array;
  readonly #words: Int32Array;
  readonly #numbers: Float64Array;

  constructor(buffer: SharedArrayBuffer) {
    this.#limit = new BigUint64Array(buffer, 0, 1);
    this.#words = new Int32Array(buffer, 0, 4);
    this.#numbers = new Float64Array(buffer);
    this.records = this.#numbers[HEAD_COUNT] ?? 0;
  }

  static create({ records, largestKey }: Pick<HeadLimit, 'records' | 'largestKey'>): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer(8 * (FIRST_COUNT + SLOT_COUNT));
    new BigUint64Array(buffer, 0, 1)[0] = largestKey;
    new Int32Array(buffer)[TOP_SLOT] = SLOT_COUNT - 1;
    new Float64Array(buffer)[HEAD_COUNT] = records;
    return buffer;
  }

  get largestKey(): bigint {
    return Atomics.load(this.#limit, 0);
  }

  /**
   * Adds the counts of more keys, and sets them to 0. Lowers the limit as far as all keys so far allow. Returns false, without
   * any effect, while another thread does this.
   */
  tryAdd(counts: Uint32Array): boolean {
    if (Atomics.compareExchange(this.#words, LOCK, 0, 1) !== 0) return false;
    const numbers = this.#numbers;
    const highest = this.#words[TOP_SLOT] ?? 0;
    let counted = numbers[COUNTED] ?? 0;
    for (let slot = 0; slot <= highest; slot++) {
      const more = counts[slot] ?? 0;
      if (more === 0) continue;
      numbers[FIRST_COUNT + slot] = (numbers[FIRST_COUNT + slot] ?? 0) + more;
      counted += more;
    }
    counts.fill(0);
    let top = highest;
    for (; top > 0; top--) {
      const below = counted - (numbers[FIRST_COUNT + top] ?? 0);
      if (below < this.records) break;
      counted = below;
    }
    numbers[COUNTED] = counted;
    if (top < highest) {
      this.#words[TOP_SLOT] = top;
      const largest = largestKeyOfSlot(top);
      if (largest < this.largestKey) Atomics.store(this.#limit, 0, largest);
    }
    Atomics.store(this.#words, LOCK, 0);
    return true;
  }
}

/** The largest key of a slot. For a slot of small keys, a key that is larger than all of them. */
function largestKeyOfSlot(slot: number): bigint {
  const exponent = BigInt(slot) >> SLOT_BITS;
  const rest = BigInt(slot) & (2n ** SLOT_BITS - 1n);
  return (((2n ** SLOT_BITS + rest + 1n) << exponent) >> SLOT_BITS) - (exponent < SLOT_BITS ? 0n : 1n);
}

export const HISTOGRAM_BYTES = 4 * SLOT_COUNT;

/** Each thread may count this part of the head before it adds its counts to those of all. */
const UNFLUSHED_SHARE = 1 / 256;

export class HeadFilter {
  readonly #kernel: Kernel;
  readonly #limit: HeadLimit;
  readonly #histogram: number;
  readonly #mostUnflushed: number;
  #unflushed = 0;

  constructor(kernel: Kernel, limit: HeadLimit, histogram: number) {
    this.#kernel = kernel;
    this.#limit = limit;
    this.#histogram = histogram;
    this.#mostUnflushed = limit.records * UNFLUSHED_SHARE;
    kernel.bytes.fill(0, histogram, histogram + HISTOGRAM_BYTES);
    this.#follow();
  }

  /** Call it after each scatter of a boundary table. */
  afterScatter(): void {
    this.#unflushed += this.#kernel.wasm.takeKeptCount() >>> 0;
    if (this.#unflushed > this.#mostUnflushed && this.#flush()) this.#unflushed = 0;
    this.#follow();
  }

  /** Call it after the last scatter. */
  end(): void {
    while (!this.#flush());
  }

  #flush(): boolean {
    return this.#limit.tryAdd(new Uint32Array(this.#kernel.bytes.buffer, this.#histogram, SLOT_COUNT));
  }

  #follow(): void {
    this.#kernel.wasm.keepUpTo(this.#limit.largestKey, this.#histogram);
  }
}
