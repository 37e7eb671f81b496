/**
 * The memory pool, in which segments stay when a job fits its budget. Threads take chunks of it and lay out segments
 * inside a chunk. Taking a chunk uses up spare memory of the job, for good: the pool lives as long as its job. When
 * the pool is full, or longer read windows have used up the spare memory, segments go to disk.
 *
 * The calling thread holds none of it: memory that the main thread of a program has held stays resident until its collector
 * runs, and shared memory does not make the collector run. So a thread of its own holds the memory (`workers/pool-owner.cts`)
 * and hands it to the threads that ask. A job on one thread uses that thread's own memory, which the collector does count.
 *
 * The memory is a linear memory in which the threads work, too (linear-memory.ts), or it is made of slabs, to which segments
 * are copied. A place in the pool is one number: in a linear memory the address, else the byte offset. A segment never
 * crosses a chunk, nor a chunk a slab.
 */
import { BroadcastChannel } from 'node:worker_threads';
import { AbortError } from '../errors.js';
import type { JobControl } from '../floor/job-control.js';
import { copySharedBytes } from '../io/shared-bytes.js';
import { type LinearLayout, type MemoryPart, MOST_LINEAR_BYTES, partAt, poolStartOf } from './linear-memory.js';
import { PoolBuffers } from './pool-buffers.js';

/** A thread takes this much from the pool at a time. */
export const CHUNK_BYTES = 1024 * 1024;

/** Slabs in the form that travels to other threads; the memory of a single thread does not travel. */
export type PoolMemoryHandle =
  | { readonly kind: 'own'; readonly slabs: Uint8Array[]; readonly slabBytes: number }
  | { readonly kind: 'shared'; readonly channelName: string; readonly slabBytes: number };

export interface RamPoolHandle {
  readonly memory: PoolMemoryHandle;
  /** Set if the memory is one linear memory. */
  readonly linear?: LinearLayout | undefined;
  /** Three u64: bytes taken so far; parts taken so far; bytes that threads have used of retired parts. */
  readonly taken: SharedArrayBuffer;
  readonly capacityBytes: number;
}

const TAKEN_BYTES = 0;
const TAKEN_PARTS = 1;
const RETIRED_BYTES = 2;

export function ramPoolIn(memory: PoolMemoryHandle, capacityBytes: number, linear?: LinearLayout): RamPoolHandle {
  return { memory, linear, taken: new SharedArrayBuffer(3 * 8), capacityBytes };
}

/**
 * Has all threads use arenas of their own from their next task on.
 * @param usedBytes what each has used of its part, which stays in memory.
 */
export function retireParts({ linear, taken }: RamPoolHandle, usedBytes: number): void {
  if (linear === undefined) return;
  Atomics.store(new BigInt64Array(taken), RETIRED_BYTES, BigInt(linear.partCount * Math.max(1, usedBytes)));
}

/** Returns the layout of the parts in which threads work; undefined: they have arenas of their own. */
export function partsOf({ linear, taken }: RamPoolHandle): LinearLayout | undefined {
  return Atomics.load(new BigInt64Array(taken), RETIRED_BYTES) === 0n ? linear : undefined;
}

/** A pool of at least `wantedBytes` for the calling thread alone. A chunk becomes memory when it is taken. */
export function ownRamPool(wantedBytes: number): RamPoolHandle {
  return ramPoolIn({ kind: 'own', slabs: [], slabBytes: CHUNK_BYTES }, wholeChunks(wantedBytes));
}

export function wholeChunks(byteLength: number): number {
  return Math.ceil(byteLength / CHUNK_BYTES) * CHUNK_BYTES;
}

export function takenBytes({ taken }: RamPoolHandle): number {
  return Number(Atomics.load(new BigInt64Array(taken), TAKEN_BYTES));
}

/** Returns the memory that retired parts hold. */
export function retiredBytes({ taken }: RamPoolHandle): number {
  return Number(Atomics.load(new BigInt64Array(taken), RETIRED_BYTES));
}

/** A region from which a thread takes one place after the other. */
interface Chunk {
  next: number;
  end: number;
}

export class RamPool {
  readonly #handle: RamPoolHandle;
  readonly #slabs: Uint8Array[];
  readonly #slabBytes: number;
  readonly #start: number;
  readonly #taken: BigInt64Array;
  readonly #control: JobControl;
  readonly #part: MemoryPart | undefined;
  readonly #forSegments: Chunk = { next: 0, end: 0 };
  readonly #forBuffers: Chunk = { next: 0, end: 0 };
  #pileBuffers: PoolBuffers | undefined;

  private constructor(handle: RamPoolHandle, memory: Uint8Array[] | WebAssembly.Memory, control: JobControl) {
    const { linear } = handle;
    this.#handle = handle;
    this.#slabs = Array.isArray(memory) ? memory : [new Uint8Array(memory.buffer)];
    this.#slabBytes = linear === undefined ? handle.memory.slabBytes : MOST_LINEAR_BYTES;
    this.#start = linear === undefined ? 0 : poolStartOf(linear);
    this.#taken = new BigInt64Array(handle.taken);
    this.#control = control;
    if (linear !== undefined && !Array.isArray(memory)) this.#part = this.#takePart(linear, memory);
  }

  static async open(handle: RamPoolHandle, control: JobControl): Promise<RamPool> {
    const { memory, linear } = handle;
    if (linear === undefined || memory.kind === 'own')
      return new RamPool(handle, await slabsOf(memory, control), control);
    const [shared] = await askPoolOwner<WebAssembly.Memory>(memory.channelName, control);
    if (shared === undefined) throw new RangeError('the thread that owns the memory has none');
    return new RamPool(handle, shared, control);
  }

