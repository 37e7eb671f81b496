/**
 * A thread that keeps the slabs of a memory pool for a job whose threads come and go, and hands them to threads that ask
 * (`src/pile-sets/pool-memory.ts`). It reserves as many as the system gives: a page becomes memory when it is first
 * written. Its `workerData` is a `KeeperTask`; it answers with the number of bytes reserved.
 */
import type { KeeperTask } from '../src/pile-sets/pool-memory.js';

const { BroadcastChannel, parentPort, workerData } = process.getBuiltinModule('node:worker_threads');

const { channelName, question, wantedBytes, slabBytes }: KeeperTask = workerData;
const slabs: SharedArrayBuffer[] = [];
let reservedBytes = 0;
try {
  while (reservedBytes < wantedBytes) {
    const byteLength = Math.min(slabBytes, wantedBytes - reservedBytes);
    slabs.push(new SharedArrayBuffer(byteLength));
    reservedBytes += byteLength;
  }
} catch {
  // Segments beyond the reserved slabs go to disk.
}
const channel = new BroadcastChannel(channelName);
channel.onmessage = ({ data }: { data: unknown }) => {
  if (data === question) channel.postMessage(slabs);
};
parentPort?.postMessage(reservedBytes);
