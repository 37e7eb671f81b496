/**
 * Opens the memory pool of a job. In a job on several threads, a separate thread keeps its memory until the job ends:
 * memory that the calling thread has allocated stays resident long after it is freed.
 */
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { memoryKeeperUrl } from '../../workers/thread-urls.js';
import { SystemError } from '../errors.js';
import type { Release } from '../floor/cleanup.js';
import { readFreeAddressBytes } from '../machine/limits.js';
import {
  ASK_FOR_SLABS,
  type KeeperTask,
  ownRamPool,
  type PoolMemoryHandle,
  type RamPoolHandle,
  ramPoolIn,
  wholeChunks,
} from '../piles/ram-pool.js';
import { workerError } from './task-pool.js';
import type { JobStop } from './threads.js';

/** A typed array on Node 20 spans at most 4 GiB; slabs stay well below. */
const SLAB_BYTES = 2 ** 30;
/** Addresses that its thread needs beside the slabs: Node 26 ends a thread that has none left, instead of telling it. */
const KEEPER_ADDRESS_BYTES = 2 ** 30;

/**
 * Opens a pool of at least `wantedBytes`, or of as much as the system has. If the thread that keeps it ends before the
 * job, it stops the job.
 * @param releases frees the memory, after the threads that use it have ended.
 */
export async function openRamPool(
  wantedBytes: number,
  isOnCallingThread: boolean,
  stop: JobStop,
  releases: Release[],
): Promise<RamPoolHandle | undefined> {
  if (wantedBytes === 0) return undefined;
  return isOnCallingThread ? ownRamPool(wantedBytes) : keepRamPool(wantedBytes, stop, releases);
}

export async function keepRamPool(
  wantedBytes: number,
  stop: Pick<JobStop, 'fail'>,
  releases: Release[],
  slabBytes = SLAB_BYTES,
): Promise<RamPoolHandle> {
  const channelName = `pileshuf ${randomUUID()}`;
  const workerData: KeeperTask = {
    channelName,
    question: ASK_FOR_SLABS,
    wantedBytes: wholeChunks(Math.min(wantedBytes, Math.max(0, readFreeAddressBytes() - KEEPER_ADDRESS_BYTES))),
    slabBytes,
  };
  const keeper = openKeeper(workerData);
  let isNeeded = true;
  const answer = new Promise<unknown>((resolve, reject) => {
    const lost = (reason: unknown) => {
      const error = workerError(reason);
      reject(error);
      if (isNeeded) stop.fail(error);
    };
    keeper.once('message', resolve);
    // An error without a listener would end the program.
    keeper.on('error', lost);
    keeper.once('exit', () => lost('the thread that keeps memory has ended'));
  });
  releases.push(async () => {
    isNeeded = false;
    await keeper.terminate();
  });
  return ramPoolIn({ kind: 'kept', channelName, slabBytes }, Number(await answer));
}

/** Opens slabs of the same size. The calling thread holds none, unless it does the work itself. */
export async function openSlabs(
  slabCount: number,
  slabBytes: number,
  isOnCallingThread: boolean,
  stop: Pick<JobStop, 'fail'>,
  releases: Release[],
): Promise<PoolMemoryHandle> {
  if (isOnCallingThread) {
    const slabs = Array.from({ length: slabCount }, () => new Uint8Array(slabBytes));
    return { kind: 'own', slabs, slabBytes };
  }
  const wholeBytes = wholeChunks(slabBytes);
  const { memory, capacityBytes } = await keepRamPool(slabCount * wholeBytes, stop, releases, wholeBytes);
  if (capacityBytes === slabCount * wholeBytes) return memory;
  throw new SystemError(
    'ERR_OUT_OF_MEMORY',
    'the system does not give the memory for records in their order; lower `memoryBytes`',
  );
}

function openKeeper(workerData: unknown): Worker {
  const url = memoryKeeperUrl();
  try {
    return new Worker(url, { workerData, trackUnmanagedFds: false });
  } catch (error) {
    throw workerError(error);
  }
}
