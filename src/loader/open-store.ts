import { UsageError } from '../errors.js';
import { requireKnownOptions } from '../known-options.js';
import { readNewestManifest } from '../store/newest-manifest.js';
import { commitsUntil, pileSetsNamedBy } from '../store/store-manifest.js';
import { openSnapshot, type StoreSnapshot } from '../store/store-snapshot.js';
import { Loader } from './loader.js';
import {
  completeLimits,
  completePrefetch,
  completeSettings,
  type LoaderLimits,
  type LoaderOptions,
  type OpenStoreOptions,
  requireEpoch,
} from './loader-options.js';
import { type LoaderState, readState } from './loader-state.js';
import { isReadInline, LoaderThreads } from './loader-threads.js';
import { StoreView } from './store-view.js';

/** A store that is open for reading. */
export class OpenedStore {
  /** Records of the store. Each epoch has all of them. */
  readonly records: number;
  readonly #limits: LoaderLimits;
  readonly #view: StoreView;
  /** By `isReadInline`: a resumed state of the store may be large when the present one is small. */
  readonly #threads = new Map<boolean, LoaderThreads>();
  #isClosed = false;

  /** Use `openStore`. */
  constructor(snapshot: StoreSnapshot, limits: LoaderLimits) {
    this.#limits = limits;
    this.#view = this.#viewOf(snapshot);
    this.records = this.#view.records;
  }

  /** A loader at the first record of an epoch. Epochs count from 0; epoch 0 is the global shuffle. @throws UsageError */
  epoch(epoch: number, options: LoaderOptions = {}): Loader {
    return new Loader(this.#view, completeSettings(options), completePrefetch(options), requireEpoch(epoch), 0);
  }

  /**
   * A loader that continues where another one stopped, maybe in another process. It has the same rank and order, and
   * reads the same state of the store.
   * @param state from `Loader.state`.
   * @throws UsageError if it is not a state, belongs to another store, or its records were expired and deleted.
   */
  resume(state: LoaderState, options: Pick<LoaderOptions, 'prefetchPiles'> = {}): Loader {
    requireKnownOptions('resume()', options, { prefetchPiles: true });
    const { snapshot } = this.#view;
    const { manifest, commits, epoch, record, ...settings } = readState(state, snapshot);
    const view =
      manifest === snapshot.manifest.number ? this.#view : this.#viewOf(openOther(snapshot, manifest, commits));
    return new Loader(view, settings, completePrefetch(options), epoch, record);
  }

  /** Ends all loaders of the store and its threads. Optional at the end of a program: idle threads do not keep it alive. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads.values()].map((threads) => threads.close()));
  }

  #viewOf(snapshot: StoreSnapshot): StoreView {
    const isInline = isReadInline(snapshot);
    const threads = this.#threads.get(isInline) ?? new LoaderThreads(snapshot, isInline, this.#limits);
    this.#threads.set(isInline, threads);
    // Closed threads refuse to load.
    if (this.#isClosed) void threads.close();
    return new StoreView(snapshot, threads);
  }
}

/**
 * Another state of the store, from its own manifest or, if that was collected, from a later one that has all its commits.
 * A state with expired records is refused: they are deleted, or may be at any time.
 */
function openOther(snapshot: StoreSnapshot, number: number, commitCount: number): StoreSnapshot {
  const { directory } = snapshot;
  const newest = readNewestManifest(directory);
  const unexpired = commitsUntil(newest, number);
  if (number < newest.number && unexpired.length === commitCount) {
    return { ...snapshot, manifest: { ...newest, number, commits: unexpired } };
  }
  const other = openSnapshot(directory, number);
  const named = pileSetsNamedBy(newest);
  const isGone = other.manifest.commits.some(({ pileSets }) => pileSets.some(({ name }) => !named.has(name)));
  if (!isGone) return other;
  throw new UsageError(
    `the pile store ${directory} no longer has all records of its state ${number}: some were expired; start an epoch of the present state`,
    'ERR_STORE',
  );
}

/**
 * Opens a pile store for reading. Its loaders read the present state of the store, even if records are appended or
 * expired later.
 *
 * ```ts
 * for await (const batch of openStore('store').epoch(0).batches(256)) train(batch);
 * ```
 *
 * @throws UsageError ERR_STORE if the directory is not a store; VerificationError if the store is damaged, or its newest
 *   manifest is lost
 */
export function openStore(directory: string, options: OpenStoreOptions = {}): OpenedStore {
  const limits = completeLimits(options);
  return new OpenedStore(openSnapshot(directory), limits);
}
