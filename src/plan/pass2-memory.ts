/**
 * What pass 2 may take, when the longest record and the size of the memory pool are known: every thread must be able to
 * hold the longest record, so with long records there are fewer threads. And the budget that a long record or a decoder
 * needs, which a message promises: found by planning with larger and larger budgets, so that it is true by construction.
 * Pure.
 */
import { LARGEST_ARENA_BYTES, OUTPUT_BUFFER_COUNT } from './arena-sizes.js';
import { type MemoryNeed, type MemoryPlan, planMemory } from './memory-plan.js';

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

const MIB = 1024 * KIB;
/** A window grows by a megabyte at least, and needs one more beyond the record. */
const WINDOW_GROWTH_BYTES = 2 * MIB;

/**
 * The least budget above `need.budgetBytes`, in whole MiB, or close to it, with which a record of
 * this length fits, also when every worker meets one at the same time if it is such a meeting that
 * made the present budget too small.
 * @returns a size as --memory takes it.
 */
export function memoryForRecord(need: MemoryNeed, recordBytes: number): string {
  return leastBudget(need, (roomier, plan, count) => holds(roomier, plan, recordBytes, count));
}

/** The same for a decoder that needs so much in pass 1. */
export function memoryForDecoder(need: MemoryNeed, byteLength: number): string {
  return leastBudget(need, (_, plan, count) => plan.pass1SpareBytes - plan.ramPoolBytes >= count * byteLength);
}

/** @param suffices whether a plan has room for so many of what is to be held, at one time. */
function leastBudget(
  need: MemoryNeed,
  suffices: (need: MemoryNeed, plan: MemoryPlan, count: number) => boolean,
): string {
  const aloneFits = suffices(need, planMemory(need), 1);
  let budgetBytes = Math.floor(need.budgetBytes / MIB) * MIB;
  for (;;) {
    budgetBytes += Math.max(1, Math.floor(budgetBytes / MIB / 64)) * MIB;
    const roomier = { ...need, budgetBytes };
    const plan = planMemory(roomier);
    if (suffices(roomier, plan, aloneFits ? plan.workers : 1)) return `${budgetBytes / MIB}M`;
  }
}

/** Whether both passes are sure to hold `count` records of this length at one time. */
function holds(need: MemoryNeed, plan: MemoryPlan, recordBytes: number, count: number): boolean {
  const { budgetBytes, exact } = need;
  // When all bytes were counted, those of these records are not in the pool yet.
  const poolBytes = exact ? Math.max(0, plan.ramPoolBytes - count * recordBytes) : plan.ramPoolBytes;
  const fitsPass1 = plan.pass1SpareBytes - poolBytes >= count * (recordBytes + WINDOW_GROWTH_BYTES);
  return fitsPass1 && planPass2(plan, budgetBytes, plan.ramPoolBytes, recordBytes) !== undefined;
}
