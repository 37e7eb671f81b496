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
import { linearBytesOf } from '../piles/linear-memory.js';
import {
  ASK_FOR_MEMORY,
  ownRamPool,
  type PoolMemoryHandle,
  type PoolOwnerAnswer,
  type PoolOwnerTask,
  type RamPoolHandle,
  ramPoolIn,
  wholeChunks,
} from '../piles/ram-pool.js';
import { type LinearPool, planLinearPool } from '../plan/linear-pool.js';
import type { MemoryPlan } from '../plan/memory-plan.js';
import { workerError } from './task-pool.js';
import type { JobStop } from './threads.js';

/** A typed array on Node 20 spans at most 4 GiB; slabs stay well below. */
const SLAB_BYTES = 2 ** 30;
/** Addresses that its thread needs beside the slabs: Node 26 ends a thread that has none left, instead of telling it. */
const OWNER_ADDRESS_BYTES = 2 ** 30;
/** V8 reserves as many addresses for each linear memory. */
const LINEAR_ADDRESS_BYTES = 10 * 2 ** 30;
/** Addresses that the threads need beside linear memories. */
const THREADS_ADDRESS_BYTES = 6 * 2 ** 30;

/**
 * Opens the pool of a plan, or as much of it as the system has. If the thread that owns it ends before the job, it stops
 * the job.
 * @param mayBeLinear false: the threads need arenas of their own, because they may grow.
 * @param releases frees the memory, after the threads that use it have ended.
 */
export async function openRamPool(
  plan: MemoryPlan,
  { isOnCallingThread, mayBeLinear }: { readonly isOnCallingThread: boolean; readonly mayBeLinear: boolean },
  stop: JobStop,
  releases: Release[],
): Promise<RamPoolHandle | undefined> {
  const { ramPoolBytes } = plan;
  if (ramPoolBytes === 0) return undefined;
  if (isOnCallingThread) return ownRamPool(ramPoolBytes);
  return startPoolOwner(ramPoolBytes, stop, releases, { linear: mayBeLinear ? planLinearPool(plan) : undefined });
}

interface PoolShape {
  readonly slabBytes?: number;
  /** The linear memory that is tried first. */
  readonly linear?: LinearPool | undefined;
}

/** Starts the thread that owns the memory of a pool. */
export async function startPoolOwner(
  wantedBytes: number,
  stop: Pick<JobStop, 'fail'>,
  releases: Release[],
  { slabBytes = SLAB_BYTES, linear }: PoolShape = {},
): Promise<RamPoolHandle> {
  const channelName = `pileshuf ${randomUUID()}`;
  const freeAddressBytes = readFreeAddressBytes();
  // Threads that leave their parts have memories of their own, too.
  const addressBytes = THREADS_ADDRESS_BYTES + LINEAR_ADDRESS_BYTES * (1 + (linear?.layout.partCount ?? 0));
  const workerData: PoolOwnerTask = {
    channelName,
    question: ASK_FOR_MEMORY,
    wantedBytes: wholeChunks(Math.min(wantedBytes, Math.max(0, freeAddressBytes - OWNER_ADDRESS_BYTES))),
    slabBytes,
    linearBytes:
      linear === undefined || freeAddressBytes < addressBytes
        ? undefined
        : linearBytesOf(linear.layout, linear.capacityBytes),
  };
  const owner = startOwnerThread(workerData);
  let isNeeded = true;
  const answering = new Promise<PoolOwnerAnswer>((resolve, reject) => {
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
  const answer = await answering;
  const memory = { kind: 'shared', channelName, slabBytes } as const;
  if (answer !== 'linear') return ramPoolIn(memory, answer);
  if (linear === undefined) throw new RangeError('nobody wants a linear memory');
  return ramPoolIn(memory, linear.capacityBytes, linear.layout);
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
  const { memory, capacityBytes } = await startPoolOwner(slabCount * wholeBytes, stop, releases, {
    slabBytes: wholeBytes,
  });
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