  /** The part of this thread, whose arena can work on the pool. Undefined: its arena is elsewhere. */
  get part(): MemoryPart | undefined {
    return partsOf(this.#handle) && this.#part;
  }

  get isLinear(): boolean {
    return this.#handle.linear !== undefined;
  }

  /** True if the places of segments are addresses of `memory`. */
  liesIn(memory: Uint8Array): boolean {
    return this.#part?.memory.buffer === memory.buffer;
  }

  /** Bytes that can be stored in one piece; 0: the pool is full. */
  roomBytes(): number {
    const chunk = this.#forSegments;
    if (chunk.next === chunk.end) this.#takeChunk(chunk, CHUNK_BYTES);
    return chunk.end - chunk.next;
  }

  /** Copies at most `roomBytes()` bytes into the pool, and returns their place. */
  store(bytes: Uint8Array, offset: number, byteLength: number): number {
    const chunk = this.#forSegments;
    if (byteLength > chunk.end - chunk.next) throw new RangeError('the chunk has no room for a segment');
    const place = chunk.next;
    copySharedBytes(bytes.subarray(offset, offset + byteLength), this.#slabOf(place), place % this.#slabBytes);
    chunk.next += byteLength;
    return place;
  }

  /** The pile buffers of this thread in a linear memory. Undefined: the pool has no room for them, or is no such memory. */
  pileBuffers(pileCount: number): PoolBuffers | undefined {
    if (this.isLinear) this.#pileBuffers ??= PoolBuffers.open(pileCount, () => this.#takeBuffer());
    return this.#pileBuffers;
  }

  /** Takes room for a pile buffer with its slack. Returns its address; undefined: the pool is full. */
  #takeBuffer(): number | undefined {
    const strideBytes = this.#handle.linear?.bufferStrideBytes ?? 0;
    const chunk = this.#forBuffers;
    if (chunk.next === chunk.end) this.#takeChunk(chunk, strideBytes * Math.ceil(CHUNK_BYTES / strideBytes));
    if (chunk.next === chunk.end) return undefined;
    const address = chunk.next;
    chunk.next += strideBytes;
    return address;
  }

  load(place: number, byteLength: number, target: Uint8Array, offset: number): void {
    const start = place % this.#slabBytes;
    copySharedBytes(this.#slabOf(place).subarray(start, start + byteLength), target, offset);
  }

  #slabOf(place: number): Uint8Array {
    const slabBytes = this.#slabBytes;
    const index = Math.floor(place / slabBytes);
    if (this.#handle.memory.kind === 'own') this.#slabs[index] ??= new Uint8Array(slabBytes);
    const slab = this.#slabs[index];
    if (slab === undefined) throw new RangeError(`no slab of the memory pool holds byte ${place}`);
    return slab;
  }

  #takeChunk(chunk: Chunk, byteLength: number): void {
    for (;;) {
      const taken = Atomics.load(this.#taken, TAKEN_BYTES);
      const end = Number(taken) + byteLength;
      if (end > this.#handle.capacityBytes || !this.#control.takeSpare(byteLength)) return;
      if (Atomics.compareExchange(this.#taken, TAKEN_BYTES, taken, BigInt(end)) === taken) {
        chunk.next = this.#start + Number(taken);
        chunk.end = this.#start + end;
        return;
      }
      this.#control.giveSpare(byteLength);
    }
  }

  /** Threads that come after those of the plan have no part. */
  #takePart(layout: LinearLayout, memory: WebAssembly.Memory): MemoryPart | undefined {
    const index = Number(Atomics.add(this.#taken, TAKEN_PARTS, 1n));
    return index < layout.partCount ? { memory, ...partAt(layout, index) } : undefined;
  }
}

export async function slabsOf(memory: PoolMemoryHandle, control: JobControl): Promise<Uint8Array[]> {
  if (memory.kind === 'own') return memory.slabs;
  return (await askPoolOwner<SharedArrayBuffer>(memory.channelName, control)).map((slab) => new Uint8Array(slab));
}

export interface PoolOwnerTask {
  readonly channelName: string;
  /** The question on that channel that it answers. */
  readonly question: string;
  readonly wantedBytes: number;
  /** The size of a slab; the last one may be smaller. */
  readonly slabBytes: number;
  /** The size of one linear memory, which it tries first. Absent: slabs are wanted. */
  readonly linearBytes?: number | undefined;
}

/** The owner answers with the bytes of all slabs, or says that the memory is linear. */
export type PoolOwnerAnswer = number | 'linear';

/** The question; the answer goes to every listener and is an array of the slabs, or of one linear memory. */
export const ASK_FOR_MEMORY = 'memory?';

/** How often a thread that waits for the answer looks whether the job was stopped. */
const POLL_MILLISECONDS = 50;

async function askPoolOwner<Memory>(channelName: string, control: JobControl): Promise<readonly Memory[]> {
  const channel = new BroadcastChannel(channelName);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      channel.onmessage = ({ data }: { readonly data: unknown }) => {
        // Questions of other threads arrive here, too.
        if (Array.isArray(data)) resolve(data);
      };
      channel.postMessage(ASK_FOR_MEMORY);
      timer = setInterval(() => {
        if (control.isAborted) reject(new AbortError());
      }, POLL_MILLISECONDS);
    });
  } finally {
    clearInterval(timer);
    channel.close();
  }
}
