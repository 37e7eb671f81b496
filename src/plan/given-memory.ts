/**
 * The memory that the caller gives, and the part of it that piles get: transfers take theirs first, then records that
 * are held in their order. Messages speak of what is given. Pure.
 */
import { leastMemoryBeside, poolBytesOf, type TransferMemory } from '../remote/transfer-pool.js';

const MIB = 2 ** 20;
/** A search raises the memory by this part at each step. */
const STEP = 1 / 64;

export interface GivenMemory {
  /** The memory that piles get. */
  readonly budgetBytes: number;
  /** The part that this is of what transfers leave. Absent: all of it. */
  readonly shareOfMemory?: number;
  /** The memory that transfers took before. Absent: nothing is transferred. */
  readonly transfers?: TransferMemory | undefined;
}

/** Returns the memory that the caller gave. */
export function callerMemoryOf({ budgetBytes, shareOfMemory = 1, transfers }: GivenMemory): number {
  return Math.ceil(budgetBytes / shareOfMemory) + (transfers?.byteLength ?? 0);
}

/** Returns what piles would get of this memory. */
function budgetOf(memoryBytes: number, { shareOfMemory = 1, transfers }: GivenMemory): number {
  const transferBytes = transfers === undefined ? 0 : poolBytesOf({ ...transfers, memoryBytes });
  return Math.floor((memoryBytes - transferBytes) * shareOfMemory);
}

/** Returns the least memory of which piles get so much, in whole MiB. */
export function leastMemoryWith(budgetBytes: number, { shareOfMemory = 1, transfers }: GivenMemory): number {
  const restBytes = Math.ceil(budgetBytes / shareOfMemory);
  return transfers === undefined ? Math.ceil(restBytes / MIB) * MIB : leastMemoryBeside(transfers, restBytes);
}

/**
 * Searches for about the least memory above the present one that is enough, in whole MiB; 1 MiB less is not.
 * @param isEnough says so of what piles get.
 * @returns undefined if there is none up to `mostBytes`.
 */
export function leastMemory(
  given: GivenMemory,
  mostBytes: number,
  isEnough: (budgetBytes: number) => boolean,
): number | undefined {
  const suffices = (mebibytes: number) => isEnough(budgetOf(mebibytes * MIB, given));
  let tooFew = Math.floor(callerMemoryOf(given) / MIB);
  let enough = tooFew + 1;
  for (; !suffices(enough); enough += Math.max(1, Math.floor(enough * STEP))) {
    if (enough * MIB > mostBytes) return undefined;
    tooFew = enough;
  }
  while (enough - tooFew > 1) {
    const mebibytes = Math.floor((tooFew + enough) / 2);
    if (suffices(mebibytes)) enough = mebibytes;
    else tooFew = mebibytes;
  }
  return enough * MIB > mostBytes ? undefined : enough * MIB;
}
