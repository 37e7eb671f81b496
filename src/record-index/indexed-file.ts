/**
 * Reads the records of a file in any order, by its index. The memory does not grow with the file: it holds the records
 * being read, some megabytes of the index, and the last decoded bytes of a compressed file.
 */
import { counted, InputError, inDigits, UsageError } from '../errors.js';
import { codecNamed } from '../formats/codec-table.js';
import { hashFileEnds } from '../io/file-window.js';
import { closeFile, type FileVersion, type OpenFile, openForRead, versionOf } from '../io/files.js';
import { INDEX_SUFFIX } from '../io/own-files.js';
import { nameExists } from '../io/paths.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import type { FileMark, IndexDescription } from './index-layout.js';
import { OpenIndex } from './open-index.js';
import { DecodedBytes, PlainBytes, type RecordBytes } from './record-bytes.js';

export interface IndexedFileOptions {
  /** Path of the index. Default: `FILE.pileshuf-index`, beside the file. */
  readonly index?: string | undefined;
  /**
   * Decoded bytes of a compressed file that stay in memory, those used last. Default 64 MiB. The bytes being decoded, at
   * most 64 MiB, come on top.
   */
  readonly keptBytes?: number | undefined;
}

/** A file that is open for reading its records in any order. */
export interface IndexedFile {
  /** Number of records. */
  readonly length: number;
  /**
   * Record `index`, from 0, in a new array: the bytes in the file, terminator included. If the last record of the file
   * lacks its terminator, it is added. You can make many calls at once.
   * @throws InputError, VerificationError, UsageError (there is no such record, or the file was closed)
   */
  get(index: number): Promise<Uint8Array>;
  /** Waits for unfinished calls, then closes the files. You can call it twice. */
  close(): Promise<void>;
}

const OPTIONS: OptionNames<IndexedFileOptions> = { index: true, keptBytes: true };
const DEFAULT_KEPT_BYTES = 64 * 2 ** 20;

/**
 * Opens a file that has an index, made by `indexFile` or `pileshuf index`.
 * @throws InputError ERR_INPUT_MISSING if the file or the index does not exist; ERR_INPUT_CHANGED if the file changed
 *   since its index was made
 * @throws VerificationError if the index is damaged; UsageError ERR_INDEX_VERSION if it has another format version
 */
export function openIndexed(path: string, options: IndexedFileOptions = {}): IndexedFile {
  requireKnownOptions('openIndexed()', options, OPTIONS);
  const { index = `${path}${INDEX_SUFFIX}`, keptBytes = DEFAULT_KEPT_BYTES } = options;
  if (!Number.isSafeInteger(keptBytes) || keptBytes < 0)
    throw new UsageError(`\`keptBytes\` is ${inDigits(keptBytes)}; expected a whole number of at least 0`);
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
        `${this.#data.path} has no record ${inDigits(index)}; it has ${counted(this.length, 'record')}, which count from 0`,
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

export function markOf(path: string, { byteLength, modifiedNanoseconds }: FileVersion): FileMark {
  const ends = hashFileEnds(path, byteLength, 'input').toString('hex');
  return { byteLength, modified: String(modifiedNanoseconds), ends };
}

function requireSameMark(path: string, then: FileMark, version: FileVersion): void {
  const change = changeOf(path, then, version);
  if (change === undefined) return;
  throw new InputError(
    'ERR_INPUT_CHANGED',
    `${path} changed since its index was made: ${change}; make the index again with \`pileshuf index ${path}\``,
  );
}

function changeOf(path: string, then: FileMark, version: FileVersion): string | undefined {
  if (then.byteLength !== version.byteLength) {
    return `its size was ${counted(then.byteLength, 'byte')} and is ${version.byteLength}`;
  }
  if (then.modified !== String(version.modifiedNanoseconds)) return 'its modification time differs';
  return markOf(path, version).ends === then.ends ? undefined : 'its first or last bytes differ';
}
