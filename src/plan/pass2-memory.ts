/**
 * What pass 2 may take, now that the longest record and the memory pool's size are known: every thread
 * must be able to hold the longest record, so with long records there are fewer of them. Pure.
 */

import { LARGEST_ARENA_BYTES, OUTPUT_BUFFER_COUNT } from './arena-sizes.js';
import type { MemoryPlan } from './memory-plan.js';

const KIB = 1024;

export interface Pass2Memory {
  readonly workers: number;
  /** What each worker's arena may take. */
  readonly arenaBytes: number;
  /** What they may take beyond, together. */
  readonly spareBytes: number;
}

/**
 * @param poolBytes that the memory pool holds.
 * @returns the planned figures when the longest record allows them; undefined when not even one
 *   thread can hold it.
 */
export function planPass2(
  plan: MemoryPlan,
  budgetBytes: number,
  poolBytes: number,
  longestRecordBytes: number,
): Pass2Memory | undefined {
  const { workers, pass2ArenaBytes } = plan;
  const availableBytes = budgetBytes - poolBytes;
  const spareBeside = (arenasBytes: number) => (plan.pass2MayGrow ? Math.max(0, availableBytes - arenasBytes) : 0);
  const neededBytes = arenaBytesForRecord(plan, longestRecordBytes);
  if (neededBytes <= pass2ArenaBytes) {
    return { workers, arenaBytes: pass2ArenaBytes, spareBytes: spareBeside(workers * pass2ArenaBytes) };
  }
  const affordable = Math.min(workers, Math.floor(availableBytes / neededBytes));
  if (affordable < 1 || neededBytes > LARGEST_ARENA_BYTES) return undefined;
  const roomy = Math.min(Math.floor(availableBytes / affordable), LARGEST_ARENA_BYTES);
  const arenaBytes = Math.min(Math.max(neededBytes, pass2ArenaBytes), roomy);
  return { workers: affordable, arenaBytes, spareBytes: spareBeside(affordable * arenaBytes) };
}

/** Arena of pass 2 that can take in a record of this length, and split its pile if need be. */
function arenaBytesForRecord(plan: Pick<MemoryPlan, 'outputBytes' | 'readBytes'>, recordBytes: number): number {
  return OUTPUT_BUFFER_COUNT * plan.outputBytes + plan.readBytes + recordBytes + 64 * KIB;
}
