/**
 * The bytes of a memory pool, addressed by one number.
 *
 * All threads of a job share slabs. None of the coordinator's is among them: what the main thread of a program has
 * once had in its hands is given back when its collector comes to it, which shared memory does not make it do. So a
 * thread keeps the slabs, which hands them to those that ask, and they go with the last of these threads
 * (`workers/memory-keeper.cts`). A job on one thread has memory of that thread, which the collector does count.
 */
import { BroadcastChannel } from 'node:worker_threads';
import { copySharedBytes } from './copy-shared-bytes.js';

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
