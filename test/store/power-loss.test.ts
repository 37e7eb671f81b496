/**
 * The power fails after every single change of a store, or during one. Whatever the disk then holds, the store has its
 * former content or the new one; it has the new one if the work had ended; and the work can be repeated.
 */
import { describe, expect, it } from 'vitest';
import { ensureSharedDirectory } from '#src/io/directories.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { ALL_LOST, DATA_KEPT, DiskModel, NAMES_KEPT, randomSurvival } from '../faults/disk-model.js';
import { drawsFor } from '../fixtures/draws.js';
import { atScale } from '../fixtures/scale.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { linesOf, SEED, writeInput } from '../fixtures/written-store.js';
import { expectDoneAgain, STORE_CHANGES, type StoreChange, writeFormerStore } from './store-changes.js';

const making: StoreChange = {
  name: 'making a store',
  work: (store) => writeInput(store, 'first', linesOf('first')),
  former: () => [],
  expected: () => expectedContent(SEED, { first: linesOf('first') }),
};
const makingInNewDirectory: StoreChange = {
  ...making,
  name: 'making a store in a directory that somebody has just made',
  work: (store) => {
    ensureSharedDirectory(store, 'store');
    return making.work(store);
  },
};

/** The power fails after every `step`th change. */
const step = atScale(9, 4, 1);
/** The number of random mixtures of surviving changes. */
const mixtures = atScale(1, 1, 8);

const directory = useMemoryDirectory();
const store = () => directory.path('store');

describe.each([making, makingInNewDirectory, ...STORE_CHANGES])('$name', (change) => {
  it('survives the loss of power at any moment', async () => {
    const isNew = change.former().length === 0;
    if (!isNew) await writeFormerStore(store());
    const model = new DiskModel(directory.path());
    const former = replaceFileCalls(model.calls);
    await change.work(store()).finally(() => replaceFileCalls(former));
    expect(model.changeCount).toBeGreaterThan(8);

    const draw = drawsFor(change.name);
    const tried = new Set<string>();
    for (let count = model.changeCount; count >= 0; count -= step) {
      const survivals = [
        ALL_LOST,
        NAMES_KEPT,
        DATA_KEPT,
        ...Array.from({ length: mixtures }, () => randomSurvival(draw)),
      ];
      for (const [i, survival] of survivals.entries()) {
        const state = model.stateAfter(count, survival);
        const isEnd = count === model.changeCount;
        if (tried.has(state.digest) && !isEnd) continue;
        tried.add(state.digest);
        state.writeTo(directory.path());
        const what = `${count} changes, the last is ${model.describe(count - 1)}, survival ${i}`;
        // Of one that is being made there may be nothing yet.
        if (!isNew || isEnd) {
          const allowed = isEnd ? [change.expected()] : [change.former(), change.expected()];
          expect(allowed, what).toContainEqual(contentOf(store()));
        }
        await expectDoneAgain(change, store(), what);
      }
    }
    expect(tried.size).toBeGreaterThan(atScale(3, 5));
  });
});
