/**
 * Reads the records of a file in any order, by its index. The memory does not grow with the file: it holds the records
 * being read, some megabytes of the index, and the last decoded bytes of a compressed file.
 */
import { counted, InputError, inDigits, UsageError } from '../errors.js';
import type { Codec, CompressedSource, DecoderMemory } from '../formats/codec.js';
import { codecNamed } from '../formats/codec-table.js';
import { hashFileEnds } from '../io/file-window.js';
import { closeFile, type FileVersion, type OpenFile, readAt, readAtAsync, versionOf } from '../io/files.js';
import { INDEX_SUFFIX } from '../io/own-files.js';
import { nameExists } from '../io/paths.js';
import { openInput } from '../places/inputs/input-kinds.js';
import { type OptionNames, requireKnownOptions } from '../values/known-options.js';
import type { FileFingerprint, IndexDescription, Span } from './index-layout.js';
import { LruCache, OpenIndex } from './open-index.js';

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
  const data = openInput(path);
  try {
    if (!nameExists(index, 'input')) {
      throw new InputError('ERR_INPUT_MISSING', `there is no index ${index}; make it with \`pileshuf index ${path}\``);
    }
    const indexFile = OpenIndex.open(index, path);
    try {
      requireSameFingerprint(path, indexFile.description.file, versionOf(data));
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
  if (codec === null) return new UncompressedBytes(data);
  return new DecodedBytes(data, codecNamed(codec), (position) => index.spanAt(position), keptBytes);
}

class OpenIndexedFile implements IndexedFile {
  readonly length: number;
  readonly #data: OpenFile;
  readonly #index: OpenIndex;
  readonly #bytes: RecordBytes;
  readonly #recordsEnd: number;
  readonly #missing: Uint8Array;
  #activeReads = 0;
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
    this.#activeReads += 1;
    try {
      const { start, end } = this.#index.boundsOf(index);
      const record = new Uint8Array(end - start);
      const storedBytes = Math.min(end, this.#recordsEnd) - start;
      await this.#bytes.read(start, record.subarray(0, storedBytes));
      if (end > this.#recordsEnd) record.set(this.#missing, storedBytes);
      return record;
    } finally {
      this.#activeReads -= 1;
      if (this.#activeReads === 0) this.#allDone();
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeFiles();
    return this.#closing;
  }

  async #closeFiles(): Promise<void> {
    if (this.#activeReads > 0) {
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

export function fingerprintOf(path: string, { byteLength, modifiedNanoseconds }: FileVersion): FileFingerprint {
  const ends = hashFileEnds(path, byteLength, 'input').toString('hex');
  return { byteLength, modified: String(modifiedNanoseconds), ends };
}

function requireSameFingerprint(path: string, then: FileFingerprint, version: FileVersion): void {
  const change = changeOf(path, then, version);
  if (change === undefined) return;
  throw new InputError(
    'ERR_INPUT_CHANGED',
    `${path} changed since its index was made: ${change}; make the index again with \`pileshuf index ${path}\``,
  );
}

function changeOf(path: string, then: FileFingerprint, version: FileVersion): string | undefined {
  if (then.byteLength !== version.byteLength) {
    return `its size was ${counted(then.byteLength, 'byte')} and is ${version.byteLength}`;
  }
  if (then.modified !== String(version.modifiedNanoseconds)) return 'its modification time differs';
  return fingerprintOf(path, version).ends === then.ends ? undefined : 'its first or last bytes differ';
}

interface RecordBytes {
  /** Fills `target` with the decoded bytes from `start` on. The file must have all of them. */
  read(start: number, target: Uint8Array): Promise<void>;
}

/** A read from the page cache takes some microseconds; a device takes longer. */
const SLOW_MILLISECONDS = 0.1;
const READS_AFTER_SLOW = 16;

/**
 * Reads on this thread while the bytes are in the page cache: handing a read to another thread takes several times as
 * long as such a read. After a slow read the next ones run on other threads, any number at once; then it tries again.
 */
class UncompressedBytes implements RecordBytes {
  readonly #file: OpenFile;
  #readsElsewhere = 0;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  async read(start: number, target: Uint8Array): Promise<void> {
    const { byteLength } = target;
    const count =
      this.#readsElsewhere > 0 ? await this.#readOnOtherThread(start, target) : this.#readAtOnce(start, target);
    if (count === byteLength) return;
    throw new InputError(
      'ERR_INPUT_CHANGED',
      `${this.#file.path} was cut to ${counted(start + count, 'byte')} while it was open; make its index again when nothing writes to it`,
    );
  }

  #readAtOnce(start: number, target: Uint8Array): number {
    const began = performance.now();
    const count = readAt(this.#file, target, 0, target.byteLength, start);
    if (performance.now() - began > SLOW_MILLISECONDS) this.#readsElsewhere = READS_AFTER_SLOW;
    return count;
  }

  #readOnOtherThread(start: number, target: Uint8Array): Promise<number> {
    this.#readsElsewhere -= 1;
    return readAtAsync(this.#file, target, 0, target.byteLength, start);
  }
}

/**
 * A thread decodes one span at a time, for all files: a span takes up to 64 MiB of memory, and one decoder may move the
 * memory in which another one returns its bytes.
 */
let lastDecoded: Promise<unknown> = Promise.resolve();

function afterLastDecode<T>(decode: () => Promise<T>): Promise<T> {
  const done = lastDecoded.then(decode);
  lastDecoded = done.catch(() => {});
  return done;
}

const PIECE_BYTES = 256 * 1024;

/** A span needs at most 64 MiB, which every decoder may use. */
const DECODER_MEMORY: DecoderMemory = { reserve: () => true, budgetFor: String };

class DecodedBytes implements RecordBytes {
  readonly #file: OpenFile;
  readonly #codec: Codec;
  readonly #spanAt: (position: number) => Span;
  readonly #underWay = new Map<number, Promise<Uint8Array>>();
  readonly #decoded: LruCache<number, Uint8Array>;

  constructor(file: OpenFile, codec: Codec, spanAt: (position: number) => Span, keptBytes: number) {
    this.#file = file;
    this.#codec = codec;
    this.#spanAt = spanAt;
    this.#decoded = new LruCache(keptBytes, (bytes) => bytes.byteLength);
  }

  async read(start: number, target: Uint8Array): Promise<void> {
    for (let done = 0; done < target.byteLength; ) {
      const position = start + done;
      const span = this.#spanAt(position);
      const decoded = await this.#decodedSpan(span);
      const piece = decoded.subarray(
        position - span.decodedStart,
        position - span.decodedStart + target.byteLength - done,
      );
      target.set(piece, done);
      done += piece.byteLength;
    }
  }

  #decodedSpan(span: Span): Promise<Uint8Array> | Uint8Array {
    const key = span.decodedStart;
    const cached = this.#decoded.get(key);
    if (cached !== undefined) return cached;
    let decoding = this.#underWay.get(key);
    if (decoding === undefined) {
      decoding = afterLastDecode(() => this.#decode(span)).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, decoding);
    }
    return decoding;
  }

  async #decode(span: Span): Promise<Uint8Array> {
    const bytes = new Uint8Array(span.decodedBytes);
    let decodedBytes = 0;
    for await (const piece of this.#codec.decode(this.#sourceOf(span), DECODER_MEMORY)) {
      if (decodedBytes + piece.byteLength > bytes.byteLength) throw lengthError(this.#file.path, span, 'more');
      bytes.set(piece, decodedBytes);
      decodedBytes += piece.byteLength;
    }
    if (decodedBytes < bytes.byteLength) throw lengthError(this.#file.path, span, decodedBytes);
    this.#decoded.put(span.decodedStart, bytes);
    return bytes;
  }

  #sourceOf({ storedStart, storedBytes }: Span): CompressedSource {
    let position = storedStart;
    return {
      path: this.#file.path,
      start: storedStart,
      next: async () => {
        const bytes = new Uint8Array(Math.min(PIECE_BYTES, storedStart + storedBytes - position));
        const count = await readAtAsync(this.#file, bytes, 0, bytes.byteLength, position);
        position += count;
        return bytes.subarray(0, count);
      },
    };
  }
}

function lengthError(path: string, span: Span, decodedBytes: number | 'more'): InputError {
  const { storedStart, storedBytes } = span;
  return new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: its bytes ${storedStart} to ${storedStart + storedBytes} (compressed) decode to ${decodedBytes} bytes, expected ${span.decodedBytes}; make the file or its index again`,
  );
}
