/**
 * A store that records are read from, lazily and in a random order: the loader's side of the library.
 */
import { UsageError } from '../errors.js';
import { pileSetsNamedBy } from '../store/manifest.js';
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
import { LoaderThreads } from './loader-threads.js';
import { StoreView } from './store-view.js';

export class OpenedStore {
  /** Records of the store, in each epoch. */
  readonly records: number;
  readonly #limits: LoaderLimits;
  readonly #view: StoreView;
  readonly #threads: LoaderThreads;

  /** Use `openStore`. */
  constructor(snapshot: StoreSnapshot, limits: LoaderLimits) {
    this.#limits = limits;
    this.#threads = new LoaderThreads(snapshot, limits);
    this.#view = new StoreView(snapshot, this.#threads, limits);
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
    const { manifest, epoch, record, ...settings } = readState(state, snapshot);
    const view =
      manifest === snapshot.manifest.number
        ? this.#view
        : new StoreView(openFormer(snapshot, manifest), this.#threads, this.#limits);
    return new Loader(view, settings, completePrefetch(options), epoch, record);
  }

  /** Ends the loaders of the store, and its threads. Not needed at the end of a program: idle threads do not hold it. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}

/** @throws UsageError ERR_STORE when what it had is gone, or may go at any time. */
function openFormer({ directory, manifest }: StoreSnapshot, number: number): StoreSnapshot {
  const former = openSnapshot(directory, number);
  const named = pileSetsNamedBy(manifest);
  const isGone = former.manifest.commits.some(({ pileSets }) => pileSets.some(({ name }) => !named.has(name)));
  if (!isGone) return former;
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
