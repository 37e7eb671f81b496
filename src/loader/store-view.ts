/**
 * One state of a store as loaders read it: its pile sets, and what each pile holds, which is read when it is needed.
 */
import type { StoredPileSet } from '../pile-sets/pile-set-writer.js';
import { pileSetsOf, type StoreSnapshot } from '../store/store-snapshot.js';
import type { LoaderLimits } from './loader-options.js';
import type { LoaderThreads } from './loader-threads.js';
import { readStoreContents, type StoreContents } from './store-contents.js';

export class StoreView {
  readonly snapshot: StoreSnapshot;
  readonly threads: LoaderThreads;
  readonly limits: LoaderLimits;
  readonly pileSets: readonly StoredPileSet[];
  /** How many there are in an epoch, for all ranks. */
  readonly records: number;
  #contents: Promise<StoreContents> | undefined;

  constructor(snapshot: StoreSnapshot, threads: LoaderThreads, limits: LoaderLimits) {
    this.snapshot = snapshot;
    this.threads = threads;
    this.limits = limits;
    this.pileSets = pileSetsOf(snapshot, threads.layout);
    this.records = snapshot.manifest.commits.reduce((sum, { records }) => sum + records, 0);
  }

  /** Read once, unless that fails; the threads start meanwhile. */
  contents(): Promise<StoreContents> {
    this.threads.start();
    this.#contents ??= readStoreContents(this.snapshot, this.pileSets, this.limits.signal).catch((error: unknown) => {
      this.#contents = undefined;
      throw error;
    });
    return this.#contents;
  }
}
