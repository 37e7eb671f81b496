/**
 * The memory in which pile segments stay when a job fits its budget: slabs of shared memory from
 * which threads take chunks, and lay segments out inside a chunk. A chunk is paid for with the job's
 * spare memory when it is taken, and never given back: the pool lives as long as its job. When it is
 * full, or the spare memory has gone to longer read windows, segments go to disk.
 *
 * A place in the pool is one number, its byte offset over all slabs; a segment never crosses a chunk.
 */

import { SystemError } from '../errors.js';
import type { JobControl } from '../io/job-control.js';

/** What a thread takes from the pool at one time. */
export const CHUNK_BYTES = 1024 * 1024;

/** A typed array on Node 20 spans at most 4 GiB; slabs stay well below. */
const SLAB_BYTES = 1024 * CHUNK_BYTES;

/** The pool as it travels to other threads. */
export interface RamPoolShare {
  readonly slabs: readonly SharedArrayBuffer[];
  /** One u64: bytes taken so far. */
  readonly taken: SharedArrayBuffer;
  readonly capacityBytes: number;
}

/**
 * Reserves a pool of at least `wantedBytes`. The operating system provides a page when it is first
 * written, so what stays unused costs address space only.
 */
export function createRamPool(wantedBytes: number): RamPoolShare {
  const capacityBytes = Math.ceil(wantedBytes / CHUNK_BYTES) * CHUNK_BYTES;
  const slabs: SharedArrayBuffer[] = [];
  for (let reserved = 0; reserved < capacityBytes; reserved += SLAB_BYTES) {
    slabs.push(reserveSlab(Math.min(SLAB_BYTES, capacityBytes - reserved)));
  }
  return { slabs, taken: new SharedArrayBuffer(8), capacityBytes };
}

function reserveSlab(byteLength: number): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(byteLength);
  } catch (error) {
    throw new SystemError(
      'ERR_OUT_OF_MEMORY',
      `the system does not give ${byteLength} bytes of memory to keep records in; give less to --memory`,
      { cause: error },
    );
  }
}

/** Bytes of the pool that threads have taken. */
export function takenBytes(share: RamPoolShare): number {
  return Number(Atomics.load(new BigInt64Array(share.taken), 0));
}

/** One thread's view of the pool. */
export class RamPool {
  readonly #slabs: readonly Uint8Array[];
  readonly #taken: BigInt64Array;
  readonly #capacityBytes: number;
  readonly #control: JobControl;
  #next = 0;
  #chunkEnd = 0;

  constructor(share: RamPoolShare, control: JobControl) {
    this.#control = control;
    this.#slabs = share.slabs.map((slab) => new Uint8Array(slab));
    this.#taken = new BigInt64Array(share.taken);
    this.#capacityBytes = share.capacityBytes;
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
    this.#slab(place).set(bytes.subarray(offset, offset + byteLength), place % SLAB_BYTES);
    this.#next += byteLength;
    return place;
  }

  /** Copies `byteLength` bytes from `place` to `target` at `offset`. */
  load(place: number, byteLength: number, target: Uint8Array, offset: number): void {
    const start = place % SLAB_BYTES;
    target.set(this.#slab(place).subarray(start, start + byteLength), offset);
  }

  #slab(place: number): Uint8Array {
    const slab = this.#slabs[Math.floor(place / SLAB_BYTES)];
    if (slab === undefined) throw new RangeError(`no slab of the memory pool holds byte ${place}`);
    return slab;
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
