/**
 * A loader that never waits for a disk or a thread still gives the event loop its turns, so that timers and signals
 * work.
 */
import { describe, expect, it } from 'vitest';
import { type OpenedStore, openStore } from '#src/index.js';
import { makeStore, someRecords } from '../fixtures/make-store.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
/** Too many for the time of a test: only the signal ends the reading. */
const EPOCHS = 10 ** 9;

async function readUntilTold(path: string, read: (store: OpenedStore) => Promise<void>): Promise<void> {
  const store = openStore(path, { signal: AbortSignal.timeout(150) });
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 5);
  // If the signal does not work, the test still ends.
  const end = performance.now() + 5000;
  const cause = expect.objectContaining({ name: 'TimeoutError' });
  const told = { name: 'AbortError', code: 'ABORT_ERR', cause, message: expect.stringContaining('incomplete') };
  try {
    await expect(
      (async () => {
        while (performance.now() < end) await read(store);
      })(),
    ).rejects.toMatchObject(told);
    expect(ticks).toBeGreaterThan(0);
  } finally {
    clearInterval(timer);
    await store.close();
  }
}

/** Throws after some time, if nothing else ends it. */
async function go(records: AsyncIterable<unknown>): Promise<void> {
  const end = performance.now() + 5000;
  for await (const _ of records) if (performance.now() > end) throw new Error('the signal was not noticed');
}

describe('an AbortSignal with a time limit', () => {
  it('ends the reading of a small store, epoch after epoch, in batches, steps, portions or single records', async () => {
    const path = directory.path('store');
    await makeStore(path, { seed: 's', pileCount: 3, inputs: { a: someRecords('a', 50) } });
    await readUntilTold(path, (store) => go(store.epoch(0).steps(7)));
    await readUntilTold(path, (store) => go(store.epoch(0).portions(EPOCHS)));
    await readUntilTold(path, (store) => go(store.epoch(1)));
    await readUntilTold(path, (store) => go(store.epoch(1).batches(1000)));
  });

  it('ends the reading of a share without records', async () => {
    const path = directory.path('store');
    await makeStore(path, { seed: 's', pileCount: 3, inputs: { a: ['only one\n'] } });
    const share = { rank: 1, worldSize: 2 };
    await readUntilTold(path, (store) => go(store.epoch(0, share)));
    await readUntilTold(path, (store) => go(store.epoch(0, share).batches(5)));
  });
});
