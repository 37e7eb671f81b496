/**
 * Shared memory that a thread of its own keeps until the job ends (`workers/memory-keeper.cts`), and hands to the threads
 * that ask for it. The calling thread must not hold it: memory that it has held stays resident long after it is freed.
 */
import { BroadcastChannel } from 'node:worker_threads';
import { AbortError } from '../errors.js';
import type { JobControl } from '../job-control.js';

/** The task of the thread that keeps memory. */
export interface KeeperTask {
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

/** @throws AbortError if the job is stopped while the keeper does not answer. */
export async function askKeeper(channelName: string, control: JobControl): Promise<readonly SharedArrayBuffer[]> {
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
