/**
 * The division of the memory budget: the inequalities hold for every need; plans for usual sizes, as literals; and
 * refusals.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import { CHUNK_BYTES } from '#src/piles/ram-pool.js';
import {
  BOUNDARY_TABLE_BYTES,
  LARGEST_ARENA_BYTES,
  OUTPUT_BUFFER_COUNT,
  SLACK_BYTES,
  TALLY_BYTES,
} from '#src/plan/arena-sizes.js';
import { type MemoryNeed, type MemoryPlan, planMemory } from '#src/plan/memory-plan.js';
import { atScale } from '../fixtures/scale.js';
import { anyNeed, GIB, logarithmic, MIB, usualNeed as usual } from './memory-needs.js';

const KIB = 1024;

/** What holds for each plan: arenas hold their parts, within the budget, and files are few. */
function expectArenas(plan: MemoryPlan, need: MemoryNeed): void {
  expect(scatterBytes(plan)).toBeLessThanOrEqual(plan.pass1ArenaBytes);
  expect(plan.pass2ArenaBytes).toBeLessThanOrEqual(LARGEST_ARENA_BYTES);
  expect(plan.bufferBytes).toBeGreaterThanOrEqual(4 * KIB);
  const scatterers = Math.min(plan.workers, need.mostSlices);
  expect(scatterers * plan.pass1ArenaBytes + plan.pass1SpareBytes).toBe(need.budgetBytes);
  expect(plan.ramPoolBytes + plan.workers * plan.pass2ArenaBytes).toBeLessThanOrEqual(need.budgetBytes);
  // Besides its data files a thread has an input, an output and its own means of waking up.
  const dataFiles = plan.workers * need.tempDiskCount * plan.stripeCount;
  expect(plan.workers === 1 || 48 + 6 * plan.workers + dataFiles <= need.openFileLimit).toBe(true);
}

/** What the arena of pass 1 takes: tallies, boundary table, buffers with slack, window with slack. */
function scatterBytes({ pileCount, bufferBytes, readBytes }: MemoryPlan): number {
  return (
    pileCount * (TALLY_BYTES + bufferBytes + SLACK_BYTES) + BOUNDARY_TABLE_BYTES + readBytes + SLACK_BYTES + 2 * 4096
  );
}

