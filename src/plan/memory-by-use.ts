/** What a memory plan uses the budget for. The parts of a pass add up to the budget. Pure. */
import { OUTPUT_BUFFER_COUNT, SLACK_BYTES, TALLY_BYTES } from './arena-sizes.js';
import type { MemoryNeed, MemoryPlan } from './memory-plan.js';

/** Memory of pass 1, of all threads together. */
export interface MemoryOfPass1 {
  /** One buffer a pile, of each thread. */
  readonly pileBufferBytes: number;
  /** What a thread reads at a time. */
  readonly readWindowBytes: number;
  readonly tableBytes: number;
  /** At most: piles that stay in memory. */
  readonly poolBytes: number;
  /** For long records, decoders, and more data than expected. */
  readonly spareBytes: number;
}

export interface MemoryOfPass2 {
  readonly outputBufferBytes: number;
  /** Loaded piles with their sort entries. */
  readonly pileBytes: number;
  readonly poolBytes: number;
  readonly spareBytes: number;
}

export function memoryOfPass1(plan: MemoryPlan, { budgetBytes, mostSlices }: MemoryNeed): MemoryOfPass1 {
  const threads = Math.min(plan.workers, mostSlices);
  const pileBufferBytes = threads * plan.pileCount * (plan.bufferBytes + SLACK_BYTES);
  const readWindowBytes = threads * 2 * plan.readBytes;
  const tableBytes = Math.max(0, threads * plan.pass1ArenaBytes - pileBufferBytes - readWindowBytes);
  const sizes = {
    pileBufferBytes,
    readWindowBytes,
    tableBytes: Math.max(tableBytes, threads * plan.pileCount * TALLY_BYTES),
    poolBytes: plan.ramPoolBytes,
  };
  return { ...sizes, spareBytes: restOf(budgetBytes, sizes) };
}

export function memoryOfPass2(plan: MemoryPlan, { budgetBytes }: Pick<MemoryNeed, 'budgetBytes'>): MemoryOfPass2 {
  const { workers, ramPoolBytes: poolBytes } = plan;
  const outputBufferBytes = workers * OUTPUT_BUFFER_COUNT * plan.outputBytes;
  const pileBytes = Math.max(0, workers * plan.pass2ArenaBytes - outputBufferBytes);
  const sizes = { outputBufferBytes, pileBytes, poolBytes };
  return { ...sizes, spareBytes: restOf(budgetBytes, sizes) };
}

/** Sizes that tests set may be more than the budget. */
function restOf(budgetBytes: number, sizes: Readonly<Record<string, number>>): number {
  return Math.max(0, budgetBytes - Object.values(sizes).reduce((sum, bytes) => sum + bytes, 0));
}
