/** `repeat`: each place of the output takes a record that is drawn from all, with replacement. */
import { InputError, UsageError } from '../errors.js';
import { tooLargeToDrawError } from '../piles/pile-set-writer.js';
import { callerMemoryOf, type GivenMemory, leastMemoryWith } from '../plan/given-memory.js';
import { type MemoryNeed, type MemoryPlan, planMemory, type Tuning } from '../plan/memory-plan.js';
import { budgetText, leastMemoryForPlan, staysInMemory } from '../plan/pile-levels.js';

export interface RepeatSpec {
  /** True if records are drawn with replacement. */
  readonly repeat: boolean;
}

/** @param records of the inputs. @param places of the output. */
export function requireRecords(records: number, places: number): void {
  if (records === 0 && places > 0)
    throw new InputError('ERR_INPUT_EMPTY', 'the inputs have no record to repeat; expected at least one');
}

/** The least memory for a pool, the arena of a thread, and the records in their order, beside each other. */
const LEAST_BYTES_TO_DRAW = 32 * 2 ** 20;

/** The part that piles get of what transfers leave: records to draw from lie in their order, beside the piles. */
export function shareOfPiles({ repeat }: RepeatSpec, given: GivenMemory): number {
  if (!repeat) return 1;
  if (given.budgetBytes >= LEAST_BYTES_TO_DRAW) return 1 / 2;
  throw new UsageError(
    `a memory budget of ${callerMemoryOf(given)} bytes is too small for \`repeat\`: expected at least ${leastMemoryWith(LEAST_BYTES_TO_DRAW, given) / 2 ** 20}M; give more with \`memoryBytes\``,
    'ERR_MEMORY_BUDGET',
  );
}

/** Plans piles in memory alone, with fewer threads if that makes room. */
export function planInMemory(need: MemoryNeed, tuning: Tuning): MemoryPlan {
  for (let workers = need.workers; workers >= 1; workers--) {
    const memory = planMemory({ ...need, workers }, { ...tuning, mayUseRamPool: true });
    if (memory.ramPoolBytes > 0) return memory;
  }
  throw drawBudgetError(need, need.recordBytes);
}

/** The error for records that do not fit in memory, with a budget that suffices. @param recordBytes of all records, about. */
export function drawBudgetError(need: MemoryNeed, recordBytes: number): UsageError {
  const memoryBytes = leastMemoryForPlan({ ...need, recordBytes }, Number.MAX_SAFE_INTEGER, staysInMemory);
  return tooLargeToDrawError(memoryBytes === undefined ? undefined : `at least ${budgetText(memoryBytes)}`);
}
