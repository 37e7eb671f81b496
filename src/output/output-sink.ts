/**
 * Where one task of pass 2 puts its part of the global order, from one place on without a gap.
 * Records are gathered straight into the sink's buffers in linear memory.
 */
import type { SegmentHasher } from '../pile-sets/segment-hasher.js';
import type { WrittenRegion } from './output-target.js';

export interface OutputSink {
  /** The rank, or the byte of the whole, at which the next shard begins; Infinity: no more cuts. */
  readonly nextCut: { readonly by: 'rank' | 'byte'; readonly at: number };
  /** Where the next bytes are to be put, and how many fit. */
  readonly fillAddress: number;
  readonly roomBytes: number;
  /** Takes over `byteLength` bytes that were put at `fillAddress`. */
  filled(byteLength: number): void;
  /** Begins to write what can be written. @returns whether there is more room than before. */
  flush(): Promise<boolean>;
  /** Waits for what was begun. */
  settle(): Promise<void>;
  /** Ends the shard; what comes next begins the next one. */
  cut(): Promise<void>;
  /** Writes the rest. @returns what was written, all in all. */
  close(): Promise<readonly WrittenRegion[]>;
  /** Lets go of files, also when the task failed. */
  abandon(): Promise<void>;
}

/** Linear memory that the sink may use: several buffers, with slack behind each. */
export interface SinkBuffer {
  /** Multiples of the alignment of direct writes. */
  readonly addresses: readonly [number, ...number[]];
  /** Of each. */
  readonly capacityBytes: number;
  /** The memory as it is now: it is replaced when it grows. */
  readonly memory: () => Uint8Array;
}

/** The checksum of what a sink writes; it works on the memory of its buffers. */
export type OutputHasher = Pick<SegmentHasher, 'begin' | 'add' | 'checksum'>;

/** Where a task begins. */
export interface SinkStart {
  readonly shard: number;
  /** Byte of that shard, counted from the end of its header, where each record has its place. */
  readonly shardByte: number;
  /** The task's place among the tasks, where they take turns. */
  readonly turn: number;
}
