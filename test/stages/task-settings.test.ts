/** Between the passes: whether the threads of pass 1 can go on, or must end because their memory is needed otherwise. */
import { describe, expect, it } from 'vitest';
import { JobControl } from '#src/floor/job-control.js';
import { emptyTotals } from '#src/piles/pile-totals.js';
import { partsOf, ramPoolIn, retiredBytes, retireParts } from '#src/piles/ram-pool.js';
import { planMemory } from '#src/plan/memory-plan.js';
import { scatteredPiles } from '#src/stages/shuffle-work.js';
import { fitPass2 } from '#src/stages/task-settings.js';
import { MIB, usualNeed } from '../plan/memory-needs.js';

const { workers } = planMemory(usualNeed);

/** @param takenBytes of the spare memory that pass 1 took. */
function fitted(longestRecordBytes: number, takenBytes = 0, columnBytes = 0) {
  const memoryNeed = { ...usualNeed, columnBytes };
  const memory = planMemory(memoryNeed);
  const control = JobControl.create([], memory.pass1SpareBytes);
  if (takenBytes > 0) expect(control.takeSpare(takenBytes)).toBe(true);
  const piles = scatteredPiles([], emptyTotals(memory.pileCount), longestRecordBytes);
  const fit = fitPass2({ memory, memoryNeed, ramPool: undefined, control }, piles);
  return { ...fit, leftBytes: usualNeed.budgetBytes - fit.workers * fit.arenaBytes - control.spareBytes };
}

it.each<[string, Parameters<typeof fitted>, object]>([
  ['go on if their arenas hold the longest record', [4000], { workers, needsNewThreads: false, leftBytes: 0 }],
  // Only the end of a thread frees its arena.
  ['are new ones if arenas have grown in pass 1', [4000, MIB], { workers, needsNewThreads: true }],
  ['go on if they took what columns need', [100, workers * MIB, MIB], { workers, needsNewThreads: false }],
  ['are new ones if they took more', [100, (workers + 1) * MIB, MIB], { workers, needsNewThreads: true }],
  ['are fewer if a record is long', [usualNeed.budgetBytes / 2], { workers: 1, needsNewThreads: true }],
])('threads %s', (_, how, fit) => expect(fitted(...how)).toMatchObject(fit));

describe('threads that work in one linear memory', () => {
  const memory = planMemory(usualNeed);
  const fitIn = (arenaBytes: number, longestRecordBytes: number, usedBytes = 0) => {
    const ramPool = ramPoolIn({ kind: 'shared', channelName: '', slabBytes: MIB }, MIB, {
      arenaBytes,
      partCount: workers,
      bufferStrideBytes: 100,
    });
    if (usedBytes > 0) retireParts(ramPool, usedBytes);
    const control = JobControl.create([], memory.pass1SpareBytes);
    const piles = scatteredPiles([], emptyTotals(memory.pileCount), longestRecordBytes);
    const { needsNewThreads } = fitPass2({ memory, memoryNeed: usualNeed, ramPool, control }, piles);
    const staysThere = partsOf(ramPool) !== undefined;
    const { spareBytes } = control;
    return { needsNewThreads, staysThere, retiredBytes: retiredBytes(ramPool), spareBytes };
  };

  it('stay there if their parts have room for the arenas', () => {
    const staying = { needsNewThreads: false, staysThere: true, retiredBytes: 0 };
    expect(fitIn(memory.pass2ArenaBytes, 4000)).toMatchObject(staying);
  });

  it('have less memory to spare if threads have left their parts in pass 1', () => {
    const { spareBytes } = fitIn(memory.pass2ArenaBytes, 4000);
    expect(fitIn(memory.pass2ArenaBytes, 4000, MIB).spareBytes).toBe(spareBytes - workers * MIB);
  });

  it.each([
    ['the arenas are larger', memory.pass2ArenaBytes - 1, 4000, false],
    ['a record is long', memory.pass2ArenaBytes, usualNeed.budgetBytes / 2, true],
  ])('leave their parts, whose memory stays taken, if %s', (_, arenaBytes, longestRecordBytes, needsNewThreads) => {
    const leaving = { needsNewThreads, staysThere: false, retiredBytes: workers * memory.pass1ArenaBytes };
    expect(fitIn(arenaBytes, longestRecordBytes)).toMatchObject(leaving);
  });
});

it('a record that no thread can hold is refused, with the memory that would do', () => {
  expect(() => fitted(2 * usualNeed.budgetBytes)).toThrow(
    expect.objectContaining({
      code: 'ERR_RECORD_TOO_LONG',
      message: expect.stringMatching(/`memoryBytes` of at least \d+M$/),
    }),
  );
});
