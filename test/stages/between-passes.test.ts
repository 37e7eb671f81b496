/** Between the passes: whether the threads of pass 1 can go on, or must end because their memory is needed otherwise. */
import { describe, expect, it } from 'vitest';
import { JobControl } from '#src/job-control.js';
import { emptyTotals } from '#src/piles/pile-totals.js';
import { planMemory } from '#src/plan/memory-plan.js';
import { fitPass2 } from '#src/stages/between-passes.js';
import { scatteredPiles } from '#src/stages/shuffle-work.js';
import { MIB, usualNeed } from '../plan/memory-needs.js';

const memory = planMemory(usualNeed);

/** @param takenBytes of the spare memory that arenas took in pass 1. */
function fitted(longestRecordBytes: number, takenBytes = 0) {
  const control = JobControl.create([], memory.pass1SpareBytes);
  if (takenBytes > 0) expect(control.takeSpare(takenBytes)).toBe(true);
  const piles = scatteredPiles([], emptyTotals(memory.pileCount), longestRecordBytes);
  return { control, ...fitPass2({ memory, memoryNeed: usualNeed, ramPool: undefined, control }, piles) };
}

describe('fitPass2', () => {
  it('keeps the threads if their arenas hold the longest record', () => {
    const { control, ...fit } = fitted(4000);
    const { workers, pass2ArenaBytes: arenaBytes } = memory;
    expect(fit).toEqual({ workers, arenaBytes, columnBytes: 0, needsNewThreads: false });
    expect(control.spareBytes).toBe(usualNeed.budgetBytes - memory.workers * memory.pass2ArenaBytes);
  });

  it('keeps the threads if the budget has room for larger arenas on all of them', () => {
    const small = { ...memory, pass2ArenaBytes: memory.pass1ArenaBytes };
    const control = JobControl.create([], small.pass1SpareBytes);
    const piles = scatteredPiles([], emptyTotals(memory.pileCount), small.pass2ArenaBytes);
    const fit = fitPass2({ memory: small, memoryNeed: usualNeed, ramPool: undefined, control }, piles);
    expect(fit).toMatchObject({ workers: memory.workers, needsNewThreads: false });
    expect(fit.arenaBytes).toBeGreaterThan(small.pass2ArenaBytes);
    expect(control.spareBytes).toBe(usualNeed.budgetBytes - memory.workers * fit.arenaBytes);
  });

  it('needs new threads if arenas have grown in pass 1, because only the end of a thread frees its arena', () => {
    expect(memory.pass1SpareBytes).toBeGreaterThan(MIB);
    expect(fitted(4000, MIB)).toMatchObject({ workers: memory.workers, needsNewThreads: true });
  });

  it('keeps the threads if pass 1 took no more for columns than pass 2 needs for them', () => {
    const need = { ...usualNeed, columnBytes: MIB };
    const plan = planMemory(need);
    const fitOf = (takenBytes: number) => {
      const control = JobControl.create([], plan.pass1SpareBytes);
      control.takeSpare(takenBytes);
      const piles = scatteredPiles([], emptyTotals(plan.pileCount), 100);
      return fitPass2({ memory: plan, memoryNeed: need, ramPool: undefined, control }, piles);
    };
    expect(fitOf(plan.workers * MIB)).toMatchObject({ workers: plan.workers, needsNewThreads: false });
    expect(fitOf((plan.workers + 1) * MIB)).toMatchObject({ workers: plan.workers, needsNewThreads: true });
  });

  it('needs new threads, and fewer, if the longest record needs larger arenas', () => {
    const fit = fitted(usualNeed.budgetBytes / 2);
    expect(fit).toMatchObject({ workers: 1, needsNewThreads: true });
    expect(fit.arenaBytes).toBeGreaterThan(usualNeed.budgetBytes / 2);
  });

  it('refuses a record that no thread can hold, and names the memory that would do', () => {
    expect(() => fitted(2 * usualNeed.budgetBytes)).toThrow(
      expect.objectContaining({
        code: 'ERR_RECORD_TOO_LONG',
        message: expect.stringMatching(/`memoryBytes` of at least \d+M$/),
      }),
    );
  });
});
