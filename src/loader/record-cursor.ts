/** Records are views of loaded memory; only a batch that needs more than one portion is copied together. */
import { constants } from 'node:buffer';
import { SystemError, UsageError } from '../errors.js';
import { copySharedBytes } from '../io/shared-bytes.js';
import type { LoadedPortion, PortionReader } from './portion-reader.js';

/**
 * Records that a loader gives together. They are valid until you ask for the next batch, which reuses the memory: copy
 * what you need longer. A record costs nothing until you look at it.
 */
export class RecordBatch implements Iterable<Uint8Array> {
  /** The epoch of the records. */
  readonly epoch: number;
  /** Number of records. */
  readonly length: number;
  readonly #bytes: Uint8Array;
  readonly #ends: Uint32Array;
  readonly #first: number;

  /** Records [first, first + length) of those that end at `ends` in `bytes`. */
  constructor(epoch: number, bytes: Uint8Array, ends: Uint32Array, first: number, length: number) {
    this.epoch = epoch;
    this.length = length;
    this.#bytes = bytes;
    this.#ends = ends;
    this.#first = first;
  }

  /** All records in one array, without gaps. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(this.#startOf(0), this.#startOf(this.length));
  }

  /** `length` offsets: where each record ends in `bytes`. Each call makes a new array. */
  get ends(): Uint32Array {
    const start = this.#startOf(0);
    return this.#ends.slice(this.#first, this.#first + this.length).map((end) => end - start);
  }

  /** Record `index`, from 0; negative indexes count from the end. Undefined if there is no such record. */
  at(index: number): Uint8Array | undefined {
    const place = index < 0 ? index + this.length : index;
    if (!Number.isInteger(place) || place < 0 || place >= this.length) return undefined;
    return this.#bytes.subarray(this.#startOf(place), this.#startOf(place + 1));
  }

  *[Symbol.iterator](): Generator<Uint8Array, void> {
    for (let index = 0; index < this.length; index++) {
      yield this.#bytes.subarray(this.#startOf(index), this.#startOf(index + 1));
    }
  }

  #startOf(index: number): number {
    const record = this.#first + index;
    return record === 0 ? 0 : (this.#ends[record - 1] ?? 0);
  }
}

/** Ends of records are u32; arrays of older Nodes are shorter still. */
const MOST_BATCH_BYTES = Math.min(2 ** 32 - 1, constants.MAX_LENGTH);

const NOTHING: LoadedPortion = { bytes: new Uint8Array(), ends: new Uint32Array() };

export class RecordCursor {
  readonly #reader: Pick<PortionReader, 'next'>;
  readonly #epoch: number;
  readonly #mostBatchBytes: number;
  #portion = NOTHING;
  /** Records of the portion that were given. */
  #given = 0;
  /** The memory of batches that need more than one portion. */
  #joinedBytes = new Uint8Array();
  #joinedEnds = new Uint32Array();

  constructor(reader: Pick<PortionReader, 'next'>, epoch: number, mostBatchBytes = MOST_BATCH_BYTES) {
    this.#reader = reader;
    this.#epoch = epoch;
    this.#mostBatchBytes = mostBatchBytes;
  }

  /** The next `size` records, fewer at the end; undefined after the last one. */
  async takeBatch(size: number): Promise<RecordBatch | undefined> {
    if (this.#left === 0 && !(await this.#nextPortion())) return undefined;
    if (this.#left >= size) return this.#batchOfPortion(size);
    let count = 0;
    let byteLength = 0;
    do {
      const taken = this.#batchOfPortion(Math.min(size - count, this.#left));
      byteLength = this.#join(taken, count, byteLength, size);
      count += taken.length;
    } while (count < size && (await this.#nextPortion()));
    return new RecordBatch(this.#epoch, this.#joinedBytes, this.#joinedEnds, 0, count);
  }

  /** The rest of the loaded portion, or the next one; undefined after the last record. */
  async takePortion(): Promise<RecordBatch | undefined> {
    if (this.#left === 0 && !(await this.#nextPortion())) return undefined;
    return this.#batchOfPortion(this.#left);
  }

  get #left(): number {
    return this.#portion.ends.length - this.#given;
  }

  async #nextPortion(): Promise<boolean> {
    this.#portion = NOTHING;
    this.#given = 0;
    const next = await this.#reader.next(this.#epoch);
    if (next === undefined) return false;
    this.#portion = next;
    return true;
  }

  #batchOfPortion(size: number): RecordBatch {
    const { bytes, ends } = this.#portion;
    const batch = new RecordBatch(this.#epoch, bytes, ends, this.#given, size);
    this.#given += size;
    return batch;
  }

  /** Appends records to the `count` joined ones, which end at `byteLength`. @returns where all of them end. */
  #join(records: RecordBatch, count: number, byteLength: number, size: number): number {
    const { bytes, ends } = records;
    const neededBytes = byteLength + bytes.byteLength;
    const mostBytes = this.#mostBatchBytes;
    if (neededBytes > mostBytes) {
      throw new UsageError(
        `a batch of ${size} records would have more than ${mostBytes} bytes, the most that a batch can have; ask for fewer records at a time`,
      );
    }
    try {
      if (this.#joinedEnds.length < count + ends.length) {
        const larger = new Uint32Array(Math.min(2 * (count + ends.length), size));
        larger.set(this.#joinedEnds);
        this.#joinedEnds = larger;
      }
      if (this.#joinedBytes.byteLength < neededBytes) {
        const larger = new Uint8Array(Math.min(2 * neededBytes, mostBytes));
        larger.set(this.#joinedBytes);
        this.#joinedBytes = larger;
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new SystemError(
        'ERR_OUT_OF_MEMORY',
        `there is not enough memory for a batch of ${size} records; ask for fewer records at a time`,
      );
    }
    copySharedBytes(bytes, this.#joinedBytes, byteLength);
    for (const [i, end] of ends.entries()) this.#joinedEnds[count + i] = byteLength + end;
    return neededBytes;
  }
}