describe('planMemory', () => {
  it('keeps every size in its bounds', () => {
    fc.assert(
      fc.property(anyNeed, (need) => {
        const plan = planMemory(need);
        expectArenas(plan, need);
        expect(plan.pass1ArenaBytes).toBeLessThanOrEqual(plan.pass2ArenaBytes);
        expect(OUTPUT_BUFFER_COUNT * (plan.outputBytes + SLACK_BYTES + 4096)).toBeLessThan(plan.pass2ArenaBytes);
        expect(plan.workers).toBeGreaterThanOrEqual(1);
        expect(plan.workers).toBeLessThanOrEqual(need.workers);
        expect(plan.pileCount).toBeGreaterThanOrEqual(1);
        expect(plan.pileCount).toBeLessThanOrEqual(65536);
        expect(plan.stripeCount).toBeGreaterThanOrEqual(1);
        expect(plan.stripeCount).toBeLessThanOrEqual(Math.min(16, plan.pileCount));
        expect(plan.bufferBytes).toBeLessThanOrEqual(need.tempDisksRotate ? 4 * MIB : 512 * KIB);
        expect(plan.readBytes).toBeGreaterThanOrEqual(64 * KIB);
        expect(plan.outputBytes).toBeGreaterThanOrEqual(32 * KIB);
        for (const bytes of [plan.bufferBytes, plan.readBytes, plan.outputBytes]) expect(bytes % 4096).toBe(0);
        expect(plan.storedBytes).toBeGreaterThan(need.recordBytes);
        // All segments, and a chunk that each worker has begun.
        const fullPoolBytes = plan.storedBytes + plan.workers * CHUNK_BYTES;
        expect(plan.maySpill || plan.ramPoolBytes >= fullPoolBytes).toBe(true);
        const resumable = planMemory({ ...need, isResumable: true });
        expect(resumable.maySpill).toBe(resumable.ramPoolBytes === 0);
        expect(need.exact || resumable.ramPoolBytes === 0).toBe(true);
      }),
      { numRuns: atScale(200, 500, 1000) },
    );
  });

  it('keeps no part of a large table in memory, and leaves pages of its rows more', () => {
    const need = { ...usual, budgetBytes: GIB, exact: false, isResumable: false, outputWaits: true };
    const planFor = (recordBytes: number, columnBytes: number) => planMemory({ ...need, recordBytes, columnBytes });
    expect(planFor(GIB, MIB).ramPoolBytes).toBeGreaterThan(0);
    expect(planFor(4 * GIB, 0).ramPoolBytes).toBeGreaterThan(0);
    const { ramPoolBytes, maySpill, workers, pass2ArenaBytes } = planFor(100 * GIB, MIB);
    expect({ ramPoolBytes, maySpill }).toEqual({ ramPoolBytes: 0, maySpill: true });
    expect(GIB - workers * pass2ArenaBytes).toBeGreaterThan(GIB / 3);
  });

  it('leaves each thread what its columns need, and takes fewer threads where they need much', () => {
    const planFor = (columnBytes: number) => planMemory({ ...usual, workers: 8, budgetBytes: GIB, columnBytes });
    const sizes = [0, 8 * MIB, 100 * MIB, GIB].map((columnBytes) => {
      const { workers, pass1SpareBytes } = planFor(columnBytes);
      expect(pass1SpareBytes).toBeGreaterThanOrEqual(Math.min(workers * columnBytes, GIB / 2));
      return workers;
    });
    expect(sizes).toEqual([8, 8, 5, 1]);
  });

  it('takes fewer workers, down to half, where that saves a second level', () => {
    // (B / W)^2 / (b * c) is about 1.6 GB with 16 workers and four times that with 8.
    const plans = [1e9, 4e9, 40e9].map((recordBytes) =>
      planMemory({ ...usual, recordBytes, budgetBytes: 128 * MIB, workers: 16 }),
    );
    const [small, middling, large] = plans.map(({ workers }) => workers);
    expect(small).toBe(16);
    expect(middling).toBeGreaterThanOrEqual(8);
    expect(middling).toBeLessThan(16);
    expect(large).toBe(16);
  });

  it('keeps data in memory if it fits, without a spill if the sizes are exact', () => {
    const fits = planMemory({ ...usual, budgetBytes: 8 * GIB });
    expect(fits).toMatchObject({ maySpill: false, pileCount: 67, bufferBytes: 120 * KIB });
    expect(fits.ramPoolBytes).toBeGreaterThan(fits.storedBytes);
    const guessed = planMemory({ ...usual, budgetBytes: 8 * GIB, exact: false });
    expect(guessed).toMatchObject({ maySpill: true, ramPoolBytes: 4 * GIB - 2 * MIB });
    expect(planMemory({ ...usual, budgetBytes: 8 * GIB }, { mayUseRamPool: false })).toMatchObject({
      maySpill: true,
      ramPoolBytes: 0,
    });
  });

  it.each([
    [42_450_060, 2, 13_842_954, 5000],
    [72 * MIB, 3, 18e6, 60],
    [2.5e9, 96, 66e6, 20],
  ])('keeps data in memory if it fits beside small arenas: budget %d, %d workers', (...sizes) => {
    const [budgetBytes, workers, recordBytes, meanRecordBytes] = sizes;
    const { ramPoolBytes } = planMemory({ ...usual, budgetBytes, workers, recordBytes, meanRecordBytes });
    expect(ramPoolBytes).toBeGreaterThan(recordBytes);
  });

  it('takes fewer workers when there are not 4M for each', () => {
    expect(planMemory({ ...usual, budgetBytes: 15 * MIB, workers: 64 }).workers).toBe(3);
    expect(planMemory({ ...usual, budgetBytes: 4 * MIB, workers: 64 }).workers).toBe(1);
  });

  it('refuses a budget below 4M, and says what it expects', () => {
    const refused = () => planMemory({ ...usual, budgetBytes: 4 * MIB - 1 });
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow('a memory budget of 4194303 bytes is too small: expected at least 4M');
  });

  it('takes tuned sizes as they are', () => {
    const tuning = {
      pileCount: 3,
      bufferBytes: 64,
      readBytes: 256,
      outputBytes: 128,
      stripeCount: 9,
      pass2ArenaBytes: 1e6,
    };
    expect(planMemory(usual, tuning)).toMatchObject({ ...tuning, stripeCount: 3, pass2MayGrow: false });
  });
});

