/**
 * The memory that all threads of a job share: the memory for records and the memory pool. In a job on several threads, a
 * separate thread keeps each until the job ends, because memory that the calling thread has allocated stays resident long
 * after it is freed.
 */
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { HoldSettings } from '../../workers/settings.js';
import { memoryKeeperUrl } from '../../workers/thread-urls.js';
import type { Release } from '../cleanup.js';
import { ASK_FOR_MEMORY, type KeeperTask } from '../pile-sets/kept-memory.js';
import { ownRamPool, type RamPoolHandle, ramPoolIn, wholeChunks } from '../pile-sets/ram-pool.js';
import type { HoldPlan } from '../plan/hold-plan.js';
import type { MemoryPlan } from '../plan/memory-plan.js';
import { workerError } from './task-pool.js';
import type { JobStop } from './threads.js';

/** The memory for records, and how they are held there. */
export interface OpenRecordMemory {
  readonly hold: HoldSettings;
  readonly holdPlan: HoldPlan;
  /** Frees it when the threads that use it have ended. */
  readonly release: () => Promise<void>;
}

export interface JobMemory {
  readonly ramPool: RamPoolHandle | undefined;
  /** Undefined: records do not stay where they are read, or the system does not give the memory. */
  readonly recordMemory: OpenRecordMemory | undefined;
}

/**
 * @param releases frees the memory, after the threads that use it have ended.
 * @throws SystemError ERR_WORKER if a thread that keeps memory cannot start. If it ends later, before the job, it stops the
 *   job.
 */
export async function openJobMemory(
  { ramPoolBytes, hold }: Pick<MemoryPlan, 'ramPoolBytes' | 'hold'>,
  isOnCallingThread: boolean,
  stop: JobStop,
  releases: Release[],
): Promise<JobMemory> {
  const [ramPool, recordMemory] = await Promise.all([
    openRamPool(ramPoolBytes, isOnCallingThread, stop, releases),
    hold && openRecordMemory(hold, isOnCallingThread, stop, releases),
  ]);
  return { ramPool, recordMemory };
}

async function openRecordMemory(
  holdPlan: HoldPlan,
  isOnCallingThread: boolean,
  stop: JobStop,
  releases: Release[],
): Promise<OpenRecordMemory | undefined> {
  const { memoryBytes: byteLength, ownEnd, pass1End, pileCount, blockBytes, regionBytes, pieceBytes } = holdPlan;
  const open = (channelName: string | undefined, release: () => Promise<void>) => {
    const memory = { channelName, byteLength, ownEnd, pass1End };
    return { hold: { memory, pileCount, blockBytes, regionBytes, pieceBytes }, holdPlan, release };
  };
  if (isOnCallingThread) return open(undefined, async () => {});
  const kept = await keepMemory(byteLength, undefined, stop, releases);
  return kept.byteLength < byteLength ? undefined : open(kept.channelName, kept.release);
}

/** A typed array on Node 20 spans at most 4 GiB; slabs stay well below. */
const SLAB_BYTES = 2 ** 30;

/**
 * @param releases frees the memory, after the threads that use it have ended.
 * @returns a pool of at least `wantedBytes`, or of as much as the system has; undefined if `wantedBytes` is 0.
 * @throws SystemError ERR_WORKER if the thread cannot start. If it ends later, before the job, it stops the job.
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

/** A pool in the memory of a separate thread. */
export async function keepRamPool(
  wantedBytes: number,
  stop: Pick<JobStop, 'fail'>,
  releases: Release[],
): Promise<RamPoolHandle> {
  const kept = await keepMemory(wholeChunks(wantedBytes), SLAB_BYTES, stop, releases);
  return ramPoolIn({ kind: 'kept', channelName: kept.channelName, slabBytes: SLAB_BYTES }, kept.byteLength);
}

/** Memory in a separate thread. */
export interface KeptMemory {
  readonly channelName: string;
  /** As much as the system gives. */
  readonly byteLength: number;
  /** Frees the memory when the threads that use it have ended, before the job ends. */
  release(): Promise<void>;
}

/** @param slabBytes see `KeeperTask`. */
export async function keepMemory(
  wantedBytes: number,
  slabBytes: number | undefined,
  stop: Pick<JobStop, 'fail'>,
  releases: Release[],
): Promise<KeptMemory> {
  const channelName = `pileshuf ${randomUUID()}`;
  const workerData: KeeperTask = { channelName, question: ASK_FOR_MEMORY, wantedBytes, slabBytes };
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
  const release = async () => {
    isNeeded = false;
    await keeper.terminate();
  };
  releases.push(release);
  return { channelName, byteLength: Number(await answer), release };
}

function openKeeper(workerData: unknown): Worker {
  const url = memoryKeeperUrl();
  try {
    return new Worker(url, { workerData, trackUnmanagedFds: false });
  } catch (error) {
    throw workerError(error);
  }
}
