/** The memory that the decoders of a thread reserve of the job's budget: once, for the largest of them. */
import { describe, expect, it } from 'vitest';
import { JobControl } from '#src/floor/job-control.js';
import { decoderMemory } from '#workers/thread-state.js';
import { usualNeed } from '../plan/memory-needs.js';

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