describe('planMemory with existing piles', () => {
  const anyLayout = fc
    .tuple(logarithmic(1, 65536), fc.integer({ min: 1, max: 16 }))
    .map(([pileCount, stripes]) => ({ pileCount, stripeCount: Math.min(stripes, pileCount) }));

  it('keeps it, and everything in memory to its bounds, or says how much that takes', () => {
    fc.assert(
      fc.property(anyNeed, anyLayout, (need, layout) => {
        const goingOn = { ...need, isResumable: true, layout };
        let plan: MemoryPlan;
        try {
          plan = planMemory(goingOn);
        } catch (error) {
          const least = /: expected at least (\d+)M; give more with `memoryBytes`$/.exec(String(error))?.[1];
          expect(error).toMatchObject({ code: 'ERR_MEMORY_BUDGET' });
          // That much is enough, and not much less.
          const leastBytes = Number(least) * MIB;
          expect(leastBytes).toBeGreaterThan(need.budgetBytes);
          expect(leastBytes - 2 * MIB).toBeLessThan(layout.pileCount * 4.8 * KIB + 8 * MIB);
          plan = planMemory({ ...goingOn, budgetBytes: leastBytes });
          expectBounds(plan, { ...goingOn, budgetBytes: leastBytes });
          return;
        }
        expectBounds(plan, goingOn);
      }),
      { numRuns: atScale(200, 500, 1000) },
    );
  });

  function expectBounds(plan: MemoryPlan, need: MemoryNeed): void {
    expect(plan).toMatchObject({ ...need.layout, ramPoolBytes: 0, maySpill: true });
    expectArenas(plan, need);
  }

  const large = { ...usual, recordBytes: 40 * GIB, budgetBytes: 2 * GIB, workers: 16, isResumable: true };

  it('is what a plan for the same machine would be', () => {
    fc.assert(
      fc.property(anyNeed, (need) => {
        const first = planMemory({ ...need, isResumable: true });
        fc.pre(first.ramPoolBytes === 0);
        const { pileCount, stripeCount } = first;
        const again = planMemory({ ...need, isResumable: true, layout: { pileCount, stripeCount } });
        expect(again).toMatchObject({ pileCount, stripeCount });
        expect(again.workers).toBeLessThanOrEqual(need.workers);
      }),
    );
    const first = planMemory(large);
    expect(planMemory({ ...large, layout: first })).toEqual(first);
  });

  it('takes fewer workers where fewer files can be open', () => {
    const layout = { pileCount: 600, stripeCount: 16 };
    const workersWith = (openFileLimit: number) => planMemory({ ...large, layout, openFileLimit }).workers;
    expect(workersWith(4096)).toBe(16);
    expect(workersWith(256)).toBe(5);
    expect(workersWith(64)).toBe(1);
  });

  it('says when there is too little memory for its piles', () => {
    const layout = { pileCount: 65536, stripeCount: 16 };
    const plan = () => planMemory({ ...large, budgetBytes: 256 * MIB, layout });
    expect(plan).toThrow(UsageError);
    expect(plan).toThrow(
      /^a memory budget of 268435456 bytes is too small for the 65536 existing piles: expected at least 30\dM; give more with `memoryBytes`$/,
    );
  });

  it('is not changed by tuned sizes', () => {
    const layout = { pileCount: 12, stripeCount: 4 };
    expect(planMemory({ ...large, layout }, { pileCount: 3, stripeCount: 2, bufferBytes: 4096 })).toMatchObject({
      ...layout,
      bufferBytes: 4096,
    });
  });
});
