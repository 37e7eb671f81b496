/**
 * A store that records are read from, lazily and in a random order: the loader's side of the library.
 */
import { UsageError } from '../errors.js';
import { commitsUntil, pileSetsNamedBy, readNewestManifest } from '../store/store-manifest.js';
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

export class OpenedStore {
  /** Records of the store, in each epoch. */
  readonly records: number;
  readonly #limits: LoaderLimits;
  readonly #view: StoreView;
  /** Those for small states of the store, and those for others; a state that is resumed may need what the present one does not. */
  readonly #threads = new Map<boolean, LoaderThreads>();
  #isClosed = false;

  /** Use `openStore`. */
  constructor(snapshot: StoreSnapshot, limits: LoaderLimits) {
    this.#limits = limits;
    this.#view = this.#viewOf(snapshot);
    this.records = this.#view.records;
  }

  /** A loader at the first record of an epoch, from 0 on. Epoch 0 is the global shuffle. @throws UsageError */
  epoch(epoch: number, options: LoaderOptions = {}): Loader {
    return new Loader(this.#view, completeSettings(options), completePrefetch(options), requireEpoch(epoch), 0);
  }

  /**
   * A loader that goes on where another one of this store was, maybe in another process: with the same rank and order,
   * and the state of the store that it had.
   * @param state what `Loader.state` gave.
   * @throws UsageError when it is no state, or one of another store, or what it read was expired and deleted.
   */
  resume(state: LoaderState, options: Pick<LoaderOptions, 'prefetchPiles'> = {}): Loader {
    const { snapshot } = this.#view;
    const { manifest, commits, epoch, record, ...settings } = readState(state, snapshot);
    const view =
      manifest === snapshot.manifest.number ? this.#view : this.#viewOf(openOther(snapshot, manifest, commits));
    return new Loader(view, settings, completePrefetch(options), epoch, record);
  }

  /** Ends the loaders of the store, and its threads. Not needed at the end of a program: idle threads do not hold it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads.values()].map((threads) => threads.close()));
  }

  #viewOf(snapshot: StoreSnapshot): StoreView {
    const isInline = isReadInline(snapshot);
    const threads = this.#threads.get(isInline) ?? new LoaderThreads(snapshot, isInline, this.#limits);
    this.#threads.set(isInline, threads);
    // Whoever reads is told so.
    if (this.#isClosed) void threads.close();
    return new StoreView(snapshot, threads, this.#limits);
  }
}

/**
 * Another state of the store: its manifest, or what a later one says of it, when that was collected.
 * @param commitCount how many it has.
 * @throws UsageError ERR_STORE when what it had is gone, or may go at any time.
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
    `the pile store ${directory} has records of its state ${number} no more: they were expired; begin with the present one`,
    'ERR_STORE',
  );
}

/**
 * Opens a pile store to read from. Its loaders see it as it is now, whatever is appended or expired meanwhile.
 *
 * ```ts
 * for await (const batch of openStore('store').epoch(0).batches(256)) train(batch);
 * ```
 *
 * @throws UsageError ERR_STORE when it is no store; VerificationError
 */
export function openStore(directory: string, options: OpenStoreOptions = {}): OpenedStore {
  const limits = completeLimits(options);
  return new OpenedStore(openSnapshot(directory), limits);
}
