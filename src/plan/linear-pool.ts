/**
 * Lays out one linear memory for the pool and the arenas of all threads, if addresses of 32 bits reach as far. Segments then
 * stay where they are written. Pure.
 */
import { type LinearLayout, mostPoolBytes } from '../piles/linear-memory.js';
import { CHUNK_BYTES, wholeChunks } from '../piles/ram-pool.js';
import { SLACK_BYTES } from './arena-sizes.js';
import type { MemoryPlan } from './memory-plan.js';

const PAGE_BYTES = 64 * 1024;
/** A pool may be larger than expected by this part, where the size of the inputs is not known exactly. */
const MARGIN = 1 / 2;

export interface LinearPool {
  readonly layout: LinearLayout;
  readonly capacityBytes: number;
}

/** Returns undefined if the pool is too large, or if all of it may not be enough. */
export function planLinearPool(plan: MemoryPlan): LinearPool | undefined {
  const { workers, pileCount, bufferBytes, pass1ArenaBytes, pass2ArenaBytes, ramPoolBytes, storedBytes } = plan;
  const layout = {
    arenaBytes: Math.ceil(Math.max(pass1ArenaBytes, pass2ArenaBytes) / PAGE_BYTES) * PAGE_BYTES,
    partCount: workers,
    bufferStrideBytes: bufferBytes + SLACK_BYTES,
  };
  // The buffers that are not full, and the rest of each thread's last chunk.
  const buffersBytes = workers * (pileCount * layout.bufferStrideBytes + 2 * CHUNK_BYTES);
  const wantedBytes = wholeChunks(ramPoolBytes + buffersBytes);
  const leastBytes = Math.min(wantedBytes, (1 + MARGIN) * storedBytes + buffersBytes);
  const mostBytes = mostPoolBytes(layout);
  return leastBytes > mostBytes ? undefined : { layout, capacityBytes: Math.min(wantedBytes, mostBytes) };
}
