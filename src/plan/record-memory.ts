/**
 * The budget that a long record, or a decoder, needs: what a message can promise. Found by planning with larger and
 * larger budgets, so that it is true by construction. Pure.
 */
import { type MemoryNeed, type MemoryPlan, planMemory } from './memory-plan.js';
import { planPass2 } from './pass2-memory.js';

const MIB = 1024 * 1024;
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
