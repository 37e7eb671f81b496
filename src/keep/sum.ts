/**
 * `sum`: a number in each record is added up exactly, for the report: in pass 1 over the records and the copies of each group,
 * in pass 2 over what each shard gets. The kernel's `sumBlock` and `sumGathered` read the numbers. Pure.
 */
import type { ValueRule } from '../formats/selector.js';
import { PARTS_OF_ONE } from './weights.js';

export interface SumSpec {
  /** Finds the numbers. Undefined: nothing is added up. */
  readonly sum: ValueRule | undefined;
}

/** The sums of the records that were read, and of all of their copies, in parts of 10^-15. */
export interface ReadSums {
  readonly read: bigint;
  readonly made: bigint;
}

export const NO_SUMS: ReadSums = { read: 0n, made: 0n };

/** Returns the sum in decimal, with no more digits than it needs. */
export function decimalOf(parts: bigint): string {
  const digits = `${parts % PARTS_OF_ONE}`.padStart(15, '0').replace(/0+$/, '');
  return `${parts / PARTS_OF_ONE}${digits === '' ? '' : `.${digits}`}`;
}

interface SummedRegion {
  readonly shard: number;
  /** The sum in parts of 10^-15. Undefined: 0. */
  readonly sum?: string | undefined;
}

/** Returns a function that gives the sum of the shards [first, end), in decimal, of what regions have. */
export function sumsOfShards(regions: readonly SummedRegion[]): (first: number, end: number) => string {
  const ofShards = new Map<number, bigint>();
  for (const { shard, sum = '0' } of regions) ofShards.set(shard, (ofShards.get(shard) ?? 0n) + BigInt(sum));
  return (first, end) => {
    let parts = 0n;
    for (let shard = first; shard < end; shard++) parts += ofShards.get(shard) ?? 0n;
    return decimalOf(parts);
  };
}
