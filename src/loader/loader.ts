import { AbortError, counted, UsageError } from '../errors.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import { shareOfRank } from './epoch-order.js';
import { requireBatchSize } from './loader-options.js';
import { type LoaderSettings, type LoaderState, stateOf } from './loader-state.js';
import { type PortionBuffers, PortionReader } from './portion-reader.js';
import { type RecordBatch, RecordCursor, RecordIterator } from './record-cursor.js';
import type { StoreView } from './store-view.js';

/** How an epoch ends. */
export interface BatchOptions {
  /** Whether to leave out the last records of an epoch if they do not fill a batch. Default: false for `batches`, true for `steps`. */
  readonly dropLast?: boolean | undefined;
}

const BATCH_OPTIONS: OptionNames<BatchOptions> = { dropLast: true };

interface Position {
  epoch: number;
  record: number;
}

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
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    this.#begin();
    const open = async () => {
      const { epoch } = this.#position;
      return new RecordCursor(await this.#openReader(epoch + 1), epoch);
    };
    return new RecordIterator(open, {
      given: () => {
        this.#position.record += 1;
      },
      over: (isComplete) => {
        this.#isRead = false;
        if (isComplete) beginNextEpoch(this.#position);
      },
    });
  }

  /**
   * The records up to the end of the epoch in batches of `size` records. The last batch may be smaller; with `dropLast`
   * it is left out.
   */
  batches(size: number, options: BatchOptions = {}): AsyncGenerator<RecordBatch, void> {
    requireKnownOptions('batches()', options, BATCH_OPTIONS);
    const { dropLast = false } = options;
    const wanted = requireBatchSize(size);
    return this.#read((cursor) => wholeBatch(cursor, wanted, dropLast));
  }

  /**
   * The records up to the end of the epoch in the batches in which they were loaded: each is a pile or a part of one.
   * @param endEpoch reads all epochs below this one. Default: the present epoch only.
   */
  portions(endEpoch?: number): AsyncGenerator<RecordBatch, void> {
    return this.#read((cursor) => cursor.takePortion(), endEpoch);
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
    return this.#read((cursor) => wholeBatch(cursor, wanted, dropLast), Number.POSITIVE_INFINITY);
  }

  async *#read(
    take: (cursor: RecordCursor) => Promise<RecordBatch | undefined>,
    endEpoch = this.#position.epoch + 1,
  ): AsyncGenerator<RecordBatch, void> {
    this.#begin();
    try {
      const reader = await this.#openReader(endEpoch);
      while (this.#position.epoch < endEpoch) {
        const cursor = new RecordCursor(reader, this.#position.epoch);
        for (let batch = await take(cursor); batch !== undefined; batch = await take(cursor)) {
          this.#position.record += batch.length;
          yield batch;
        }
        beginNextEpoch(this.#position);
      }
    } finally {
      this.#isRead = false;
    }
  }

  #begin(): void {
    if (this.#isRead) throw new UsageError('another loop is reading this loader; make a second loader with openStore');
    this.#isRead = true;
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

function beginNextEpoch(position: Position): void {
  position.epoch += 1;
  position.record = 0;
}

/** A record number beyond the end of the epoch continues in later epochs. */
function positionOf(epoch: number, record: number, recordsPerEpoch: number): Position {
  if (recordsPerEpoch === 0 || record < recordsPerEpoch) return { epoch, record: Math.min(record, recordsPerEpoch) };
  return { epoch: epoch + Math.floor(record / recordsPerEpoch), record: record % recordsPerEpoch };
}
