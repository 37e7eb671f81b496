/**
 * The bytes of a memory pool, addressed by one number.
 *
 * All threads of a job share slabs of memory. The coordinator holds none of them: the main thread of a program gives
 * memory back only when its collector runs, and shared memory does not make the collector run. So a separate thread
 * keeps the slabs and hands them to the threads that ask (`workers/memory-keeper.cts`); the slabs are freed with the last
 * of these threads. A job on one thread uses that thread's own memory, which the collector does count.
 */
import { copySharedBytes } from '../io/shared-bytes.js';
import type { JobControl } from '../job-control.js';
import { askKeeper } from './kept-memory.js';

/** The memory of a pool in the form that travels to other threads; the memory of a single thread does not travel. */
export type PoolMemoryHandle =
  | { readonly kind: 'own'; readonly slabs: Uint8Array[]; readonly slabBytes: number }
  | { readonly kind: 'kept'; readonly channelName: string; readonly slabBytes: number };

/** One thread's view of the pool's memory. No piece may cross the end of a slab. */
export interface PoolMemory {
  store(place: number, bytes: Uint8Array): void;
  load(place: number, byteLength: number, target: Uint8Array, offset: number): void;
}

/** @throws AbortError if the job is stopped while the thread that keeps the slabs does not answer. */
export async function openPoolMemory(handle: PoolMemoryHandle, control: JobControl): Promise<PoolMemory> {
  const { slabBytes } = handle;
  const slabs =
    handle.kind === 'own'
      ? handle.slabs
      : (await askKeeper(handle.channelName, control)).map((slab) => new Uint8Array(slab));
  const slabOf = (place: number): Uint8Array => {
    const index = Math.floor(place / slabBytes);
    if (handle.kind === 'own') slabs[index] ??= new Uint8Array(slabBytes);
    const slab = slabs[index];
    if (slab === undefined) throw new RangeError(`no slab of the memory pool holds byte ${place}`);
    return slab;
  };
  return {
    store: (place, bytes) => copySharedBytes(bytes, slabOf(place), place % slabBytes),
    load: (place, byteLength, target, offset) => {
      const start = place % slabBytes;
      copySharedBytes(slabOf(place).subarray(start, start + byteLength), target, offset);
    },
  };
}
