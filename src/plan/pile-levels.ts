/** How often a plan expects each record to be put on a pile, and how much memory saves a level. Pure. */
import { MOST_SUB_PILES, OUTPUT_BUFFER_COUNT, SUB_PILE_FILL, storedByteCost } from './arena-sizes.js';
import { type MemoryNeed, type MemoryPlan, planMemory } from './memory-plan.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** What a thread keeps beside a loaded pile, as in `divide`. */
const BESIDE_PILE_BYTES = 64 * 1024;
/** A search raises the budget by this part at each step. */
const STEP = 1 / 8;

/** 1: each pile fits in memory when it is loaded. */
export function levelsOf(plan: MemoryPlan, meanRecordBytes: number): number {
  const { pileCount, storedBytes, outputBytes, pass2ArenaBytes, ramPoolBytes, maySpill } = plan;
  if (ramPoolBytes > 0 && !maySpill) return 1;
  const perStoredByte = storedByteCost(meanRecordBytes);
  const buffersBytes = OUTPUT_BUFFER_COUNT * outputBytes;
  const roomBytes = Math.max(1, pass2ArenaBytes - buffersBytes);
  let piles = pileCount;
  for (let levels = 1; ; levels++) {
    const loadBytes = (storedBytes / piles) * perStoredByte + BESIDE_PILE_BYTES;
    // Piles of a byte are not divided further: in a tiny arena, nothing ever fits beside what a thread keeps.
    if (Math.floor(loadBytes) <= roomBytes || !(piles < storedBytes)) return levels;
    const subPiles = Math.ceil(loadBytes / roomBytes / SUB_PILE_FILL);
    piles *= Math.min(MOST_SUB_PILES, Math.max(2, subPiles));
  }
}

/** Whether a plan needs no temp data, as far as it knows. */
export function staysInMemory({ ramPoolBytes, maySpill, storedBytes }: MemoryPlan): boolean {
  return ramPoolBytes > 0 && (!maySpill || storedBytes <= ramPoolBytes);
}

/**
 * About the least budget above the present one with which a plan is as wished, in whole MiB; undefined if there is none
 * up to `mostBytes`.
 */
export function leastBudgetWith(
  need: MemoryNeed,
  mostBytes: number,
  isAsWished: (plan: MemoryPlan) => boolean,
): number | undefined {
  for (let budgetBytes = need.budgetBytes; ; ) {
    budgetBytes = Math.ceil((budgetBytes * (1 + STEP)) / MIB) * MIB;
    if (budgetBytes > mostBytes) return undefined;
    if (isAsWished(planMemory({ ...need, budgetBytes }))) return budgetBytes;
  }
}

/** As `-S` takes it, rounded up. */
export function budgetText(bytes: number): string {
  return bytes >= 8 * GIB ? `${Math.ceil(bytes / GIB)}G` : `${Math.ceil(bytes / MIB)}M`;
}
