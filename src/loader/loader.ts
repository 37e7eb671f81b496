import { AbortError, counted, requireWhole, UsageError } from '../errors.js';
import { type LoaderOptions, type OpenStoreOptions, RESUME_LOADER_OPTIONS } from '../options/store-options.js';
import { commitsUntil, pileSetsNamedBy, readNewestManifest } from '../store/store-manifest.js';
import { openSnapshot, type StoreSnapshot } from '../store/store-snapshot.js';
import { type OptionNames, requireKnownOptions } from '../values/known-options.js';
import { shareOfRank } from './epoch-order.js';
import {
  completeLimits,
  completePrefetch,
  completeSettings,
  type LoaderLimits,
  type LoaderSettings,
  type LoaderState,
  readState,
  requireBatchSize,
  stateOf,
} from './loader-options.js';
import { type PortionBuffers, PortionReader } from './portion-reader.js';
import { type RecordBatch, RecordCursor } from './record-cursor.js';
import { isReadInline, LoaderThreads, StoreView } from './store-view.js';

/** How an epoch ends. */
export interface BatchOptions {
  /**
   * True to leave out the last records of an epoch if they do not fill a batch. Default: false for `batches`, true for
   * `steps`.
   */
  readonly dropLast?: boolean | undefined;
}

const BATCH_OPTIONS: OptionNames<BatchOptions> = { dropLast: true };

interface Position {
  epoch: number;
  record: number;
}

type TakeBatch = (cursor: RecordCursor) => Promise<RecordBatch | undefined>;

/** Reads a part of a store in random order. It remembers its position: a second loop goes on where the first one stopped. */
export class Loader implements AsyncIterable<Uint8Array> {
  /** Records that the rank gets in each epoch. */
  readonly recordsPerEpoch: number;
  readonly #view: StoreView;
  readonly #settings: LoaderSettings;
  readonly #prefetchPiles: number;
  readonly #position: Position;
  #buffers: PortionBuffers = [];
  #isRead = false;

  /** Use `openStore`. */
  constructor(view: StoreView, settings: LoaderSettings, prefetchPiles: number, epoch: number, record: number) {
    this.#view = view;
    this.#settings = settings;
    this.#prefetchPiles = prefetchPiles;
    this.recordsPerEpoch = shareOfRank(view.records, settings).count;
    this.#position = positionOf(epoch, record, this.recordsPerEpoch);
  }

  get storeDirectory(): string {
    return this.#view.snapshot.directory;
  }

  /** The position as a small JSON object. `OpenedStore.resume` continues there with the next record, in any process. */
  state(): LoaderState {
    const { epoch, record } = this.#position;
    return stateOf(this.#view.snapshot, this.#settings, epoch, record);
  }

  /**
   * The records up to the end of the epoch, one by one. A record is valid until you ask for the next one, which may
   * reuse its memory.
   * @throws VerificationError if a pile is damaged; SystemError; AbortError
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for await (const portion of this.#read((cursor) => cursor.takePortion())) {
      for (const record of portion) {
        this.#position.record += 1;
        yield record;
      }
    }
  }

  /**
   * The records up to the end of the epoch in batches of `size` records. The last batch may be smaller; with `dropLast`
   * it is left out.
   */
  batches(size: number, options: BatchOptions = {}): AsyncGenerator<RecordBatch, void> {
    requireKnownOptions('batches()', options, BATCH_OPTIONS);
    const { dropLast = false } = options;
    const wanted = requireBatchSize(size);
    return this.#deliver((cursor) => wholeBatch(cursor, wanted, dropLast));
  }

  /**
   * The records up to the end of the epoch in the batches in which they were loaded: each is a pile or a part of one.
   * @param endEpoch reads all epochs below this one. Default: the present epoch only.
   */
  portions(endEpoch?: number): AsyncGenerator<RecordBatch, void> {
    return this.#deliver((cursor) => cursor.takePortion(), endEpoch);
  }

  /**
   * Batches of `size` records without end, epoch after epoch. A batch never has records of two epochs: records at the
   * end of an epoch that do not fill a batch are left out, or come as a smaller batch if `dropLast` is false.
   * @throws UsageError if an epoch has too few records for one batch.
   */
  steps(size: number, options: BatchOptions = {}): AsyncGenerator<RecordBatch, void> {
    requireKnownOptions('steps()', options, BATCH_OPTIONS);
    const { dropLast = true } = options;
    const wanted = requireBatchSize(size);
    const fewest = dropLast ? wanted : 1;
    if (this.recordsPerEpoch < fewest) {
      throw new UsageError(
        `an epoch has ${counted(this.recordsPerEpoch, 'record')} for this rank, but a batch needs ${fewest}`,
      );
    }
    return this.#deliver((cursor) => wholeBatch(cursor, wanted, dropLast), Number.POSITIVE_INFINITY);
  }

  async *#deliver(take: TakeBatch, endEpoch?: number): AsyncGenerator<RecordBatch, void> {
    for await (const batch of this.#read(take, endEpoch)) {
      this.#position.record += batch.length;
      yield batch;
    }
  }

