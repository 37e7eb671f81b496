import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planIndex } from '#src/plan/index-plan.js';

const MIB = 2 ** 20;

describe('the plan of an index', () => {
  it('is within the budget, and has work for all threads', () => {
    const anyNeed = fc.record({
      budgetBytes: fc.integer({ min: 4 * MIB, max: 2 ** 36 }),
      workers: fc.integer({ min: 1, max: 1024 }),
      decodedBytes: fc.integer({ min: 9 * MIB, max: 2 ** 45 }),
    });
    fc.assert(
      fc.property(anyNeed, ({ budgetBytes, workers, decodedBytes }) => {
        const plan = planIndex({ budgetBytes, workers }, decodedBytes, {});
        expect(plan.workers).toBeLessThanOrEqual(workers);
        expect(plan.workers * plan.arenaBytes + plan.spareBytes).toBeLessThanOrEqual(budgetBytes);
        const slices = Math.ceil(decodedBytes / plan.sliceBytes);
        expect(slices).toBeGreaterThanOrEqual(Math.min(plan.workers, Math.floor(decodedBytes / MIB)));
        expect(slices).toBeLessThanOrEqual(8 * plan.workers + 1);
      }),
    );
  });

  it('leaves small files to the calling thread', () => {
    const need = { budgetBytes: 2 ** 30, workers: 16 };
    expect(planIndex(need, 8 * MIB, {})).toMatchObject({ inline: true, workers: 1, readBytes: 4 * MIB });
    expect(planIndex(need, 9 * MIB, {})).toMatchObject({ inline: false, workers: 16, sliceBytes: MIB });
  });
});
