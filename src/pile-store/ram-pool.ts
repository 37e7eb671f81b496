/**
 * The memory in which pile segments stay when a job fits its budget: threads take chunks of it, and lay segments out
 * inside a chunk. A chunk is paid for with the job's spare memory when it is taken, and never given back: the pool
 * lives as long as its job. When it is full, or the spare memory has gone to longer read windows, segments go to disk.
 *
 * A place in the pool is one number, its byte offset; a segment never crosses a chunk.
 */

import type { JobControl } from '../io/job-control.js';
import {
  openPoolMemory,
  type PoolMemory,
  type PoolMemoryShare,
  releasePoolMemory,
  reservePoolMemory,
} from './pool-memory.js';

/** What a thread takes from the pool at one time. */
export const CHUNK_BYTES = 1024 * 1024;

/** The pool as it travels to other threads. */
export interface RamPoolShare {
  readonly memory: PoolMemoryShare;
  /** One u64: bytes taken so far. */
  readonly taken: SharedArrayBuffer;
  readonly capacityBytes: number;
}

/** Reserves a pool of at least `wantedBytes`. @throws SystemError ERR_OUT_OF_MEMORY */
export function createRamPool(wantedBytes: number, reserve = reservePoolMemory): RamPoolShare {
  const capacityBytes = Math.ceil(wantedBytes / CHUNK_BYTES) * CHUNK_BYTES;
  return { memory: reserve(capacityBytes), taken: new SharedArrayBuffer(8), capacityBytes };
}

export function releaseRamPool(share: RamPoolShare): void {
  releasePoolMemory(share.memory);
}

/** Bytes of the pool that threads have taken. */
export function takenBytes(share: RamPoolShare): number {
  return Number(Atomics.load(new BigInt64Array(share.taken), 0));
}

/** One thread's view of the pool. */
export class RamPool {
  readonly #memory: PoolMemory;
  readonly #taken: BigInt64Array;
  readonly #capacityBytes: number;
  readonly #control: JobControl;
  #next = 0;
  #chunkEnd = 0;
  #isExhausted = false;

  constructor(share: RamPoolShare, control: JobControl) {
    this.#control = control;
    this.#memory = openPoolMemory(share.memory);
    this.#taken = new BigInt64Array(share.taken);
    this.#capacityBytes = share.capacityBytes;
  }

  /** Bytes that can be stored in one piece; 0: the pool is full. */
  roomBytes(): number {
    if (this.#isExhausted) return 0;
    if (this.#next === this.#chunkEnd) this.#takeChunk();
    return this.#chunkEnd - this.#next;
  }

  /**
   * Copies bytes into the pool.
   * @param byteLength at most `roomBytes()`.
   * @returns their place; undefined when the system has no more memory: the pool is full from now on.
   */
  store(bytes: Uint8Array, offset: number, byteLength: number): number | undefined {
    if (byteLength > this.#chunkEnd - this.#next) throw new RangeError('the chunk has no room for a segment');
    const place = this.#next;
    if (!this.#memory.store(place, bytes, offset, byteLength)) {
      this.#isExhausted = true;
      return undefined;
    }
    this.#next += byteLength;
    return place;
  }

  /** Copies `byteLength` bytes from `place` to `target` at `offset`. */
  load(place: number, byteLength: number, target: Uint8Array, offset: number): void {
    this.#memory.load(place, byteLength, target, offset);
  }

  #takeChunk(): void {
    for (;;) {
      const taken = Atomics.load(this.#taken, 0);
      if (Number(taken) >= this.#capacityBytes || !this.#control.takeSpare(CHUNK_BYTES)) return;
      if (Atomics.compareExchange(this.#taken, 0, taken, taken + BigInt(CHUNK_BYTES)) === taken) {
        this.#next = Number(taken);
        this.#chunkEnd = this.#next + CHUNK_BYTES;
        return;
      }
      this.#control.giveSpare(CHUNK_BYTES);
    }
  }
}
