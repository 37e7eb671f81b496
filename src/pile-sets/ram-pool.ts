/**
 * The memory pool, in which segments stay when a job fits its budget. Threads take chunks of it and lay out segments
 * inside a chunk. Taking a chunk uses up spare memory of the job, for good: the pool lives as long as its job. When
 * the pool is full, or longer read windows have used up the spare memory, segments go to disk.
 *
 * A place in the pool is one number, its byte offset; a segment never crosses a chunk.
 */
import type { JobControl } from '../job-control.js';
import { openPoolMemory, type PoolMemory, type PoolMemoryHandle } from './pool-memory.js';

/** A thread takes this much from the pool at a time. */
export const CHUNK_BYTES = 1024 * 1024;
/** Places are multiples of this, like the addresses of pile buffers: equal alignment makes copies fastest. */
const PLACE_BYTES = 8;

/** The pool in the form that travels to other threads. */
export interface RamPoolHandle {
  readonly memory: PoolMemoryHandle;
  /** One u64: bytes taken so far. */
  readonly taken: SharedArrayBuffer;
  /** Whole chunks. */
  readonly capacityBytes: number;
}

/** @param capacityBytes whole chunks, for which the memory has room. */
export function ramPoolIn(memory: PoolMemoryHandle, capacityBytes: number): RamPoolHandle {
  return { memory, taken: new SharedArrayBuffer(8), capacityBytes };
}

/** A pool of at least `wantedBytes` for the calling thread alone. A chunk becomes memory when it is taken. */
export function ownRamPool(wantedBytes: number): RamPoolHandle {
  return ramPoolIn({ kind: 'own', slabs: [], slabBytes: CHUNK_BYTES }, wholeChunks(wantedBytes));
}

/** The byte length, rounded up to whole chunks. */
export function wholeChunks(byteLength: number): number {
  return Math.ceil(byteLength / CHUNK_BYTES) * CHUNK_BYTES;
}

/** Bytes of the pool that threads have taken. */
export function takenBytes(handle: RamPoolHandle): number {
  return Number(Atomics.load(new BigInt64Array(handle.taken), 0));
}

/** One thread's view of the pool. */
export class RamPool {
  readonly #memory: PoolMemory;
  readonly #taken: BigInt64Array;
  readonly #capacityBytes: number;
  readonly #control: JobControl;
  #next = 0;
  #chunkEnd = 0;

  private constructor({ taken, capacityBytes }: RamPoolHandle, memory: PoolMemory, control: JobControl) {
    this.#control = control;
    this.#memory = memory;
    this.#taken = new BigInt64Array(taken);
    this.#capacityBytes = capacityBytes;
  }

  static async open(handle: RamPoolHandle, control: JobControl): Promise<RamPool> {
    return new RamPool(handle, await openPoolMemory(handle.memory, control), control);
  }

  /** Bytes that can be stored in one piece; 0: the pool is full. */
  roomBytes(): number {
    if (this.#next === this.#chunkEnd) this.#takeChunk();
    return this.#chunkEnd - this.#next;
  }

  /**
   * Copies bytes into the pool.
   * @param byteLength at most `roomBytes()`.
   * @returns their place.
   */
  store(bytes: Uint8Array, offset: number, byteLength: number): number {
    if (byteLength > this.#chunkEnd - this.#next) throw new RangeError('the chunk has no room for a segment');
    const place = this.#next;
    this.#memory.store(place, bytes.subarray(offset, offset + byteLength));
    this.#next += Math.ceil(byteLength / PLACE_BYTES) * PLACE_BYTES;
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
