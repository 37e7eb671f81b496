/**
 * Pass 2 on a store: its records in the order of their keys, as a job on the same inputs would write them. A job of its
 * own but for pass 1, in whose place the totals of the piles are read from the indexes. The store is only read.
 */

import type { Tuning } from '../plan/memory-plan.js';
import { explainedByExpiry, openSnapshot } from '../store/store-snapshot.js';
import { gatherStoredPiles } from './gather-stored-piles.js';
import type { ShuffleReport } from './options.js';
import { prepareStoreShuffle } from './prepare-store-shuffle.js';
import { type PileSource, runJob } from './shuffle.js';
import type { ShuffleStoreOptions } from './store-options.js';

/**
 * Writes the records of a store in their order: the bytes that `shuffle` writes of the same inputs, with the same seed
 * and input ids. What is committed meanwhile is not in it.
 *
 * @param tuning sizes that only tests have a reason to change; they do not change the output.
 * @throws PileshufError as `shuffle`
 */
export async function shuffleStore(
  storeDirectory: string,
  options: ShuffleStoreOptions,
  tuning: Partial<Tuning> = {},
): Promise<ShuffleReport> {
  const snapshot = openSnapshot(storeDirectory);
  const source: PileSource = {
    prepare: (releases) => prepareStoreShuffle(snapshot, options, tuning, releases),
    gatherPiles: (job) => gatherStoredPiles(snapshot, job),
  };
  const report = await runJob(options, source).catch((error: unknown) => {
    throw explainedByExpiry(error, snapshot);
  });
  const inputCount = snapshot.manifest.commits.reduce((sum, { inputIds }) => sum + inputIds.length, 0);
  return { ...report, inputCount };
}
