/**
 * Divides the memory budget of an index job. A thread holds a read window, the boundary table, the ends of one block of
 * records and a piece of the index. Pure.
 */
import { pass1ArenaBytesOf } from './arena-sizes.js';
import { INLINE_BYTES, type MemoryNeed, type Tuning } from './memory-plan.js';

const MIB = 1024 * 1024;
const LARGEST_READ_BYTES = 4 * MIB;
const SMALLEST_READ_BYTES = 64 * 1024;
/** Blocks that are not written yet, and the notes about one block. */
const BLOCK_MEMORY_BYTES = 1.25 * MIB;
/** The part of a thread's share that its window takes; decoders and long records get the rest. */
const WINDOW_SHARE = 1 / 8;
/** The slices for each thread: so many that all threads are busy to the end. */
const SLICES_PER_WORKER = 8;
const SMALLEST_SLICE_BYTES = MIB;

export interface IndexPlan {
  readonly workers: number;
  /** True if the calling thread does all the work, because starting threads would take longer. */
  readonly inline: boolean;
  readonly readBytes: number;
  readonly arenaBytes: number;
  readonly spareBytes: number;
  readonly sliceBytes: number;
}

/** @param decodedBytes of the file; an estimate will do. */
export function planIndex(
  need: Pick<MemoryNeed, 'budgetBytes' | 'workers'>,
  decodedBytes: number,
  tuning: Tuning,
): IndexPlan {
  const inline = tuning.inline ?? decodedBytes <= INLINE_BYTES;
  const wanted = inline ? 1 : need.workers;
  const windowOf = (workers: number) => Math.floor((need.budgetBytes / workers) * WINDOW_SHARE);
  const readBytes = tuning.readBytes ?? Math.max(SMALLEST_READ_BYTES, Math.min(LARGEST_READ_BYTES, windowOf(wanted)));
  const arenaBytes = Math.ceil(pass1ArenaBytesOf({ pileCount: 0, bufferBytes: 0, readBytes }));
  const threadBytes = arenaBytes + BLOCK_MEMORY_BYTES;
  const workers = Math.max(1, Math.min(wanted, Math.floor(need.budgetBytes / threadBytes)));
  return {
    workers,
    inline,
    readBytes,
    arenaBytes,
    spareBytes: Math.max(0, need.budgetBytes - workers * threadBytes),
    sliceBytes:
      tuning.sliceBytes ?? Math.max(SMALLEST_SLICE_BYTES, Math.ceil(decodedBytes / (SLICES_PER_WORKER * workers))),
  };
}
