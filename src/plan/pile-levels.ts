/** How often a plan expects each record to be put on a pile, and how much memory saves a level. Pure. */
import { MOST_SUB_PILES, OUTPUT_BUFFER_COUNT, SUB_PILE_FILL, storedByteCost } from './arena-sizes.js';
import { leastMemory } from './given-memory.js';
import { type MemoryNeed, type MemoryPlan, SMALLEST_SHARE_BYTES } from './memory-plan.js';
import { planWithColumns } from './pass2-memory.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** The memory that a thread has beside a loaded pile, as in `dividePiles`. */
const BESIDE_PILE_BYTES = 64 * 1024;

/** Returns how often each record is put on a pile. 1: each pile fits in memory when it is loaded. */
export function scatterLevelsOf(plan: MemoryPlan, meanRecordBytes: number): number {
  const { pileCount, storedBytes, outputBytes, pass2ArenaBytes, ramPoolBytes, maySpill } = plan;
  if (ramPoolBytes > 0 && !maySpill) return 1;
  const perStoredByte = storedByteCost(meanRecordBytes);
  const buffersBytes = OUTPUT_BUFFER_COUNT * outputBytes;
  const roomBytes = Math.max(1, pass2ArenaBytes - buffersBytes);
  let piles = pileCount;
  for (let levels = 1; ; levels++) {
    const loadBytes = (storedBytes / piles) * perStoredByte + BESIDE_PILE_BYTES;
    // Piles of a byte are not divided further: in a tiny arena, nothing ever fits beside what a thread always holds.
    if (Math.floor(loadBytes) <= roomBytes || !(piles < storedBytes)) return levels;
    const subPiles = Math.ceil(loadBytes / roomBytes / SUB_PILE_FILL);
    piles *= Math.min(MOST_SUB_PILES, Math.max(2, subPiles));
  }
}

/** Returns whether a plan needs no temp data, as far as it knows. */
export function staysInMemory({ ramPoolBytes, maySpill, storedBytes }: MemoryPlan): boolean {
  return ramPoolBytes > 0 && (!maySpill || storedBytes <= ramPoolBytes);
}

/** About the least memory above what is given with which a plan is as wished; undefined if there is none up to `mostBytes`. */
export function leastMemoryForPlan(
  need: MemoryNeed,
  mostBytes: number,
  isAsWished: (plan: MemoryPlan) => boolean,
): number | undefined {
  return leastMemory(need, mostBytes, (budgetBytes) => {
    const plan = budgetBytes < SMALLEST_SHARE_BYTES ? undefined : planWithColumns({ ...need, budgetBytes });
    return plan !== undefined && isAsWished(plan);
  });
}

/** Returns the budget as `-S` takes it, rounded up. */
export function budgetText(bytes: number): string {
  return bytes >= 8 * GIB ? `${Math.ceil(bytes / GIB)}G` : `${Math.ceil(bytes / MIB)}M`;
}
