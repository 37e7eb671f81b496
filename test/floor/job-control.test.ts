/**
 * The words that all threads of a job share, used by real threads at the same time: a gate admits as many threads as
 * it has permits and loses no permit, spare memory is promised once, turns come in order, and every waiter leaves when
 * the job is to stop.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { JobControl, UNGATED } from '#src/floor/job-control.js';
import { measured } from '#src/floor/phase-clock.js';
import { atScale } from '../fixtures/scale.js';
import { INSIDE, LOG, MOST_INSIDE, NEGATIVE, TAKEN } from '../gate-ledger.mjs';
import { type GateThread, useGateThreads } from '../gate-threads.js';

const threads = useGateThreads();

/** Longer than a waiter sleeps at one time: afterwards it has been refused more than once. */
const SEVERAL_LOOKS_MILLISECONDS = 120;

async function expectSaid(those: readonly GateThread[], word: string): Promise<void> {
  expect(await Promise.all(those.map((thread) => thread.says()))).toEqual(those.map(() => word));
}

describe.each(['during', 'duringAsync'] as const)('a gate, with %s', (method) => {
  it('lets in as many threads as it has permits, and nobody else', async () => {
    const control = JobControl.create([3], 0);
    const inside = [1, 2, 3].map(() => threads.start(control, { name: 'stay', method }));
    await expectSaid(inside, 'inside');
    const outside = threads.start(control, { name: 'knock', method });
    expect(await outside.says()).toBe('knocking');
    await delay(SEVERAL_LOOKS_MILLISECONDS);
    // All permits are held until the end of the test: a call that returns now was admitted without one.
    control.abort();
    expect(await outside.says()).toBe('aborted');
    threads.release();
    await expectSaid(inside, 'left');
  });

  it('lets the next one in when a call has ended', async () => {
    const control = JobControl.create([1], 0);
    const first = threads.start(control, { name: 'stay', method });
    expect(await first.says()).toBe('inside');
    const next = threads.start(control, { name: 'knock', method });
    expect(await next.says()).toBe('knocking');
    await delay(SEVERAL_LOOKS_MILLISECONDS);
    threads.release();
    expect(await next.says()).toBe('inside');
    expect(await first.says()).toBe('left');
  });

  it('is never passed by more at a time', async () => {
    const control = JobControl.create([2], 0);
    const part = { name: 'crowd', method, threads: 4, rounds: atScale(30, 150), restMilliseconds: 0.2 } as const;
    await expectSaid(
      [1, 2, 3, 4].map(() => threads.start(control, part)),
      'left',
    );
    expect(threads.ledger[MOST_INSIDE]).toBeLessThanOrEqual(2);
    expect(threads.ledger[INSIDE]).toBe(0);
  });

  it('neither loses nor gains a permit when threads come and go at the same time', async () => {
    const control = JobControl.create([4], 0);
    // A permit for each: nobody waits, so they change the count as often as they can.
    const part = { name: 'crowd', method, threads: 4, rounds: atScale(2000, 30_000), restMilliseconds: 0 } as const;
    await expectSaid(
      [1, 2, 3, 4].map(() => threads.start(control, part)),
      'left',
    );
    const inside = [1, 2, 3, 4].map(() => threads.start(control, { name: 'stay', method }));
    await expectSaid(inside, 'inside');
    const outside = threads.start(control, { name: 'knock', method });
    expect(await outside.says()).toBe('knocking');
    control.abort();
    expect(await outside.says()).toBe('aborted');
    threads.release();
    await expectSaid(inside, 'left');
  });

  it('gets its permit back from a call that throws', async () => {
    const control = JobControl.create([1], 0);
    const call = () => {
      throw new RangeError('made up');
    };
    await expect(async () => control[method](0, call)).rejects.toThrow('made up');
    // Of a stopped job a free permit is still given, and one that is not free is not waited for.
    control.abort();
    expect(await control[method](0, () => 'entered')).toBe('entered');
  });

  it('does not take the permits of another one', async () => {
    const control = JobControl.create([1, 1], 0);
    control.abort();
    expect(await control.duringAsync(0, () => control[method](1, () => 'both'))).toBe('both');
  });
});

describe('a gate before an asynchronous call', () => {
  it('is closed to the thread of that call, too, which goes on until the call has ended', async () => {
    const control = JobControl.create([1], 0);
    const thread = threads.start(control, { name: 'two calls' });
    expect([await thread.says(), await thread.says()]).toEqual(['first', 'second']);
  });
});

