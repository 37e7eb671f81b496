/**
 * A thread that keeps shared memory for a job whose threads come and go, and hands it to threads that ask
 * (`src/pile-sets/kept-memory.ts`). A page becomes memory when it is first written. Its `workerData` is a `KeeperTask`; it
 * answers with the number of bytes reserved: fewer than wanted, if the system does not give them.
 */
import type { KeeperTask } from '../src/pile-sets/kept-memory.js';

const { BroadcastChannel, parentPort, workerData } = process.getBuiltinModule('node:worker_threads');

const PAGE_BYTES = 65536;
/** Of the declaration of every kernel. */
const MOST_PAGES = 65535;

const { channelName, question, wantedBytes, slabBytes }: KeeperTask = workerData;
const kept: unknown[] = [];
let reservedBytes = 0;
try {
  while (reservedBytes < wantedBytes) {
    const byteLength = Math.min(slabBytes ?? wantedBytes, wantedBytes - reservedBytes);
    kept.push(slabBytes === undefined ? linearMemory(byteLength) : new SharedArrayBuffer(byteLength));
    reservedBytes += byteLength;
  }
} catch {
  // The job does without the rest.
}
const channel = new BroadcastChannel(channelName);
channel.onmessage = ({ data }: { data: unknown }) => {
  if (data === question) channel.postMessage(kept);
};
parentPort?.postMessage(reservedBytes);

function linearMemory(byteLength: number): WebAssembly.Memory {
  const initial = Math.ceil(byteLength / PAGE_BYTES);
  return new WebAssembly.Memory({ initial, maximum: MOST_PAGES, shared: true });
}
