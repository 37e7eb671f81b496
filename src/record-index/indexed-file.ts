/**
 * The records of a file in any order, by its index. What it takes in memory does not grow with the file: the records
 * that are being read, some megabytes of the index, and of a compressed file what was decoded last.
 */
import { InputError, UsageError } from '../errors.js';
import { codecNamed } from '../formats/codec-table.js';
import { closeFile, type OpenFile, openForRead, versionOf } from '../io/files.js';
import { nameExists } from '../io/paths.js';
import { requireSameMark } from './file-mark.js';
import { INDEX_SUFFIX, type IndexDescription } from './index-description.js';
import { OpenIndex } from './open-index.js';
import { DecodedBytes, PlainBytes, type RecordBytes } from './record-bytes.js';

export interface IndexedFileOptions {
  /** Where the index is. Default: beside the file, named `FILE.pileshuf-index`. */
  readonly index?: string | undefined;
  /**
   * Of a compressed file so much that was decoded last is kept, in bytes. Default 64 MiB. What is decoded at a time, 64
   * MiB at most, comes on top.
   */
  readonly keptBytes?: number | undefined;
}

/** A file that is open for reading its records in any order. */
export interface IndexedFile {
  /** How many records there are. */
  readonly length: number;
  /**
   * Record `index`, counted from 0, in bytes of its own: as it lies in the file, with what ends it, also where the last
   * record of the file lacks that. Many calls may be under way at one time.
   * @throws InputError, VerificationError, UsageError (there is no such record, or the file was closed).
   */
  get(index: number): Promise<Uint8Array>;
  /** Waits for the calls under way. Safe to call twice. */
  close(): Promise<void>;
}

const DEFAULT_KEPT_BYTES = 64 * 2 ** 20;

/**
 * Opens a file that `indexFile`, or `pileshuf index`, has made an index of.
 * @throws InputError ERR_INPUT_MISSING when there is no file or no index; ERR_INPUT_CHANGED when the file is not the one
 *   any more that the index was made from.
 * @throws VerificationError when the index is damaged, UsageError ERR_INDEX_VERSION when it is of another version.
 */
export function openIndexed(path: string, options: IndexedFileOptions = {}): IndexedFile {
  const { index = `${path}${INDEX_SUFFIX}`, keptBytes = DEFAULT_KEPT_BYTES } = options;
  if (!Number.isSafeInteger(keptBytes) || keptBytes < 0)
    throw new UsageError(`keptBytes is ${keptBytes}; expected a whole number from 0 on`);
  const data = openForRead(path, 'input');
  try {
    if (!nameExists(index, 'input')) {
      throw new InputError('ERR_INPUT_MISSING', `there is no index ${index}; make it with \`pileshuf index ${path}\``);
    }
    const indexFile = OpenIndex.open(index, path);
    try {
      requireSameMark(path, indexFile.description.file, versionOf(data));
      return new OpenIndexedFile(data, indexFile, bytesOf(data, indexFile, keptBytes));
    } catch (error) {
      indexFile.close();
      throw error;
    }
  } catch (error) {
    closeFile(data);
    throw error;
  }
}

function bytesOf(data: OpenFile, index: OpenIndex, keptBytes: number): RecordBytes {
  const { codec } = index.description;
  if (codec === null) return new PlainBytes(data);
  return new DecodedBytes(data, codecNamed(codec), (position) => index.spanAt(position), keptBytes);
}

class OpenIndexedFile implements IndexedFile {
  readonly length: number;
  readonly #data: OpenFile;
  readonly #index: OpenIndex;
  readonly #bytes: RecordBytes;
  readonly #recordsEnd: number;
  readonly #missing: Uint8Array;
  #underWay = 0;
  #closing: Promise<void> | undefined;
  #allDone = () => {};

  constructor(data: OpenFile, index: OpenIndex, bytes: RecordBytes) {
    this.#data = data;
    this.#index = index;
    this.#bytes = bytes;
    const { recordsEnd, missing }: IndexDescription = index.description;
    this.length = index.recordCount;
    this.#recordsEnd = recordsEnd;
    this.#missing = Buffer.from(missing, 'hex');
  }

  async get(index: number): Promise<Uint8Array> {
    if (this.#closing !== undefined) throw new UsageError(`${this.#data.path} was closed; open it again to read it`);
    if (!Number.isSafeInteger(index) || index < 0 || index >= this.length) {
      throw new UsageError(
        `${this.#data.path} has no record ${index}; expected a whole number from 0 to ${this.length - 1}, of ${this.length} records`,
      );
    }
    this.#underWay += 1;
    try {
      const { start, end } = this.#index.boundsOf(index);
      const record = new Uint8Array(end - start);
      const storedBytes = Math.min(end, this.#recordsEnd) - start;
      await this.#bytes.read(start, record.subarray(0, storedBytes));
      if (end > this.#recordsEnd) record.set(this.#missing, storedBytes);
      return record;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#allDone();
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeFiles();
    return this.#closing;
  }

  async #closeFiles(): Promise<void> {
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#allDone = resolve;
      });
    }
    try {
      this.#index.close();
    } finally {
      closeFile(this.#data);
    }
  }
}
