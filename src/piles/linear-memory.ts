/**
 * One linear memory for the pool and the arenas of all threads, where these have less than 4 GiB together:
 *
 *     constants of the kernel | part of the first thread | ... | part of the last thread | pool | slack
 *     part: scratch of the kernel | arena
 *
 * There a thread fills pile buffers in the pool, each of which becomes a segment when it is full, and puts records in order
 * where they lie. Places in the pool are addresses.
 */

export interface LinearLayout {
  /** The most bytes of each arena, a multiple of 16. */
  readonly arenaBytes: number;
  readonly partCount: number;
  /** The bytes of a pile buffer with the slack after it. */
  readonly bufferStrideBytes: number;
}

/** The place of a thread. */
export interface MemoryPart {
  readonly memory: WebAssembly.Memory;
  readonly start: number;
  readonly end: number;
}

const FIRST_PART = 65_536;
/** A part begins with the scratch of the kernel. */
export const SCRATCH_BYTES = 36_864;
/** Loops read a little beyond the last record. */
const SLACK_BYTES = 65_536;
/** The range of 32-bit addresses without the last page, so that an end address fits. */
export const MOST_LINEAR_BYTES = 2 ** 32 - 65_536;

export function partAt({ arenaBytes }: LinearLayout, index: number): Pick<MemoryPart, 'start' | 'end'> {
  const partBytes = SCRATCH_BYTES + arenaBytes;
  const start = FIRST_PART + index * partBytes;
  return { start, end: start + partBytes };
}

export function poolStartOf(layout: LinearLayout): number {
  return partAt(layout, layout.partCount).start;
}

/** Returns the bytes of a memory with a pool of this capacity. */
export function linearBytesOf(layout: LinearLayout, capacityBytes: number): number {
  return poolStartOf(layout) + capacityBytes + SLACK_BYTES;
}

/** Returns the capacity of the largest pool that addresses reach; below 0: there is none. */
export function mostPoolBytes(layout: LinearLayout): number {
  return MOST_LINEAR_BYTES - linearBytesOf(layout, 0);
}
