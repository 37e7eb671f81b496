/**
 * Gives the records of one rank, epoch by epoch. A loader is a position in the store: whatever asks it for records moves
 * it on, and `state` says where it is.
 */
import { AbortedError, UsageError } from '../errors.js';
import { requireBatchSize } from './loader-options.js';
import { type LoaderSettings, type LoaderState, stateOf } from './loader-state.js';
import { newBuffers, type PortionBuffers, PortionReader } from './portion-reader.js';
import { shareOfRank } from './rank-share.js';
import type { RecordBatch } from './record-batch.js';
import { RecordCursor } from './record-cursor.js';
import { RecordIterator } from './record-iterator.js';
import type { StoreView } from './store-view.js';

export interface BatchOptions {
  /** Whether fewer records than make a batch, at the end of an epoch, are left out. */
  readonly dropLast?: boolean | undefined;
}

/** The epoch, and how many of its records the rank was given. */
interface Position {
  epoch: number;
  record: number;
}

export class Loader implements AsyncIterable<Uint8Array> {
  /** How many records the rank gets in an epoch. */
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
    this.#position = placeOf(epoch, record, this.recordsPerEpoch);
  }

  /** A small JSON object that says which record comes next; `resume` goes on with it, in any process. */
  state(): LoaderState {
    const { epoch, record } = this.#position;
    return stateOf(this.#view.snapshot, this.#settings, epoch, record);
  }

  /**
   * The records up to the end of the epoch. Each is good until the next one is asked for: the memory is used again then.
   * @throws VerificationError when a pile is damaged; SystemError; AbortedError
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

  /** The records up to the end of the epoch, `size` at a time; the last batch may have fewer, unless `dropLast`. */
  batches(size: number, { dropLast = false }: BatchOptions = {}): AsyncGenerator<RecordBatch, void> {
    const wanted = requireBatchSize(size);
    return this.#read((cursor) => wholeBatch(cursor, wanted, dropLast));
  }

  /**
   * The records up to the end of the epoch, as many together as were loaded together: those of a pile, at most.
   * @param endEpoch goes on with the next epochs, up to this one.
   */
  portions(endEpoch?: number): AsyncGenerator<RecordBatch, void> {
    return this.#read((cursor) => cursor.takePortion(), endEpoch);
  }

  /**
   * Batches without end, epoch after epoch; no batch has records of two epochs, and those at the end of one that make
   * no whole batch are left out, unless `dropLast` is false.
   * @throws UsageError when an epoch has too few records for a single batch.
   */
  steps(size: number, { dropLast = true }: BatchOptions = {}): AsyncGenerator<RecordBatch, void> {
    const wanted = requireBatchSize(size);
    const fewest = dropLast ? wanted : 1;
    if (this.recordsPerEpoch < fewest) {
      throw new UsageError(
        `an epoch gives this rank ${this.recordsPerEpoch} records, and a batch needs ${fewest}: there would never be one`,
      );
    }
    return this.#read((cursor) => wholeBatch(cursor, wanted, dropLast), Number.POSITIVE_INFINITY);
  }

  /**
   * @param take undefined at the end of an epoch.
   * @param endEpoch undefined: the one behind this one.
   */
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
    if (this.#isRead) throw new UsageError('this loader is being read already; make another one with openStore');
    this.#isRead = true;
  }

  async #openReader(endEpoch: number): Promise<PortionReader> {
    if (this.#view.limits.signal?.aborted === true) throw new AbortedError('incomplete');
    const { epoch, record } = this.#position;
    const part = { ...this.#settings, epoch, endEpoch, from: record, prefetchPiles: this.#prefetchPiles };
    // Those of the epoch before, unless it was left: then something may still be on its way into them.
    const isWhole = this.#buffers.length === this.#prefetchPiles + 1;
    if (!isWhole) this.#buffers = newBuffers(this.#prefetchPiles);
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

/** A record beyond the end of the epoch is one of a later epoch. */
function placeOf(epoch: number, record: number, recordsPerEpoch: number): Position {
  if (recordsPerEpoch === 0 || record < recordsPerEpoch) return { epoch, record: Math.min(record, recordsPerEpoch) };
  return { epoch: epoch + Math.floor(record / recordsPerEpoch), record: record % recordsPerEpoch };
}