  /** The caller notes what it gave. */
  async *#read(take: TakeBatch, endEpoch = this.#position.epoch + 1): AsyncGenerator<RecordBatch, void> {
    if (this.#isRead) throw new UsageError('another loop is reading this loader; make a second loader with openStore');
    this.#isRead = true;
    try {
      const reader = await this.#openReader(endEpoch);
      while (this.#position.epoch < endEpoch) {
        const cursor = new RecordCursor(reader, this.#position.epoch);
        for (let batch = await take(cursor); batch !== undefined; batch = await take(cursor)) yield batch;
        this.#position.epoch += 1;
        this.#position.record = 0;
      }
    } finally {
      this.#isRead = false;
    }
  }

  async #openReader(endEpoch: number): Promise<PortionReader> {
    const { signal } = this.#view.threads.limits;
    if (signal?.aborted === true) throw new AbortError(signal.reason, 'incomplete');
    const { epoch, record } = this.#position;
    const part = { ...this.#settings, epoch, endEpoch, from: record, prefetchPiles: this.#prefetchPiles };
    // A complete loop gave all buffers back. One that was left may still have piles loaded into them.
    const bufferCount = this.#prefetchPiles + 1;
    if (this.#buffers.length !== bufferCount) this.#buffers = Array.from({ length: bufferCount }, () => undefined);
    return PortionReader.open(this.#view, part, this.#buffers);
  }
}

async function wholeBatch(cursor: RecordCursor, size: number, dropLast: boolean): Promise<RecordBatch | undefined> {
  const batch = await cursor.takeBatch(size);
  return dropLast && batch !== undefined && batch.length < size ? undefined : batch;
}

/** A record number beyond the end of the epoch continues in later epochs. */
function positionOf(epoch: number, record: number, recordsPerEpoch: number): Position {
  if (recordsPerEpoch === 0 || record < recordsPerEpoch) return { epoch, record: Math.min(record, recordsPerEpoch) };
  return { epoch: epoch + Math.floor(record / recordsPerEpoch), record: record % recordsPerEpoch };
}

/** A store that is open for reading. */
export class OpenedStore {
  /** Records of the store. Each epoch has all of them. */
  readonly records: number;
  readonly #limits: LoaderLimits;
  readonly #view: StoreView;
  /** The threads by `isReadInline`: a resumed state of the store may be large when the present one is small. */
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
    return new Loader(
      this.#view,
      completeSettings(options),
      completePrefetch(options),
      requireWhole('`epoch`', epoch, 0),
      0,
    );
  }

  /**
   * A loader that continues where another one stopped, maybe in another process. It has the same rank and order, and
   * reads the same state of the store.
   * @param state from `Loader.state`.
   * @throws UsageError if it is not a state, belongs to another store, or its records were expired and deleted.
   */
  resume(state: LoaderState, options: Pick<LoaderOptions, 'prefetchPiles'> = {}): Loader {
    requireKnownOptions('resume()', options, RESUME_LOADER_OPTIONS);
    const { snapshot } = this.#view;
    const { manifest, commits, epoch, record, ...settings } = readState(state, snapshot);
    const view =
      manifest === snapshot.manifest.number ? this.#view : this.#viewOf(openOtherState(snapshot, manifest, commits));
    return new Loader(view, settings, completePrefetch(options), epoch, record);
  }

  /** Ends all loaders of the store and its threads. Optional at the end of a program: the program ends also with idle threads. */
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
function openOtherState(snapshot: StoreSnapshot, number: number, commitCount: number): StoreSnapshot {
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
    `the pile store ${directory} no longer has all records of its state ${number}: some were expired; start a new epoch`,
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
