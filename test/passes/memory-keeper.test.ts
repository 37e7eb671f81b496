/**
 * The threads that keep the memory pool and the memory for records. One that ends before its job is not waited for, and the
 * job ends with the reason.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Release } from '#src/cleanup.js';
import { AbortError, SystemError } from '#src/errors.js';
import { JobControl } from '#src/job-control.js';
import { keepMemory, keepRamPool, openJobMemory } from '#src/passes/job-memory.js';
import { JobStop } from '#src/passes/threads.js';
import { RamPool } from '#src/pile-sets/ram-pool.js';
import { planHold } from '#src/plan/hold-plan.js';

const keeper = vi.hoisted(() => ({ code: '' }));
vi.mock('#workers/thread-urls.js', async (original) => ({
  ...(await original<object>()),
  memoryKeeperUrl: () => new URL(`data:text/javascript,${encodeURIComponent(keeper.code)}`),
}));

const MIB = 2 ** 20;
const releases: Release[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

function openStop() {
  const control = JobControl.create([], MIB);
  return { control, stop: new JobStop(control, undefined) };
}

/** Answers as the keeper does, and ends in its own way when it is asked for memory. */
const keeperThat = (ends: string) => `
  import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads';
  new BroadcastChannel(workerData.channelName).onmessage = () => { ${ends} };
  parentPort.postMessage(workerData.wantedBytes);
`;

describe('keepRamPool', () => {
  it.each([
    ['fails', "throw new Error('out of slabs');", /out of slabs/],
    ['ends', 'process.exit(0);', /the thread that keeps memory has ended/],
  ])('stops the job when its thread %s', async (_, ends, reason) => {
    keeper.code = keeperThat(ends);
    const { control, stop } = openStop();
    const handle = await keepRamPool(MIB, stop, releases);
    await expect(RamPool.open(handle, control)).rejects.toBeInstanceOf(AbortError);
    expect(stop.reason).toBeInstanceOf(SystemError);
    expect(stop.reason).toMatchObject({ code: 'ERR_WORKER', message: expect.stringMatching(reason) });
  });

  it('fails when its thread ends before it answers', async () => {
    keeper.code = 'process.exit(0);';
    const { stop } = openStop();
    await expect(keepRamPool(MIB, stop, releases)).rejects.toMatchObject({ code: 'ERR_WORKER' });
  });

  it('lets go of those who wait for a silent thread when the job is stopped', async () => {
    keeper.code = keeperThat('');
    const { control, stop } = openStop();
    const opening = RamPool.open(await keepRamPool(MIB, stop, releases), control);
    stop.request();
    await expect(opening).rejects.toBeInstanceOf(AbortError);
    expect(stop.reason).toBeUndefined();
  });

  it('does not stop a job that releases it', async () => {
    keeper.code = keeperThat('');
    const { control, stop } = openStop();
    await keepRamPool(MIB, stop, releases);
    for (const release of releases.splice(0)) await release();
    expect(control.isAborted).toBe(false);
  });
});

describe('the memory for records', () => {
  const hold = planHold({
    ...{ budgetBytes: 64 * MIB, workers: 1, recordBytes: MIB, meanRecordBytes: 100 },
    ...{ exact: true, outputWaits: false, isKnown: true },
  });

  it('is left out when the system does not give all of it', async () => {
    keeper.code = keeperThat('');
    const { stop } = openStop();
    const given = await openJobMemory({ ramPoolBytes: 0, hold }, false, stop, releases);
    expect(given.recordMemory?.hold.memory.channelName).toMatch(/^pileshuf /);
    keeper.code = keeperThat('').replace('wantedBytes)', 'wantedBytes - 1)');
    expect((await openJobMemory({ ramPoolBytes: 0, hold }, false, stop, releases)).recordMemory).toBeUndefined();
  });

  it('goes with its thread', async () => {
    keeper.code = keeperThat("new BroadcastChannel(workerData.channelName).postMessage(['kept']);");
    const { control, stop } = openStop();
    const { channelName, release } = await keepMemory(MIB, undefined, stop, releases);
    const asking = new BroadcastChannel(channelName);
    const answers: unknown[] = [];
    const answered = new Promise<void>((resolve) => {
      asking.onmessage = ({ data }) => {
        answers.push(data);
        resolve();
      };
    });
    asking.postMessage('memory?');
    await answered;
    await release();
    answers.length = 0;
    asking.postMessage('memory?');
    await delay(20);
    asking.close();
    expect(answers).toEqual([]);
    expect(control.isAborted).toBe(false);
  });
});
