/**
 * Pass 2 once the longest record is known: every thread can hold it, no memory is promised twice, and the budget that
 * a message names is enough.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LARGEST_ARENA_BYTES, OUTPUT_BUFFER_COUNT } from '#src/plan/arena-sizes.js';
import { planMemory } from '#src/plan/memory-plan.js';
import { memoryForRecord, planPass2 } from '#src/plan/pass2-memory.js';
import { anyNeed, logarithmic, MIB, usualNeed } from './memory-needs.js';

const LARGEST_MAX_RECORD_BYTES = 2 ** 31 - 2 ** 26;
const recordBytes = logarithmic(1, LARGEST_MAX_RECORD_BYTES);

describe('planPass2', () => {
  it('leaves the plan as it is when its arenas hold the longest record', () => {
    const plan = planMemory(usualNeed);
    const { workers, pass2ArenaBytes: arenaBytes } = plan;
    const spareBytes = usualNeed.budgetBytes - workers * arenaBytes;
    expect(planPass2(plan, usualNeed.budgetBytes, 0, 4000)).toEqual({ workers, arenaBytes, spareBytes });
  });

  it('gives every thread room for the longest record, within the budget, or refuses it', () => {
    fc.assert(
      fc.property(anyNeed, recordBytes, fc.double({ min: 0, max: 1, noNaN: true }), (need, longest, share) => {
        const plan = planMemory(need);
        const poolBytes = Math.floor(plan.ramPoolBytes * share);
        const fitted = planPass2(plan, need.budgetBytes, poolBytes, longest);
        const leastBytes = longest + OUTPUT_BUFFER_COUNT * plan.outputBytes + plan.readBytes;
        const mostBytes = Math.min(need.budgetBytes - poolBytes, LARGEST_ARENA_BYTES);
        if (fitted === undefined) {
          expect(leastBytes + MIB).toBeGreaterThan(mostBytes);
          return;
        }
        expect(fitted.workers).toBeGreaterThanOrEqual(1);
        expect(fitted.workers).toBeLessThanOrEqual(plan.workers);
        expect(fitted.arenaBytes).toBeGreaterThanOrEqual(leastBytes);
        expect(fitted.arenaBytes).toBeLessThanOrEqual(mostBytes);
        const promised = poolBytes + fitted.workers * fitted.arenaBytes + fitted.spareBytes;
        expect(promised).toBeLessThanOrEqual(need.budgetBytes);
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves an eighth of the budget for compressed output that waits, as far as arenas can do without', () => {
    fc.assert(
      fc.property(anyNeed, (need) => {
        const compressing = { ...need, budgetBytes: need.budgetBytes + 4 * MIB, outputWaits: true };
        const plan = planMemory(compressing);
        const fitted = planPass2(plan, compressing.budgetBytes, plan.ramPoolBytes, 1);
        const waitingBytes = Math.min(compressing.budgetBytes / 8, compressing.budgetBytes - 4 * MIB);
        expect(fitted?.workers).toBe(plan.workers);
        expect(fitted?.spareBytes).toBeGreaterThanOrEqual(Math.floor(waitingBytes));
      }),
      { numRuns: 2000 },
    );
  });

  it('lends nothing to arenas of a fixed size, which are larger only as far as a record needs it', () => {
    const plan = planMemory(usualNeed, { pass2ArenaBytes: 24 * MIB });
    const fitLongest = (longest: number) => planPass2(plan, usualNeed.budgetBytes, 0, longest);
    expect(fitLongest(4000)).toEqual({ workers: 2, arenaBytes: 24 * MIB, spareBytes: 0 });
    expect(fitLongest(40 * MIB)?.spareBytes).toBe(0);
    expect(fitLongest(40 * MIB)?.arenaBytes).toBeGreaterThan(40 * MIB);
    expect(fitLongest(40 * MIB)?.arenaBytes).toBeLessThan(64 * MIB);
  });
});

describe('memoryForRecord', () => {
  it('names more than the budget, and enough for both passes with a full pool', () => {
    fc.assert(
      fc.property(anyNeed, recordBytes, (need, longest) => {
        const budgetBytes = Number.parseInt(memoryForRecord(need, longest), 10) * MIB;
        expect(budgetBytes).toBeGreaterThan(need.budgetBytes);
        const plan = planMemory({ ...need, budgetBytes });
        const poolBytes = need.exact ? Math.max(0, plan.ramPoolBytes - longest) : plan.ramPoolBytes;
        expect(plan.pass1SpareBytes - poolBytes).toBeGreaterThan(longest);
        expect(plan.pass1ArenaBytes + longest + 2 * MIB).toBeLessThanOrEqual(LARGEST_ARENA_BYTES);
        expect(planPass2(plan, budgetBytes, plan.ramPoolBytes, longest)).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  it('asks for little more than the record when the data does not stay in memory', () => {
    const needed = Number.parseInt(memoryForRecord({ ...usualNeed, workers: 1 }, 500 * MIB), 10);
    expect(needed).toBeGreaterThan(500);
    expect(needed).toBeLessThan(600);
  });

  it('counts every worker when one alone would have found room', () => {
    const need = { ...usualNeed, workers: 4 };
    const alone = planMemory(need).pass1SpareBytes - 4 * MIB;
    const needed = Number.parseInt(memoryForRecord(need, alone), 10);
    expect(needed * MIB).toBeGreaterThan(4 * alone);
  });
});
