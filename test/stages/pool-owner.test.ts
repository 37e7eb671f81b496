/** The thread that owns the memory pool. If it ends before its job, nobody waits for it, and the job ends with the reason. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AbortError, SystemError } from '#src/errors.js';
import type { Release } from '#src/floor/cleanup.js';
import { JobControl } from '#src/floor/job-control.js';
import { RamPool } from '#src/piles/ram-pool.js';
import { openSlabs, startPoolOwner } from '#src/stages/job-memory.js';
import { JobStop } from '#src/stages/threads.js';

const owner = vi.hoisted(() => ({ code: '' }));
vi.mock('#workers/thread-urls.js', async (original) => ({
  ...(await original<object>()),
  poolOwnerUrl: () => new URL(`data:text/javascript,${encodeURIComponent(owner.code)}`),
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

/** Answers as the owner does, and ends in its own way when it is asked for memory. */
const ownerThat = (ends: string) => `
  import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads';
  new BroadcastChannel(workerData.channelName).onmessage = () => { ${ends} };
  parentPort.postMessage(workerData.wantedBytes);
`;

describe('startPoolOwner', () => {
  it.each([
    ['fails', "throw new Error('out of slabs');", /out of slabs/],
    ['ends', 'process.exit(0);', /the thread that owns the memory has ended/],
  ])('stops the job when its thread %s', async (_, ends, reason) => {
    owner.code = ownerThat(ends);
    const { control, stop } = openStop();
    const handle = await startPoolOwner(MIB, stop, releases);
    await expect(RamPool.open(handle, control)).rejects.toBeInstanceOf(AbortError);
    expect(stop.reason).toBeInstanceOf(SystemError);
    expect(stop.reason).toMatchObject({ code: 'ERR_WORKER', message: expect.stringMatching(reason) });
  });

  it('fails when its thread ends before it answers', async () => {
    owner.code = 'process.exit(0);';
    const { stop } = openStop();
    await expect(startPoolOwner(MIB, stop, releases)).rejects.toMatchObject({ code: 'ERR_WORKER' });
  });

  it('lets go of those who wait for a silent thread when the job is stopped', async () => {
    owner.code = ownerThat('');
    const { control, stop } = openStop();
    const opening = RamPool.open(await startPoolOwner(MIB, stop, releases), control);
    stop.request();
    await expect(opening).rejects.toBeInstanceOf(AbortError);
    expect(stop.reason).toBeUndefined();
  });

  it('does not stop a job that releases it', async () => {
    owner.code = ownerThat('');
    const { control, stop } = openStop();
    await startPoolOwner(MIB, stop, releases);
    for (const release of releases.splice(0)) await release();
    expect(control.isAborted).toBe(false);
  });
});

describe('openSlabs', () => {
  it('refuses fewer slabs than asked for', async () => {
    owner.code = ownerThat('').replace('workerData.wantedBytes', 'workerData.wantedBytes - workerData.slabBytes');
    const opening = openSlabs(3, MIB, false, openStop().stop, releases);
    await expect(opening).rejects.toMatchObject({ code: 'ERR_OUT_OF_MEMORY' });
  });
});
