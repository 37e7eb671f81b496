/**
 * The bytes of a memory pool, addressed by one number.
 *
 * All threads of a job share slabs of memory. The coordinator holds none of them: the main thread of a program gives
 * memory back only when its collector runs, and shared memory does not make the collector run. So a separate thread
 * keeps the slabs and hands them to the threads that ask (`workers/memory-keeper.cts`); the slabs are freed with the last
 * of these threads. A job on one thread uses that thread's own memory, which the collector does count.
 *
 * V8 copies shared memory by words only if both ends have the same alignment within a word, and else byte by byte,
 * several times as slowly. So bytes of different alignment go through a small buffer of this thread, which has the
 * alignment of the shared bytes.
 */
import { BroadcastChannel } from 'node:worker_threads';
import { AbortError } from '../errors.js';
import type { JobControl } from '../job-control.js';

/** The memory of a pool in the form that travels to other threads; the memory of a single thread does not travel. */
export type PoolMemoryHandle =
  | { readonly kind: 'own'; readonly slabs: Uint8Array[]; readonly slabBytes: number }
  | { readonly kind: 'kept'; readonly channelName: string; readonly slabBytes: number };

/** The task of the thread that keeps the slabs. */
export interface KeeperTask {
  readonly channelName: string;
  /** The channel on which it answers. */
  readonly question: string;
  readonly wantedBytes: number;
  readonly slabBytes: number;
}

/** The request on that channel; the answer goes to every listener and holds the slabs. */
export const ASK_FOR_SLABS = 'slabs?';

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
      : (await askForSlabs(handle.channelName, control)).map((slab) => new Uint8Array(slab));
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

/** How often a thread that waits for the slabs looks whether the job was stopped. */
const POLL_MILLISECONDS = 50;

async function askForSlabs(channelName: string, control: JobControl): Promise<readonly SharedArrayBuffer[]> {
  const channel = new BroadcastChannel(channelName);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      channel.onmessage = ({ data }: { readonly data: unknown }) => {
        // Requests of other threads arrive here, too.
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

const WORD_BYTES = 8;
/** Small enough to stay in the core's cache. */
const PIECE_BYTES = 64 * 1024;

let scratch: Uint8Array | undefined;

/** Copies all of `source` to `target` at `offset`; one of the two is shared memory. */
export function copySharedBytes(source: Uint8Array, target: Uint8Array, offset: number): void {
  const isShared = source.buffer instanceof SharedArrayBuffer;
  const sharedStart = isShared ? source.byteOffset : target.byteOffset + offset;
  const ownStart = isShared ? target.byteOffset + offset : source.byteOffset;
  if ((sharedStart - ownStart) % WORD_BYTES === 0) {
    target.set(source, offset);
    return;
  }
  scratch ??= new Uint8Array(PIECE_BYTES + WORD_BYTES);
  const lead = sharedStart % WORD_BYTES;
  for (let done = 0; done < source.byteLength; done += PIECE_BYTES) {
    const count = Math.min(PIECE_BYTES, source.byteLength - done);
    scratch.set(source.subarray(done, done + count), lead);
    target.set(scratch.subarray(lead, lead + count), offset + done);
  }
}
