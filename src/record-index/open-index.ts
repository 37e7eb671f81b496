/**
 * A record index that is open for reading. It verifies the checksum of everything it reads. Opening reads the small
 * tables; blocks are read when they are needed.
 */
import { crc32 } from 'node:zlib';
import { UsageError, type VerificationError } from '../errors.js';
import { closeFile, type OpenFile, readAt, versionOf } from '../io/files.js';
import { readShape } from '../io/json-shape.js';
import { FIRST_BYTES_OF_RECORD_INDEXES } from '../io/own-files.js';
import { damagedFileError, type Remedy } from '../io/sealed-file.js';
import { openInput } from '../places/inputs/input-kinds.js';
import {
  BLOCK_ENTRY_BYTES,
  BLOCK_RECORDS,
  type BlockEntry,
  blockEntry,
  CELL_ENTRY_BYTES,
  cellEntry,
  decodeStretches,
  HEADER_BYTES,
  type IndexDescription,
  type IndexHeader,
  indexDescription,
  indexHeader,
  indexRemedy,
  MAGIC,
  MOST_DESCRIPTION_BYTES,
  MOST_STRETCHES,
  type Span,
  type StretchEntry,
  stretchEntry,
} from './index-layout.js';
import { blockBytesOf, RecordBlock, type RecordBounds } from './record-block.js';

/** A block usually takes 5 KB. */
const BLOCK_CACHE_BYTES = 16 * 2 ** 20;
/** The memory of a cached block besides its bytes. */
const BLOCK_OVERHEAD_BYTES = 256;

interface CachedBlock {
  readonly start: number;
  readonly block: RecordBlock;
}

