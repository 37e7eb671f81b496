/**
 * A thread that owns shared memory for a job whose threads come and go, and hands it to threads that ask
 * (`src/piles/ram-pool.ts`). A page becomes memory when it is first written. Its `workerData` is a `PoolOwnerTask`; it
 * answers with the number of bytes reserved: fewer than wanted, if the system does not give them; or that the memory is
 * linear.
 */
import type { PoolOwnerAnswer, PoolOwnerTask } from '../src/piles/ram-pool.js';

const { BroadcastChannel, parentPort, workerData } = process.getBuiltinModule('node:worker_threads');

const PAGE_BYTES = 65_536;
/** The kernel for shared memory declares as many. */
const MOST_PAGES = 65_535;

const { channelName, question, wantedBytes, slabBytes, linearBytes }: PoolOwnerTask = workerData;

/** Returns undefined if it is not wanted, or if the system does not give it. */
function reserveLinear(): WebAssembly.Memory | undefined {
  if (linearBytes === undefined) return undefined;
  try {
    const initial = Math.ceil(linearBytes / PAGE_BYTES);
    return new WebAssembly.Memory({ initial, maximum: MOST_PAGES, shared: true });
  } catch {
    return undefined;
  }
}

/** Returns as many slabs as the system gives; the job does without the rest. */
function reserveSlabs(): readonly SharedArrayBuffer[] {
  const slabs: SharedArrayBuffer[] = [];
  try {
    for (let left = wantedBytes; left > 0; left -= slabBytes)
      slabs.push(new SharedArrayBuffer(Math.min(slabBytes, left)));
  } catch {}
  return slabs;
}

const linear = reserveLinear();
const memory = linear === undefined ? reserveSlabs() : [linear];
const channel = new BroadcastChannel(channelName);
channel.onmessage = ({ data }: { data: unknown }) => {
  if (data === question) channel.postMessage(memory);
};
const reserved = memory.reduce((sum, slab) => sum + (slab instanceof SharedArrayBuffer ? slab.byteLength : 0), 0);
const answer: PoolOwnerAnswer = linear === undefined ? reserved : 'linear';
parentPort?.postMessage(answer);
