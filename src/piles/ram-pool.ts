/**
 * The memory pool, in which segments stay when a job fits its budget. Threads take chunks of it and lay out segments
 * inside a chunk. Taking a chunk uses up spare memory of the job, for good: the pool lives as long as its job. When
 * the pool is full, or longer read windows have used up the spare memory, segments go to disk.
 *
 * All threads of a job share slabs of memory. The calling thread holds none of them: memory that the main thread of a
 * program has held stays resident until its collector runs, and shared memory does not make the collector run. So a thread
 * of its own holds the slabs (`workers/pool-owner.cts`) and hands them to the threads that ask. A job on one thread uses
 * that thread's own memory, which the collector does count.
 *
 * A place in the pool is one number, its byte offset; a segment never crosses a chunk, nor a chunk a slab.
 */
import { BroadcastChannel } from 'node:worker_threads';
import { AbortError } from '../errors.js';
import type { JobControl } from '../floor/job-control.js';
import { copySharedBytes } from '../io/shared-bytes.js';

/** A thread takes this much from the pool at a time. */
export const CHUNK_BYTES = 1024 * 1024;

/** Slabs in the form that travels to other threads; the memory of a single thread does not travel. */
export type PoolMemoryHandle =
  | { readonly kind: 'own'; readonly slabs: Uint8Array[]; readonly slabBytes: number }
  | { readonly kind: 'shared'; readonly channelName: string; readonly slabBytes: number };

export interface RamPoolHandle {
  readonly memory: PoolMemoryHandle;
  /** One u64: bytes taken so far. */
  readonly taken: SharedArrayBuffer;
  /** Whole chunks. */
  readonly capacityBytes: number;
}

export function ramPoolIn(memory: PoolMemoryHandle, capacityBytes: number): RamPoolHandle {
  return { memory, taken: new SharedArrayBuffer(8), capacityBytes };
}

/** A pool of at least `wantedBytes` for the calling thread alone. A chunk becomes memory when it is taken. */
export function ownRamPool(wantedBytes: number): RamPoolHandle {
  return ramPoolIn({ kind: 'own', slabs: [], slabBytes: CHUNK_BYTES }, wholeChunks(wantedBytes));
}

export function wholeChunks(byteLength: number): number {
  return Math.ceil(byteLength / CHUNK_BYTES) * CHUNK_BYTES;
}

export function takenBytes(handle: RamPoolHandle): number {
  return Number(Atomics.load(new BigInt64Array(handle.taken), 0));
}

export class RamPool {
  readonly #handle: RamPoolHandle;
  readonly #slabs: Uint8Array[];
  readonly #taken: BigInt64Array;
  readonly #control: JobControl;
  #next = 0;
  #chunkEnd = 0;

  private constructor(handle: RamPoolHandle, slabs: Uint8Array[], control: JobControl) {
    this.#handle = handle;
    this.#slabs = slabs;
    this.#taken = new BigInt64Array(handle.taken);
    this.#control = control;
  }

  static async open(handle: RamPoolHandle, control: JobControl): Promise<RamPool> {
    return new RamPool(handle, await slabsOf(handle.memory, control), control);
  }

  /** Bytes that can be stored in one piece; 0: the pool is full. */
  roomBytes(): number {
    if (this.#next === this.#chunkEnd) this.#takeChunk();
    return this.#chunkEnd - this.#next;
  }

  /** Copies at most `roomBytes()` bytes into the pool, and returns their place. */
  store(bytes: Uint8Array, offset: number, byteLength: number): number {
    if (byteLength > this.#chunkEnd - this.#next) throw new RangeError('the chunk has no room for a segment');
    const place = this.#next;
    const source = bytes.subarray(offset, offset + byteLength);
    copySharedBytes(source, this.#slabOf(place), place % this.#handle.memory.slabBytes);
    this.#next += byteLength;
    return place;
  }

  load(place: number, byteLength: number, target: Uint8Array, offset: number): void {
    const start = place % this.#handle.memory.slabBytes;
    copySharedBytes(this.#slabOf(place).subarray(start, start + byteLength), target, offset);
  }

  #slabOf(place: number): Uint8Array {
    const { kind, slabBytes } = this.#handle.memory;
    const index = Math.floor(place / slabBytes);
    if (kind === 'own') this.#slabs[index] ??= new Uint8Array(slabBytes);
    const slab = this.#slabs[index];
    if (slab === undefined) throw new RangeError(`no slab of the memory pool holds byte ${place}`);
    return slab;
  }

  #takeChunk(): void {
    for (;;) {
      const taken = Atomics.load(this.#taken, 0);
      if (Number(taken) >= this.#handle.capacityBytes || !this.#control.takeSpare(CHUNK_BYTES)) return;
      if (Atomics.compareExchange(this.#taken, 0, taken, taken + BigInt(CHUNK_BYTES)) === taken) {
        this.#next = Number(taken);
        this.#chunkEnd = this.#next + CHUNK_BYTES;
        return;
      }
      this.#control.giveSpare(CHUNK_BYTES);
    }
  }
}

export async function slabsOf(memory: PoolMemoryHandle, control: JobControl): Promise<Uint8Array[]> {
  if (memory.kind === 'own') return memory.slabs;
  return (await askPoolOwner(memory.channelName, control)).map((slab) => new Uint8Array(slab));
}

export interface PoolOwnerTask {
  readonly channelName: string;
  /** The question on that channel that it answers. */
  readonly question: string;
  readonly wantedBytes: number;
  /** The size of a slab; the last one may be smaller. */
  readonly slabBytes: number;
}

/** The question; the answer goes to every listener and is an array of the slabs. */
export const ASK_FOR_SLABS = 'slabs?';

/** How often a thread that waits for the answer looks whether the job was stopped. */
const POLL_MILLISECONDS = 50;

async function askPoolOwner(channelName: string, control: JobControl): Promise<readonly SharedArrayBuffer[]> {
  const channel = new BroadcastChannel(channelName);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      channel.onmessage = ({ data }: { readonly data: unknown }) => {
        // Questions of other threads arrive here, too.
        if (Array.isArray(data)) resolve(data);
      };
      channel.postMessage(ASK_FOR_SLABS);
      timer = setInterval(() => {
        if (control.isAborted) reject(new AbortError());
      }, POLL_MILLISECONDS);
    });
  } finally {
    clearInterval(timer);
    channel.close();
  }
}