describe('spare memory', () => {
  it('is promised once, and never more than there is, to threads that take and give back', async () => {
    const units = atScale(3000, 30_000);
    const control = JobControl.create([], 7 * units + 6);
    const takers = [1, 2, 3, 4].map(() => threads.start(control, { name: 'take', threads: 4, byteLength: 7 }));
    await expectSaid(takers, 'refused');
    expect(threads.ledger[NEGATIVE]).toBe(0);
    // What was given back after the last refusal of all is still there.
    expect(control.spareBytes + 7 * (threads.ledger[TAKEN] ?? 0)).toBe(7 * units + 6);
    expect(control.spareBytes % 7).toBe(6);
    expect(control.takeSpare(control.spareBytes + 1)).toBe(false);
  });

  it('is not taken in part, and can be taken to the last byte', () => {
    const control = JobControl.create([], 100);
    expect(control.takeSpare(101)).toBe(false);
    expect(control.spareBytes).toBe(100);
    expect(control.takeSpare(60)).toBe(true);
    expect(control.takeSpare(41)).toBe(false);
    expect(control.takeSpare(40)).toBe(true);
    expect(control.spareBytes).toBe(0);
    control.giveSpare(5);
    expect(control.spareBytes).toBe(5);
    control.setSpare(9);
    expect(control.takeSpare(9)).toBe(true);
  });
});

describe('turns', () => {
  it('pass in order from thread to thread', async () => {
    const control = JobControl.create([], 0);
    const rounds = atScale(20, 60);
    // The last one is started first.
    const players = [3, 2, 1, 0].map((first) => threads.start(control, { name: 'turns', threads: 4, first, rounds }));
    await expectSaid(players, 'left');
    const log = threads.ledger.subarray(LOG + 1, LOG + 1 + (threads.ledger[LOG] ?? 0));
    expect(Array.from(log)).toEqual(Array.from({ length: 4 * rounds }, (_, turn) => turn));
  });

  it('may be more than a word of 32 bits counts', () => {
    const control = JobControl.create([], 0);
    const words = new Int32Array(control.buffer);
    for (const turn of [2 ** 31 - 1, 2 ** 32 - 1, 3 * 2 ** 32 - 1]) {
      words[1] = turn | 0;
      expect(control.hasTurn(turn)).toBe(true);
      control.passTurn();
      expect([turn, turn + 1].map((each) => control.hasTurn(each))).toEqual([false, true]);
      control.waitForTurn(turn + 1);
    }
  });

  it('are waited for until the job is to stop', async () => {
    const control = JobControl.create([], 0);
    const waiter = threads.start(control, { name: 'turn', turn: 1 });
    expect(await waiter.says()).toBe('waiting');
    await delay(SEVERAL_LOOKS_MILLISECONDS);
    control.abort();
    expect(await waiter.says()).toBe('aborted');
  });
});

describe('the counters', () => {
  it('count far beyond 32 bits, each on its own', () => {
    const control = JobControl.create([5, 5], 3);
    const attached = new JobControl(control.buffer);
    attached.count('scatteredBytes', 2 ** 40);
    attached.count('scatteredBytes', 1);
    attached.count('shuffledBytes', 2 ** 33);
    expect(control.counted('scatteredBytes')).toBe(2 ** 40 + 1);
    expect(control.counted('shuffledBytes')).toBe(2 ** 33);
    expect(control.spareBytes).toBe(3);
  });
});

describe('the traffic of a gate', () => {
  it('counts bytes each way far beyond 32 bits, and the calls under way', async () => {
    const control = JobControl.create([2, 8], 0);
    const attached = new JobControl(control.buffer);
    attached.countMoved(0, 'read', 2 ** 40);
    attached.countMoved(0, 'read', 1);
    attached.countMoved(1, 'written', 7);
    attached.countMoved(UNGATED, 'written', 5);
    attached.count('claimedBytes', 3);
    expect(control.trafficOf(0)).toEqual({ bytesRead: 2 ** 40 + 1, bytesWritten: 0, callsUnderWay: 0 });
    expect(control.trafficOf(1)).toEqual({ bytesRead: 0, bytesWritten: 7, callsUnderWay: 0 });
    await control.duringAsync(1, () => {
      control.during(1, () => expect(attached.trafficOf(1).callsUnderWay).toBe(2));
    });
    expect(attached.trafficOf(1).callsUnderWay).toBe(0);
    expect(control.spareBytes).toBe(0);
  });
});

describe('the profile of a task', () => {
  it('tells how long it waited for a device, unless it went on meanwhile', async () => {
    const control = JobControl.create([1], 0);
    const held = control.duringAlongside(0, () => delay(SEVERAL_LOOKS_MILLISECONDS));
    const alongside = await measured(async () => {
      await control.duringAlongside(0, async () => {});
    });
    await held;
    expect(alongside.seconds).toMatchObject({ gate: 0 });
    const heldAgain = control.duringAlongside(0, () => delay(SEVERAL_LOOKS_MILLISECONDS));
    const waiting = await measured(() => control.duringAsync(0, () => {}));
    await heldAgain;
    expect(waiting.seconds.gate).toBeGreaterThan(0);
  });
});
