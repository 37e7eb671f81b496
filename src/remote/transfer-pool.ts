/** Sizes of the block pool within the memory budget, and the budget that a job with transfers needs. Pure. */
import { CONNECTIONS_OF_HOST } from './http-messages.js';

const MIB = 1024 * 1024;
/** The smallest part that leaves room for 160 GB in 10,000 parts. */
export const PART_BYTES = 16 * MIB;
const SHARE_OF_MEMORY = 1 / 8;
const MOST_POOL_BYTES = 320 * MIB;
const LARGEST_BLOCK_BYTES = MIB;
const SMALLEST_BLOCK_BYTES = 64 * 1024;
/** The fewest blocks of the pool. */
const FEWEST_BLOCKS = 32;
const SHARE_OF_MEMORY_FOR_UPLOADS = 1 / 4;

export interface PoolRequest {
  readonly memoryBytes: number;
  readonly workers: number;
  /** True if outputs are uploaded, too. */
  readonly uploads?: boolean;
}

/** Returns the bytes of the memory budget that the block pool takes. */
export function poolBytesOf(request: PoolRequest): number {
  const { blockBytes, blockCount } = poolSizesFor(request);
  return blockBytes * blockCount;
}

export function poolSizesFor({ memoryBytes, workers, uploads = false }: PoolRequest): {
  readonly blockBytes: number;
  readonly blockCount: number;
} {
  const fetchedBytes = Math.min(MOST_POOL_BYTES, memoryBytes * SHARE_OF_MEMORY);
  const wanted = 2 ** Math.floor(Math.log2(fetchedBytes / FEWEST_BLOCKS));
  const blockBytes = Math.max(SMALLEST_BLOCK_BYTES, Math.min(LARGEST_BLOCK_BYTES, wanted));
  // Parts under way on each connection, and those that are being written.
  const mostRoomBytes = (CONNECTIONS_OF_HOST + workers) * PART_BYTES;
  const roomBytes = Math.max(PART_BYTES, Math.min(memoryBytes * SHARE_OF_MEMORY_FOR_UPLOADS, mostRoomBytes));
  const poolBytes = Math.max(fetchedBytes, uploads ? roomBytes : 0);
  return { blockBytes, blockCount: Math.max(4, Math.floor(poolBytes / blockBytes)) };
}

/** The memory of a job's budget that the block pool takes. Plain data. */
export interface TransferMemory {
  readonly byteLength: number;
  readonly workers: number;
  readonly uploads: boolean;
}

/** The memory budget of a job without the block pool. */
interface MemoryBesideTransfers {
  readonly memoryBytes: number;
  /** The memory of transfers. Undefined: nothing is transferred. */
  readonly transfers: TransferMemory | undefined;
}

/** @param fetchBytes of the pool for inputs. @param uploadBytes of the pool for inputs and uploads; 0: no uploads. */
export function memoryBesideTransfers(
  { memoryBytes, workers }: Pick<PoolRequest, 'memoryBytes' | 'workers'>,
  fetchBytes: number,
  uploadBytes = 0,
): MemoryBesideTransfers {
  const byteLength = Math.max(fetchBytes, uploadBytes);
  if (byteLength === 0) return { memoryBytes, transfers: undefined };
  return { memoryBytes: memoryBytes - byteLength, transfers: { byteLength, workers, uploads: uploadBytes > 0 } };
}

/** Returns the least memory budget, in whole MiB, that leaves so much beside such transfers. */
export function leastMemoryBeside({ workers, uploads }: TransferMemory, restBytes: number): number {
  // A MiB more of the budget adds at most one block to the pool: the rest never shrinks.
  let tooFew = Math.ceil(restBytes / MIB) - 1;
  let enough = 2 * Math.max(0, tooFew) + 2 * (PART_BYTES / MIB);
  while (enough - tooFew > 1) {
    const mebibytes = Math.floor((tooFew + enough) / 2);
    const memoryBytes = mebibytes * MIB;
    if (memoryBytes - poolBytesOf({ memoryBytes, workers, uploads }) >= restBytes) enough = mebibytes;
    else tooFew = mebibytes;
  }
  return enough * MIB;
}
