/**
 * Opens the memory pool of a job. In a job on several threads, a separate thread owns its memory until the job ends:
 * memory that the calling thread has allocated stays resident long after it is freed.
 */
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { poolOwnerUrl } from '../../workers/thread-urls.js';
import { SystemError } from '../errors.js';
import type { Release } from '../floor/cleanup.js';
import { readFreeAddressBytes } from '../machine/limits.js';
import {
  ASK_FOR_SLABS,
  ownRamPool,
  type PoolMemoryHandle,
  type PoolOwnerTask,
  type RamPoolHandle,
  ramPoolIn,
  wholeChunks,
} from '../piles/ram-pool.js';
import { workerError } from './task-pool.js';
import type { JobStop } from './threads.js';

/** A typed array on Node 20 spans at most 4 GiB; slabs stay well below. */
const SLAB_BYTES = 2 ** 30;
/** Addresses that its thread needs beside the slabs: Node 26 ends a thread that has none left, instead of telling it. */
const OWNER_ADDRESS_BYTES = 2 ** 30;

/**
 * Opens a pool of at least `wantedBytes`, or of as much as the system has. If the thread that owns it ends before the
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
  return isOnCallingThread ? ownRamPool(wantedBytes) : startPoolOwner(wantedBytes, stop, releases);
}

/** Starts the thread that owns the slabs of a pool. */
export async function startPoolOwner(
  wantedBytes: number,
  stop: Pick<JobStop, 'fail'>,
  releases: Release[],
  slabBytes = SLAB_BYTES,
): Promise<RamPoolHandle> {
  const channelName = `pileshuf ${randomUUID()}`;
  const workerData: PoolOwnerTask = {
    channelName,
    question: ASK_FOR_SLABS,
    wantedBytes: wholeChunks(Math.min(wantedBytes, Math.max(0, readFreeAddressBytes() - OWNER_ADDRESS_BYTES))),
    slabBytes,
  };
  const owner = startOwnerThread(workerData);
  let isNeeded = true;
  const answer = new Promise<unknown>((resolve, reject) => {
    const fail = (reason: unknown) => {
      const error = workerError(reason);
      reject(error);
      if (isNeeded) stop.fail(error);
    };
    owner.once('message', resolve);
    // An error without a listener would end the program.
    owner.on('error', fail);
    owner.once('exit', () => fail('the thread that owns the memory has ended'));
  });
  releases.push(async () => {
    isNeeded = false;
    await owner.terminate();
  });
  return ramPoolIn({ kind: 'shared', channelName, slabBytes }, Number(await answer));
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
  const { memory, capacityBytes } = await startPoolOwner(slabCount * wholeBytes, stop, releases, wholeBytes);
  if (capacityBytes === slabCount * wholeBytes) return memory;
  throw new SystemError(
    'ERR_OUT_OF_MEMORY',
    'the system does not give the memory for records in their order; lower `memoryBytes`',
  );
}

function startOwnerThread(workerData: unknown): Worker {
  const url = poolOwnerUrl();
  try {
    return new Worker(url, { workerData, trackUnmanagedFds: false });
  } catch (error) {
    throw workerError(error);
  }
}
