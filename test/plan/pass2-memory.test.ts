/**
 * Pass 2 once the longest record is known: every thread can hold it, no memory is promised twice, and the budget that
 * a message names is enough.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LARGEST_ARENA_BYTES, OUTPUT_BUFFER_COUNT } from '#src/plan/arena-sizes.js';
import { type MemoryNeed, type MemoryPlan, planMemory } from '#src/plan/memory-plan.js';
import { hasRoomFor, type LongestNeed, memoryFor, planPass2, planWithColumns } from '#src/plan/pass2-memory.js';
import { atScale } from '../fixtures/scale.js';
import { anyNeed, logarithmic, MIB, usualNeed } from './memory-needs.js';

const LARGEST_MAX_RECORD_BYTES = 2 ** 31 - 2 ** 26;
const recordBytes = logarithmic(1, LARGEST_MAX_RECORD_BYTES);

describe('planPass2', () => {
  it('gives every thread room for the longest record, within the budget, or refuses it', () => {
    fc.assert(
      fc.property(anyNeed, recordBytes, fc.double({ min: 0, max: 1, noNaN: true }), (need, longest, share) => {
        const plan = planMemory(need);
        const poolBytes = Math.floor(plan.ramPoolBytes * share);
        const fitted = planPass2(plan, need.budgetBytes, poolBytes, longest);
        const leastBytes = longest + OUTPUT_BUFFER_COUNT * plan.outputBytes + plan.readBytes;
        const mostBytes = Math.min(need.budgetBytes - poolBytes, LARGEST_ARENA_BYTES);
        if (fitted === undefined) {
          const columnBytes = plan.columnBytes === 0 ? 0 : plan.columnBytes + 5 * longest;
          expect(leastBytes + columnBytes + MIB).toBeGreaterThan(mostBytes);
          return;
        }
        expect(fitted.workers).toBeGreaterThanOrEqual(1);
        expect(fitted.workers).toBeLessThanOrEqual(plan.workers);
        expect(fitted.arenaBytes).toBeGreaterThanOrEqual(leastBytes);
        expect(fitted.arenaBytes).toBeLessThanOrEqual(mostBytes);
        const promised = poolBytes + fitted.workers * fitted.arenaBytes + fitted.spareBytes;
        expect(promised).toBeLessThanOrEqual(need.budgetBytes);
      }),
      { numRuns: atScale(400, 1000, 2000) },
    );
  });

  it('gives every thread room for pages of columns and the copies of a long row, within the budget', () => {
    const columns = logarithmic(1, 2 ** 30);
    fc.assert(
      fc.property(anyNeed, columns, recordBytes, (need, columnBytes, longest) => {
        const plan = planMemory({ ...need, columnBytes });
        const fitted = planPass2(plan, need.budgetBytes, plan.ramPoolBytes, longest);
        if (fitted === undefined) return;
        expect(fitted.columnBytes).toBeGreaterThanOrEqual(columnBytes + longest);
        const ofThreads = fitted.workers * (fitted.arenaBytes + fitted.columnBytes);
        expect(plan.ramPoolBytes + ofThreads + fitted.spareBytes).toBeLessThanOrEqual(need.budgetBytes);
      }),
      { numRuns: atScale(400, 1000, 2000) },
    );
  });

  it('counts what compresses a page with a long row: two copies, and tables that are no larger than the page needs', () => {
    const least = (tableLogs: readonly number[], longestMib: number) => {
      const need = { ...usualNeed, workers: 1, columnBytes: 10 * MIB, exact: false, isResumable: true, tableLogs };
      const fits = (mib: number) => {
        const budgetBytes = mib * MIB;
        return planPass2(planMemory({ ...need, budgetBytes }), budgetBytes, 0, longestMib * MIB) !== undefined;
      };
      return Array.from({ length: 4000 }, (_, mib) => mib + 64).find(fits) ?? 0;
    };
    expect(least([27, 25], 28) - least([], 28)).toBe(256 + 128 + 2 * 29);
    expect(least([27, 25], 100) - least([], 100)).toBe(512 + 128 + 2 * 101);
    // Usual pages are compressed beside the budget.
    expect(least([27, 25], 0.9) - least([], 0.9)).toBe(0);
  });

  it('leaves an eighth of the budget for compressed output that waits, as far as arenas can do without', () => {
    fc.assert(
      fc.property(anyNeed, (need) => {
        const compressing = { ...need, budgetBytes: need.budgetBytes + 4 * MIB, outputWaits: true, columnBytes: 0 };
        const plan = planMemory(compressing);
        const fitted = planPass2(plan, compressing.budgetBytes, plan.ramPoolBytes, 1);
        const waitingBytes = Math.min(compressing.budgetBytes / 8, compressing.budgetBytes - 4 * MIB);
        expect(fitted?.workers).toBe(plan.workers);
        expect(fitted?.spareBytes).toBeGreaterThanOrEqual(Math.floor(waitingBytes));
      }),
      { numRuns: atScale(400, 1000, 2000) },
    );
  });
});

describe('planWithColumns', () => {
  it('leaves pages of columns room beside the pool, without a pool if need be, or refuses them', () => {
    const columns = logarithmic(1, 2 ** 30);
    fc.assert(
      fc.property(anyNeed, columns, (any, columnBytes) => {
        const need = { ...any, columnBytes };
        const plan = planWithColumns(need);
        const roomOf = (planned: MemoryPlan, poolBytes: number) =>
          planPass2(planned, need.budgetBytes, poolBytes, need.meanRecordBytes);
        if (plan === undefined) expect(roomOf(planMemory(need, { mayUseRamPool: false }), 0)).toBeUndefined();
        else expect(roomOf(plan, plan.ramPoolBytes)).toBeDefined();
      }),
      { numRuns: atScale(400, 1000, 2000) },
    );
  });
});

describe('memoryFor', () => {
  const advised = (need: MemoryNeed, long: LongestNeed) => Number.parseInt(memoryFor(need, long), 10) * MIB;

  it('names more than the budget, and what passes the check that the job is held to, whatever its shape', () => {
    const shape = fc.record({
      hasStreams: fc.boolean(),
      layout: fc.option(fc.record({ pileCount: fc.integer({ min: 1, max: 800 }), stripeCount: fc.constant(1) }), {
        nil: undefined,
      }),
      shareOfMemory: fc.constantFrom(1, 1 / 2),
      reads: fc.constantFrom('only', 'first', undefined),
    });
    const long = fc.record({ recordBytes, decoderBytes: fc.oneof(fc.constant(0), logarithmic(2 ** 23, 2 ** 27)) });
    fc.assert(
      fc.property(anyNeed, shape, long, fc.boolean(), (any, shaped, needed, isLarge) => {
        const plain = { ...any, ...shaped };
        const need = isLarge ? { ...plain, isResumable: true, unlessLarge: { ...plain, isResumable: false } } : plain;
        fc.pre(need.layout === undefined || need.budgetBytes >= 16 * MIB);
        const memoryBytes = advised(need, needed);
        const budgetBytes = memoryBytes * shaped.shareOfMemory;
        expect(budgetBytes).toBeGreaterThan(need.budgetBytes);
        for (const isResumable of isLarge ? [true, false] : [need.isResumable]) {
          const roomier = { ...need, isResumable, budgetBytes };
          expect(hasRoomFor(roomier, needed)).toBe(true);
          if (shaped.reads === 'only') continue;
          const plan = planWithColumns(roomier) ?? expect.fail('columns have no room');
          const threads = need.hasStreams ? Math.min(plan.workers, need.mostSlices) : 1;
          const poolBytes = need.exact ? Math.max(0, plan.ramPoolBytes - needed.recordBytes) : plan.ramPoolBytes;
          const ofThread = plan.pass1ArenaBytes + needed.recordBytes + needed.decoderBytes + 2 * MIB;
          expect(poolBytes + threads * ofThread).toBeLessThanOrEqual(budgetBytes);
          expect(planPass2(plan, budgetBytes, plan.ramPoolBytes, needed.recordBytes)).toBeDefined();
        }
      }),
      { numRuns: 500 },
    );
  });

  it('asks for little more than the record when the data does not stay in memory, however many threads there are', () => {
    for (const workers of [1, 16]) {
      const needed = advised({ ...usualNeed, workers }, { recordBytes: 500 * MIB, decoderBytes: 0 });
      expect(needed).toBeGreaterThan(500 * MIB);
      expect(needed).toBeLessThan(600 * MIB);
    }
  });

  it('counts every thread where none can wait for the others', () => {
    const long = { recordBytes: 100 * MIB, decoderBytes: 0 };
    for (const need of [
      { ...usualNeed, workers: 4, hasStreams: true },
      { ...usualNeed, workers: 4, reads: 'only' as const },
    ]) {
      expect(advised(need, long)).toBeGreaterThan(4 * long.recordBytes);
    }
  });
});
