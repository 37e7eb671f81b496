/**
 * A thread that owns shared memory for a job whose threads come and go, and hands it to threads that ask
 * (`src/piles/ram-pool.ts`). A page becomes memory when it is first written. Its `workerData` is a `PoolOwnerTask`; it
 * answers with the number of bytes reserved: fewer than wanted, if the system does not give them.
 */
import type { PoolOwnerTask } from '../src/piles/ram-pool.js';

const { BroadcastChannel, parentPort, workerData } = process.getBuiltinModule('node:worker_threads');

const { channelName, question, wantedBytes, slabBytes }: PoolOwnerTask = workerData;
const slabs: SharedArrayBuffer[] = [];
let reservedBytes = 0;
try {
  while (reservedBytes < wantedBytes) {
    const byteLength = Math.min(slabBytes, wantedBytes - reservedBytes);
    slabs.push(new SharedArrayBuffer(byteLength));
    reservedBytes += byteLength;
  }
} catch {
  // The job does without the rest.
}
const channel = new BroadcastChannel(channelName);
channel.onmessage = ({ data }: { data: unknown }) => {
  if (data === question) channel.postMessage(slabs);
};
parentPort?.postMessage(reservedBytes);
