/**
 * The bytes of a memory pool, addressed by one number.
 *
 * All threads of a job share slabs. The coordinator holds none of them: memory that the main thread of a program has once
 * held is given back only when its collector runs, and shared memory does not make it run. So a thread of its own keeps
 * the slabs, hands them to the threads that ask, and they go with the last of these threads (`workers/memory-keeper.cts`).
 * A job on one thread has memory of that thread, which the collector does count.
 *
 * V8 copies shared memory by words only if both ends lie alike within a word, and else byte by byte, several times as
 * slowly. So bytes that do not lie alike go through a few KiB of this thread's own, which lie like the shared ones.
 */
import { BroadcastChannel } from 'node:worker_threads';

/** As it travels to other threads; what one thread has for itself does not. */
export type PoolMemoryShare =
  | { readonly kind: 'own'; readonly slabs: Uint8Array[]; readonly slabBytes: number }
  | { readonly kind: 'kept'; readonly channelName: string; readonly slabBytes: number };

/** What the thread is told that keeps slabs. */
export interface KeeperTask {
  readonly channelName: string;
  /** It answers to this. */
  readonly question: string;
  readonly wantedBytes: number;
  readonly slabBytes: number;
}

/** What is said on the channel of that name; the answer is the slabs, to whoever listens. */
export const ASK_FOR_SLABS = 'slabs?';

/** One thread's view of it. No piece may cross the end of a slab. */
export interface PoolMemory {
  store(place: number, bytes: Uint8Array): void;
  load(place: number, byteLength: number, target: Uint8Array, offset: number): void;
}

export async function openPoolMemory(share: PoolMemoryShare): Promise<PoolMemory> {
  const { slabBytes } = share;
  const slabs =
    share.kind === 'own' ? share.slabs : (await askForSlabs(share.channelName)).map((slab) => new Uint8Array(slab));
  const slabOf = (place: number): Uint8Array => {
    const index = Math.floor(place / slabBytes);
    if (share.kind === 'own') slabs[index] ??= new Uint8Array(slabBytes);
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

function askForSlabs(channelName: string): Promise<readonly SharedArrayBuffer[]> {
  const channel = new BroadcastChannel(channelName);
  return new Promise((resolve) => {
    channel.onmessage = ({ data }: { readonly data: unknown }) => {
      // Other threads ask there as well.
      if (!Array.isArray(data)) return;
      channel.close();
      resolve(data);
    };
    channel.postMessage(ASK_FOR_SLABS);
  });
}

const WORD_BYTES = 8;
/** Small enough to stay in the cache of the core. */
const PIECE_BYTES = 64 * 1024;

let scratch: Uint8Array | undefined;

/** Copies all of `source` to `target` at `offset`; one of them is shared. */
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
