import { VerificationError } from '../../src/errors.js';
import type { MergedPile } from '../../src/piles/merged-pile.js';
import { SLACK_BYTES } from '../../src/plan/arena-sizes.js';
import { ArenaLayout } from '../arena.js';

export interface OrderTables {
  readonly bits: number;
  readonly counts: number;
  readonly arrived: number;
  readonly sorted: number;
  readonly end: number;
}

/** Lays out the tables of an order, after the stored records. */
export function orderTables(storedEnd: number, records: number): OrderTables {
  // log2 of the number of ranges in the counting step, for about two records a range.
  const bits = Math.max(1, Math.min(24, Math.floor(Math.log2(Math.max(2, records)))));
  const layout = new ArenaLayout(storedEnd + SLACK_BYTES);
  const counts = layout.take(4 * 2 ** bits);
  const arrived = layout.take(8 * records);
  const sorted = layout.take(8 * records);
  return { bits, counts, arrived, sorted, end: layout.end };
}

export function foreignRecordError(merged: MergedPile): VerificationError {
  return new VerificationError(
    `pile ${merged.pile} holds a record that belongs to another pile, or more than its ${merged.records} records`,
  );
}
