/** The uses of memory add up to the budget; levels and budgets follow from the plan itself. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MemoryNeed, memoryOfPass1, memoryOfPass2, planMemory } from '#src/plan/memory-plan.js';
import { leastMemoryForPlan, scatterLevelsOf, staysInMemory } from '#src/plan/pile-levels.js';
import { anyNeed, GIB, MIB, usualNeed } from './memory-needs.js';

const need: MemoryNeed = {
  ...usualNeed,
  workers: 4,
  recordBytes: 10 * GIB,
  meanRecordBytes: 100,
  openFileLimit: 65_536,
};
const sumOf = (parts: object) => Object.values(parts).reduce((sum: number, bytes: number) => sum + bytes, 0);

describe('the uses of memory', () => {
  it('add up to the budget, whatever the job', () => {
    const withStreams = fc.tuple(anyNeed, fc.boolean()).map(([any, hasStreams]) => ({ ...any, hasStreams }));
    fc.assert(
      fc.property(withStreams, (any) => {
        const plan = planMemory(any);
        const [pass1, pass2] = [memoryOfPass1(plan, any), memoryOfPass2(plan, any)];
        expect([sumOf(pass1), sumOf(pass2)]).toEqual([any.budgetBytes, any.budgetBytes]);
        expect(Math.min(...Object.values(pass1), ...Object.values(pass2))).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('name what a job in memory holds, and the buffers of one on disk', () => {
    const inMemory = { ...need, budgetBytes: 4 * GIB, recordBytes: GIB };
    expect(memoryOfPass1(planMemory(inMemory), inMemory).poolBytes).toBeGreaterThan(GIB);
    expect(memoryOfPass1(planMemory(need), need).poolBytes).toBe(0);
    expect(memoryOfPass1(planMemory(need), need).pileBufferBytes).toBeGreaterThan(100 * MIB);
  });
});

describe('levels', () => {
  it('are one if a pile fits in memory, and more if not', () => {
    expect(scatterLevelsOf(planMemory(need), 100)).toBe(1);
    const large = { ...need, recordBytes: 2 ** 44 };
    expect(scatterLevelsOf(planMemory(large), 100)).toBeGreaterThan(1);
    // In an arena in which nothing fits, and where the size is not a number, the count ends, too.
    const tiny = { ...planMemory(large), pass2ArenaBytes: 1 };
    expect(scatterLevelsOf(tiny, 100)).toBeGreaterThan(1);
    expect(scatterLevelsOf({ ...tiny, storedBytes: Number.NaN }, 100)).toBe(1);
  });

  it('are one with the budget that is told, and there is a budget to stay in memory', () => {
    const large = { ...need, recordBytes: 2 ** 42 };
    const isOneLevel = (plan: ReturnType<typeof planMemory>) => scatterLevelsOf(plan, 100) === 1;
    expect(isOneLevel(planMemory(large))).toBe(false);
    const budgetBytes = leastMemoryForPlan(large, 2 ** 40, isOneLevel) ?? 0;
    expect(isOneLevel(planMemory({ ...large, budgetBytes }))).toBe(true);
    expect(leastMemoryForPlan(large, 2 * large.budgetBytes, isOneLevel)).toBeUndefined();
    const inMemory = leastMemoryForPlan(need, 2 ** 40, staysInMemory) ?? 0;
    expect(inMemory).toBeGreaterThan(need.recordBytes);
    expect(staysInMemory(planMemory({ ...need, budgetBytes: inMemory }))).toBe(true);
  });
});
