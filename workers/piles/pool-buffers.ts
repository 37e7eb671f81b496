/**
 * The pile buffers of a thread in the linear memory of the pool. A full one becomes a segment where it lies, and another
 * takes its place. The others stay for the next slice.
 */
import type { RamPool } from '../../src/piles/ram-pool.js';

export class PoolBuffers {
  readonly #pool: RamPool;
  readonly #addresses: number[];

  private constructor(pool: RamPool, addresses: number[]) {
    this.#pool = pool;
    this.#addresses = addresses;
  }

  /** Returns undefined if the pool has no room for a buffer of each pile. */
  static open(pool: RamPool, pileCount: number): PoolBuffers | undefined {
    const addresses: number[] = [];
    while (addresses.length < pileCount) {
      const address = pool.takeBuffer();
      if (address === undefined) return undefined;
      addresses.push(address);
    }
    return new PoolBuffers(pool, addresses);
  }

  addressOf(pile: number): number {
    const address = this.#addresses[pile];
    if (address === undefined) throw new RangeError(`pile ${pile} has no buffer`);
    return address;
  }

  /** Gives a pile another buffer. Returns its address; undefined: the pool is full, and the pile keeps its own. */
  replace(pile: number): number | undefined {
    const address = this.#pool.takeBuffer();
    if (address !== undefined) this.#addresses[pile] = address;
    return address;
  }
}
