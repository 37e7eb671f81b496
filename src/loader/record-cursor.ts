/**
 * Goes through the records of a rank, from one position on to the end of an epoch: as single records, or as batches.
 * Takes from portions as they come, and says how many records of which it gave.
 */
import { constants } from 'node:buffer';
import { SystemError, UsageError } from '../errors.js';
import { copySharedBytes } from '../pile-sets/copy-shared-bytes.js';
import type { LoadedPortion, PortionReader } from './portion-reader.js';
import { RecordBatch } from './record-batch.js';

/** Ends of records are u32; older Nodes have no longer arrays. */
const MOST_BATCH_BYTES = Math.min(2 ** 32 - 1, constants.MAX_LENGTH);

const NOTHING: LoadedPortion = { bytes: new Uint8Array(), ends: new Uint32Array() };

export class RecordCursor {
  readonly #reader: Pick<PortionReader, 'next'>;
  readonly #epoch: number;
  readonly #mostBatchBytes: number;
  #portion = NOTHING;
  /** Of the portion: how many records were given, and where the next one begins. */
  #given = 0;
  #start = 0;
  /** Batches whose records come from more than one portion are put together here. */
  #joinedBytes = new Uint8Array();
  #joinedEnds = new Uint32Array();

  constructor(reader: Pick<PortionReader, 'next'>, epoch: number, mostBatchBytes = MOST_BATCH_BYTES) {
    this.#reader = reader;
    this.#epoch = epoch;
    this.#mostBatchBytes = mostBatchBytes;
  }

  /** The next record, when that needs no waiting. */
  takeLoaded(): Uint8Array | undefined {
    const end = this.#portion.ends[this.#given];
    if (end === undefined) return undefined;
    const record = this.#portion.bytes.subarray(this.#start, end);
    this.#given += 1;
    this.#start = end;
    return record;
  }

  /** The next record; undefined behind the last one. */
  async take(): Promise<Uint8Array | undefined> {
    return this.takeLoaded() ?? ((await this.#nextPortion()) ? this.takeLoaded() : undefined);
  }

  /** The next `size` records, or fewer when there are no more; undefined when there are none. @throws UsageError, SystemError */
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

  /** The next records that lie together as they were loaded; undefined behind the last one. */
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
    this.#start = 0;
    const next = await this.#reader.next(this.#epoch);
    if (next === undefined) return false;
    this.#portion = next;
    return true;
  }

  #batchOfPortion(size: number): RecordBatch {
    const { bytes, ends } = this.#portion;
    const batch = new RecordBatch(this.#epoch, bytes, ends, this.#given, size);
    this.#given += size;
    this.#start = ends[this.#given - 1] ?? this.#start;
    return batch;
  }

  /** Adds records behind the first `count` ones, which end at `byteLength`. @returns where they end now. */
  #join(records: RecordBatch, count: number, byteLength: number, size: number): number {
    const { bytes, ends } = records;
    const neededBytes = byteLength + bytes.byteLength;
    if (neededBytes > this.#mostBatchBytes) throw tooManyBytes(size, this.#mostBatchBytes);
    try {
      if (this.#joinedEnds.length < count + ends.length) {
        this.#joinedEnds = grown(this.#joinedEnds, Math.min(2 * (count + ends.length), size));
      }
      if (this.#joinedBytes.byteLength < neededBytes) {
        this.#joinedBytes = grownBytes(this.#joinedBytes, Math.min(2 * neededBytes, this.#mostBatchBytes));
      }
    } catch (error) {
      if (error instanceof RangeError) throw noMemory(size);
      throw error;
    }
    copySharedBytes(bytes, this.#joinedBytes, byteLength);
    for (const [i, end] of ends.entries()) this.#joinedEnds[count + i] = byteLength + end;
    return neededBytes;
  }
}

function grown(values: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(values);
  return larger;
}

function grownBytes(values: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(values);
  return larger;
}

function tooManyBytes(size: number, mostBytes: number): UsageError {
  return new UsageError(
    `a batch of ${size} records has more than ${mostBytes} bytes, and none may have more; ask for fewer records at a time`,
  );
}

function noMemory(size: number): SystemError {
  return new SystemError(
    'ERR_OUT_OF_MEMORY',
    `there is no memory for a batch of ${size} records; ask for fewer records at a time`,
  );
}
