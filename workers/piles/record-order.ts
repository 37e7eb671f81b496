/**
 * Piles that are put in order one after the other. Their records can then be gathered into the output, wherever they lie.
 */
import type { SinkBuffer } from '../../src/output/output-target.js';
import type { PileTally } from '../../src/pile-sets/pile-totals.js';

/** Receives the ordered records; called with their number, and what was dropped of the same records as they were stored. */
export type Emit = (recordCount: number, dropped: PileTally) => Promise<void>;

/** A pile that can be put in order. */
export interface OrderablePile {
  readonly pile: number;
  /**
   * Calls `emit` with the number of ordered records, once for each part of the pile that is ordered alone.
   * @returns what it dropped of the pile, because it keeps one of equal records.
   */
  order(emit: Emit): Promise<PileTally>;
}

/** The records that are in order now, by their index. */
export interface RecordOrder {
  /**
   * Copies records [index, endIndex) to `address`, which has room for `capacityBytes`. Stops before a record that does not
   * fit, and before the first that would start at `startLimit` or later, in bytes from the first.
   * @returns the index where it stopped.
   */
  gather(index: number, endIndex: number, address: number, capacityBytes: number, startLimit: bigint): number;
  /** The bytes copied by the last `gather`. */
  readonly gatheredBytes: number;
  /** Where a record lies that is too long to be gathered. */
  addressOf(index: number): number;
  byteLengthOf(index: number): number;
  /** Adds records that are read where they lie to the checksum. */
  hashInPlace(index: number, endIndex: number): void;
  /** The multiset checksum of the records gathered or hashed since they were put in order. */
  readonly checksum: bigint;
  /** Passes over records as `gather` does, up to the first that starts at `startLimit` or later. @returns its index. */
  measureUpTo(index: number, endIndex: number, startLimit: bigint): number;
  /** The bytes that the last `measureUpTo` passed over. */
  readonly measuredBytes: number;
  keyAt(index: number): bigint;
  /** The bytes of a record, where they lie. */
  recordAt(index: number): Uint8Array;
}

export interface PileOrder extends RecordOrder {
  /** The region that stays the same for all piles. */
  readonly sinkBuffer: SinkBuffer;
  /** The linear memory. */
  readonly bytes: Uint8Array;
  /** Piles [first, end) one by one. */
  piles(first: number, end: number): Iterable<OrderablePile>;
}
