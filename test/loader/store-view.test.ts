/** A loader's view of a store: the same for each pile, whether the entries are kept or read again. */
import { describe, expect, it } from 'vitest';
import { UNGATED } from '#src/job-control.js';
import { readStoreContents } from '#src/loader/store-view.js';
import { mergePiles } from '#src/piles/merged-pile.js';
import { layoutOf, openSnapshot, pileSetsOf } from '#src/store/store-snapshot.js';
import { makeStore, someRecords } from '../fixtures/make-store.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

describe('readStoreContents', () => {
  it('keeps the segments of piles, unless there are too many, and has the totals of all piles', async () => {
    const path = directory.path('store');
    const inputs = { a: someRecords('a', 50), empty: [], b: someRecords('b', 20) };
    await makeStore(path, { seed: 's', pileCount: 5000, inputs });
    const snapshot = openSnapshot(path);
    const pileSets = pileSetsOf(snapshot, layoutOf(snapshot, UNGATED, false));
    const all = await readStoreContents(snapshot, pileSets, undefined);
    expect(all.merged).toEqual(mergePiles(pileSets, 0, 5000));
    expect(all.totals.records.reduce((sum, records) => sum + records, 0)).toBe(70);

    const entryCount =
      3 * 5000 + (all.merged?.flatMap(({ parts }) => parts.flatMap((part) => part.segments)).length ?? 0);
    expect((await readStoreContents(snapshot, pileSets, undefined, entryCount)).merged).toEqual(all.merged);
    expect(await readStoreContents(snapshot, pileSets, undefined, entryCount - 1)).toEqual({
      totals: all.totals,
      merged: undefined,
    });
  });
});
