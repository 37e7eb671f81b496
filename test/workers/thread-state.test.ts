/**
 * The state that a thread keeps from task to task of one job, whichever task comes first; and the memory that its
 * decoders reserve of the job's budget: once, for the largest of them.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { JobControl } from '#src/job-control.js';
import { ownRamPool } from '#src/piles/ram-pool.js';
import type { ReadSettings, ScatterSettings, TaskSettings } from '#workers/settings.js';
import { decoderMemory, forgetJob, pileStateOf, readStateOf, threadStateOf } from '#workers/thread-state.js';
import { usualNeed } from '../plan/memory-needs.js';

const control = JobControl.create([], 0).buffer;
const shareOf = (jobName: string): TaskSettings => ({ jobName, control, arenaBytes: 2 ** 20 });
const readSettingsOf = (jobName: string): ReadSettings => ({
  ...shareOf(jobName),
  read: {
    framing: undefined,
    header: undefined,
    linesAssumed: false,
    decompressProgram: undefined,
    igzip: false,
    maxRecordBytes: 4096,
  },
  readBytes: 4096,
  memoryNeed: usualNeed,
});
const scatterSettingsOf = (jobName: string): ScatterSettings => ({
  ...readSettingsOf(jobName),
  layout: { pileCount: 1, stripeCount: 1, disks: [], indexDirectory: '/nowhere' },
  ramPool: ownRamPool(1),
  keepsPileSets: false,
  bufferBytes: 4096,
});

afterEach(() => {
  for (const name of ['one', 'other']) forgetJob(name);
});

describe('a thread', () => {
  it('keeps one arena for all tasks of a job, and makes what some of them need once', () => {
    const { arena } = threadStateOf(shareOf('one'));
    const read = readStateOf(readSettingsOf('one'));
    const pile = pileStateOf(scatterSettingsOf('one'));
    expect([read.arena, pile.arena, threadStateOf(shareOf('one')).arena].map((other) => other === arena)).toEqual(
      Array(3).fill(true),
    );
    expect(readStateOf(readSettingsOf('one'))).toBe(read);
    expect(pileStateOf(scatterSettingsOf('one'))).toBe(pile);
    expect(pile.ramPool).toBeInstanceOf(Promise);
  });

  it('keeps nothing for another job, nor when it has forgotten it', () => {
    const first = pileStateOf(scatterSettingsOf('one'));
    const read = readStateOf(readSettingsOf('one'));
    expect(pileStateOf(scatterSettingsOf('other')).arena === first.arena).toBe(false);
    forgetJob('one');
    expect(pileStateOf(scatterSettingsOf('one')).arena === first.arena).toBe(false);
    expect(readStateOf(readSettingsOf('one')) === read).toBe(false);
  });
});

describe('decoderMemory', () => {
  it('takes what is missing to what is kept, and nothing when there is less', () => {
    const control = JobControl.create([], 100);
    const memory = decoderMemory(control, usualNeed);
    expect([memory.reserve(40), control.spareBytes]).toEqual([true, 60]);
    expect([memory.reserve(30), control.spareBytes]).toEqual([true, 60]);
    expect([memory.reserve(101), control.spareBytes]).toEqual([false, 60]);
    expect([memory.reserve(100), control.spareBytes]).toEqual([true, 0]);
  });

  it('is that of one thread: others take of what is left', () => {
    const control = JobControl.create([], 100);
    const [one, other] = [decoderMemory(control, usualNeed), decoderMemory(control, usualNeed)];
    expect([one.reserve(60), other.reserve(60), other.reserve(40), one.reserve(60)]).toEqual([true, false, true, true]);
  });
});
