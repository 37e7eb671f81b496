/**
 * The memory of pass 2, once the longest record and the size of the memory pool are known. Every thread must be able to
 * hold the longest record, so long records mean fewer threads.
 *
 * Also the budget that an error message recommends for a long record or a decoder. The search plans with larger and
 * larger budgets until one suffices, so the advice is true by construction. Pure.
 */
import { LARGEST_ARENA_BYTES, OUTPUT_BUFFER_COUNT } from './arena-sizes.js';
import { type MemoryNeed, type MemoryPlan, planMemory } from './memory-plan.js';

const KIB = 1024;

export interface Pass2Memory {
  readonly workers: number;
  /** The size that each worker's arena may reach. */
  readonly arenaBytes: number;
  /** Further bytes that all arenas together may take. */
  readonly spareBytes: number;
}

/**
 * @param poolBytes that the memory pool holds.
 * @returns the planned figures if the longest record allows them, else figures for fewer threads; undefined when not
 *   even one thread can hold it.
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

/** The arena of pass 2 that can hold a record of this length, and can scatter its pile again. */
function arenaBytesForRecord(plan: Pick<MemoryPlan, 'outputBytes' | 'readBytes'>, recordBytes: number): number {
  return OUTPUT_BUFFER_COUNT * plan.outputBytes + plan.readBytes + recordBytes + 64 * KIB;
}

const MIB = 1024 * KIB;
/** A window grows by at least 1 MiB, and needs 1 MiB more than the record. */
const WINDOW_GROWTH_BYTES = 2 * MIB;

/**
 * About the least budget above `need.budgetBytes`, in whole MiB, with which a record of this length fits. If one such
 * record fits the present budget, several workers met one at the same time: then each worker must have room for one.
 * @returns a size in the form that `memoryBytes` takes, such as 512M.
 */
export function memoryForRecord(need: MemoryNeed, recordBytes: number): string {
  return leastBudget(need, (roomier, plan, count) => hasRoomFor(roomier, plan, recordBytes, count));
}

/** The same for a decoder that needs `byteLength` bytes in pass 1. */
export function memoryForDecoder(need: MemoryNeed, byteLength: number): string {
  return leastBudget(
    need,
    (_, plan, count) => plan.pass1SpareBytes - plan.ramPoolBytes - heldBytes(plan) >= count * byteLength,
  );
}

/** @param suffices whether a plan has room for `count` of the records or decoders at one time. */
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

/** The spare memory that records are expected to take which stay where they are read. */
function heldBytes({ hold }: MemoryPlan): number {
  return hold === undefined ? 0 : hold.expectedBytes - hold.fixedBytes;
}

/** Whether both passes are sure to have room for `count` records of this length at one time. */
function hasRoomFor(need: MemoryNeed, plan: MemoryPlan, recordBytes: number, count: number): boolean {
  const { budgetBytes, exact } = need;
  // An exact pool size counts the bytes of these records, which are not in the pool yet.
  const poolBytes = exact ? Math.max(0, plan.ramPoolBytes - count * recordBytes) : plan.ramPoolBytes;
  const fitsPass1 = plan.pass1SpareBytes - poolBytes - heldBytes(plan) >= count * (recordBytes + WINDOW_GROWTH_BYTES);
  return fitsPass1 && planPass2(plan, budgetBytes, plan.ramPoolBytes, recordBytes) !== undefined;
}
