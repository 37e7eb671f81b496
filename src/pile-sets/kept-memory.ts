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
  /** Slabs of at most this size; undefined: one linear memory. */
  readonly slabBytes: number | undefined;
}

/** The question; the answer goes to every listener and is an array of what the thread keeps. */
export const ASK_FOR_MEMORY = 'memory?';

/** How often a thread that waits for the answer looks whether the job was stopped. */
const POLL_MILLISECONDS = 50;

/** @throws AbortError if the job is stopped while the keeper does not answer. */
export async function askKeeper<Memory>(channelName: string, control: JobControl): Promise<readonly Memory[]> {
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
