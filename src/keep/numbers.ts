/** The numbers of a range in an order that no pass makes: the number at each place is computed by itself (docs/ORDER.md). */

import { deriveRangeKey } from '../floor/keys.js';
import type { Amount } from '../piles/pile-totals.js';
import { bytesOfNumbers, type NumberRange } from '../values/number-range.js';

/** Sorting so many numbers takes less than a second. */
const MOST_SORTED = 2n ** 24n;

export interface NumbersSpec {
  /** The numbers whose places are computed. Absent: the output has what is read. */
  readonly range?: NumberRange | undefined;
}

export function isComputed({ low, high }: NumberRange, isRepeated: boolean): boolean {
  return isRepeated || high - low >= MOST_SORTED;
}

/** Returns the records that the output is made from: those that were read, or the numbers of the range. */
export function sourceAmount({ range }: NumbersSpec, read: Amount): Amount {
  return range === undefined
    ? read
    : { records: Number(range.high - range.low) + 1, bytes: Number(bytesOfNumbers(range)) };
}

/** Describes the range as the kernel takes it (workers/kernel/assembly/write-numbers.ts). */
export interface NumberOrder {
  readonly low: bigint;
  readonly lastOffset: bigint;
  readonly key: bigint;
  /** 0: each place has a draw of its own. */
  readonly rows: bigint;
  readonly columns: bigint;
  readonly end: number;
}

/** @param end the byte that follows each number. */
export function orderOfNumbers(
  { low, high }: NumberRange,
  isRepeated: boolean,
  seed: string,
  end: number,
): NumberOrder {
  const count = high - low + 1n;
  const rows = isRepeated ? 0n : rootAbove(count);
  const columns = isRepeated ? 1n : (count + rows - 1n) / rows;
  return { low, lastOffset: high - low, key: deriveRangeKey(seed, `${low}-${high}`), rows, columns, end };
}

/** Returns the least whole number whose square is at least `square`. */
function rootAbove(square: bigint): bigint {
  // A double has too few bits for the square, and enough for its root: what it lacks is at most 1.
  let root = BigInt(Math.ceil(Math.sqrt(Number(square))));
  while (root * root < square) root += 1n;
  return root;
}
