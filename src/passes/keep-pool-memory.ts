/**
 * The memory pool of a job with several threads: memory that a thread of its own keeps until the job ends, because what
 * the calling thread had in its hands would stay in memory long after.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { memoryKeeperUrl } from '../../workers/memory-keeper-url.js';
import type { Release } from '../cleanup.js';
import { ASK_FOR_SLABS, type KeeperTask } from '../pile-sets/pool-memory.js';
import { type RamPoolShare, ramPoolIn, wholeChunks } from '../pile-sets/ram-pool.js';
import { workerError } from './worker-error.js';

/** A typed array on Node 20 spans at most 4 GiB; slabs stay well below. */
const SLAB_BYTES = 2 ** 30;

/**
 * @param releases gives the memory back, when the threads that use it have ended.
 * @returns a pool of at least `wantedBytes`, or of what the system has.
 * @throws SystemError ERR_WORKER when no thread can be started
 */
export async function keepRamPool(wantedBytes: number, releases: Release[]): Promise<RamPoolShare> {
  const channelName = `pileshuf ${randomUUID()}`;
  const workerData: KeeperTask = {
    channelName,
    question: ASK_FOR_SLABS,
    wantedBytes: wholeChunks(wantedBytes),
    slabBytes: SLAB_BYTES,
  };
  let reservedBytes: unknown;
  try {
    const keeper = new Worker(memoryKeeperUrl, { workerData, trackUnmanagedFds: false });
    releases.push(async () => {
      await keeper.terminate();
    });
    [reservedBytes] = await once(keeper, 'message');
  } catch (error) {
    throw workerError(error);
  }
  return ramPoolIn({ kind: 'kept', channelName, slabBytes: SLAB_BYTES }, Number(reservedBytes));
}