export class OpenIndex {
  readonly description: IndexDescription;
  readonly recordCount: number;
  readonly #file: OpenFile;
  readonly #remedy: Remedy;
  readonly #header: IndexHeader;
  readonly #stretches: readonly StretchEntry[];
  readonly #blocks = new LruCache<number, CachedBlock>(
    BLOCK_CACHE_BYTES,
    ({ block }) => block.byteLength + BLOCK_OVERHEAD_BYTES,
  );

  static open(path: string, dataPath: string): OpenIndex {
    const file = openInput(path);
    try {
      return new OpenIndex(file, indexRemedy(dataPath));
    } catch (error) {
      closeFile(file);
      throw error;
    }
  }

  private constructor(file: OpenFile, remedy: Remedy) {
    this.#file = file;
    this.#remedy = remedy;
    const header = this.#readHeader();
    this.#header = header;
    this.recordCount = header.recordCount;
    const stretchesAt = header.blockTableAt + header.blockCount * BLOCK_ENTRY_BYTES;
    const stretchBytes = header.stretchCount * stretchEntry.byteLength;
    const expectedBytes = stretchesAt + stretchBytes + header.descriptionBytes;
    const { byteLength } = versionOf(file);
    if (byteLength !== expectedBytes) throw this.#damaged(`it has ${byteLength} bytes, expected ${expectedBytes}`);
    if (header.stretchCount > MOST_STRETCHES || header.descriptionBytes > MOST_DESCRIPTION_BYTES)
      throw this.#damaged('its tables are too large');
    const tables = this.#read(stretchesAt, stretchBytes + header.descriptionBytes);
    const stretches = tables.subarray(0, stretchBytes);
    if (crc32(stretches) !== header.stretchTableCrc) throw this.#damaged('the checksum of its stretch table is wrong');
    this.#stretches = decodeStretches(stretches);
    this.description = this.#parse(tables.subarray(stretchBytes));
  }

  /** Decoded positions of a record. The last record may end beyond the file, by the bytes that it lacks. */
  boundsOf(index: number): RecordBounds {
    const { firstRecord, firstBlock } = this.#stretchOf(index);
    const inStretch = index - firstRecord;
    const inBlock = inStretch % BLOCK_RECORDS;
    const number = firstBlock + (inStretch - inBlock) / BLOCK_RECORDS;
    const { start, block } = this.#blocks.get(number) ?? this.#readBlock(number, inBlock);
    const bounds = block.boundsOf(inBlock);
    return { start: start + bounds.start, end: start + bounds.end };
  }

  /** @param position of a decoded byte. */
  spanAt(position: number): Span {
    const { cellCount, cellBytes } = this.#header;
    const cell = Math.floor(position / cellBytes);
    if (cell >= cellCount) throw this.#damaged(`it has no cell ${cell}`);
    const first = Math.max(0, cell - 1);
    const bytes = this.#read(HEADER_BYTES + first * CELL_ENTRY_BYTES, (cell - first + 1) * CELL_ENTRY_BYTES);
    for (let number = cell; number >= first; number--) {
      const at = (number - first) * CELL_ENTRY_BYTES;
      const span = cellEntry.readSealed(bytes.subarray(at, at + CELL_ENTRY_BYTES), number);
      if (span === undefined) throw this.#damaged(`the checksum of its cell ${number} is wrong`);
      if (span.decodedStart > position) continue;
      if (position < span.decodedStart + span.decodedBytes) return span;
    }
    throw this.#damaged(`none of its members holds byte ${position}`);
  }

  close(): void {
    closeFile(this.#file);
  }

  #stretchOf(index: number): StretchEntry {
    let low = 0;
    let high = this.#stretches.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#stretches[middle]?.firstRecord ?? 0) <= index) low = middle;
      else high = middle;
    }
    const stretch = this.#stretches[low];
    if (stretch === undefined) throw this.#damaged(`it has no stretch for record ${index}`);
    return stretch;
  }

  #readBlock(number: number, inBlock: number): CachedBlock {
    const { blockCount, blockTableAt } = this.#header;
    if (number >= blockCount) throw this.#damaged(`it has no block ${number}`);
    const entry = blockEntry.readSealed(
      this.#read(blockTableAt + number * BLOCK_ENTRY_BYTES, BLOCK_ENTRY_BYTES),
      number,
    );
    if (entry === undefined) throw this.#damaged(`the checksum of its entry for block ${number} is wrong`);
    const shape = this.#shapeOf(entry, number);
    if (inBlock >= shape.recordCount) throw this.#damaged(`its block ${number} has no record ${inBlock}`);
    const byteLength = blockBytesOf(shape);
    if (entry.place + byteLength > blockTableAt) throw this.#damaged(`its block ${number} ends in the block table`);
    const bytes = this.#read(entry.place, byteLength);
    if (crc32(bytes) !== entry.crc) throw this.#damaged(`the checksum of its block ${number} is wrong`);
    const cached = { start: entry.start, block: new RecordBlock(bytes, shape) };
    this.#blocks.put(number, cached);
    return cached;
  }

  #shapeOf({ start, end, recordCount, leastBytes }: BlockEntry, number: number) {
    const byteLength = end - start;
    if (recordCount >= 1 && recordCount <= BLOCK_RECORDS && byteLength >= recordCount * leastBytes)
      return { recordCount, byteLength, leastBytes };
    throw this.#damaged(`its entry for block ${number} contradicts itself`);
  }

  #readHeader(): IndexHeader {
    const bytes = Buffer.alloc(HEADER_BYTES);
    const count = readAt(this.#file, bytes, 0, HEADER_BYTES, 0);
    const isIndex = bytes.subarray(0, FIRST_BYTES_OF_RECORD_INDEXES.byteLength).equals(FIRST_BYTES_OF_RECORD_INDEXES);
    if (count < HEADER_BYTES || !isIndex) throw this.#damaged('it does not start like a record index');
    if (!bytes.subarray(0, MAGIC.byteLength).equals(MAGIC)) {
      const version = bytes.toString('latin1', MAGIC.byteLength - 1, MAGIC.byteLength);
      throw new UsageError(
        `${this.#file.path} was written by another version of pileshuf (format ${JSON.stringify(version)}, expected ${MAGIC.toString('latin1').at(-1)}); ${this.#remedy.ifOtherVersion}`,
        'ERR_INDEX_VERSION',
      );
    }
    const header = indexHeader.readSealed(bytes, 0);
    if (header === undefined) throw this.#damaged('the checksum of its header is wrong');
    return header;
  }

  #parse(text: Buffer): IndexDescription {
    if (crc32(text) !== this.#header.descriptionCrc) throw this.#damaged('the checksum of its description is wrong');
    let value: unknown;
    try {
      value = JSON.parse(text.toString());
    } catch {
      throw this.#damaged('its description is not JSON');
    }
    return readShape(indexDescription, value, this.#file.path, this.#remedy);
  }

  #read(position: number, byteLength: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(byteLength);
    const count = readAt(this.#file, bytes, 0, byteLength, position);
    if (count < byteLength) throw this.#damaged(`it ends before byte ${position + byteLength}`);
    return bytes;
  }

  #damaged(problem: string): VerificationError {
    return damagedFileError(this.#file.path, problem, this.#remedy);
  }
}

/** A cache of the values that were used last, up to a total number of bytes. */
export class LruCache<Key, Value> {
  readonly #mostBytes: number;
  readonly #byteLengthOf: (value: Value) => number;
  /** The values in the order of their last use. */
  readonly #cached = new Map<Key, Value>();
  #cachedBytes = 0;

  constructor(mostBytes: number, byteLengthOf: (value: Value) => number) {
    this.#mostBytes = mostBytes;
    this.#byteLengthOf = byteLengthOf;
  }

  get(key: Key): Value | undefined {
    const value = this.#cached.get(key);
    if (value === undefined) return undefined;
    this.#cached.delete(key);
    this.#cached.set(key, value);
    return value;
  }

  /** Drops the values that were not used for the longest time. A value that is too large by itself is not cached. */
  put(key: Key, value: Value): void {
    this.#drop(key);
    this.#cached.set(key, value);
    this.#cachedBytes += this.#byteLengthOf(value);
    for (const oldest of this.#cached.keys()) {
      if (this.#cachedBytes <= this.#mostBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(key: Key): void {
    const value = this.#cached.get(key);
    if (value === undefined) return;
    this.#cached.delete(key);
    this.#cachedBytes -= this.#byteLengthOf(value);
  }
}
