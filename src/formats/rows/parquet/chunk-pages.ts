/**
 * The pages of a column chunk, read one by one. Chunks of the same row group share the room for a page; each holds what
 * was read beyond its last page, up to a few bytes if there are many columns.
 */
import { crc32 } from 'node:zlib';
import { counted } from '../../../errors.js';
import type { JobControl } from '../../../floor/job-control.js';
import { freeBytes } from '../../../machine/free-bytes.js';
import type { RegularInput } from '../../../places/inputs/input-source.js';
import type { DecoderMemory } from '../../codec.js';
import { PageError, PageMemoryError } from './columns/page-error.js';
import { type Encoding, type PageHeader, readPageHeader, USUAL_HEADER } from './page-header.js';
import { type PageTable, pageOfRow } from './page-table.js';
import type { ColumnChunk } from './row-group.js';

/** The bytes that are read ahead, of all chunks together, and of one. */
const AHEAD_BYTES = 4 * 2 ** 20;
const MOST_AHEAD_BYTES = 2 ** 20;
const LEAST_ROOM_BYTES = 4096;
const LEAST_READ_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

export interface StoredPage {
  readonly header: PageHeader;
  /** Good until the next page of any chunk. */
  readonly body: Uint8Array;
}

/** The part that the chunks of a file have in common. */
export class ChunkInput {
  readonly input: RegularInput;
  readonly control: JobControl;
  readonly aheadBytes: number;
  readonly #memory: DecoderMemory;
  readonly #leafCount: number;
  #room = Buffer.alloc(0);

  constructor(input: RegularInput, control: JobControl, memory: DecoderMemory, leafCount: number) {
    this.input = input;
    this.control = control;
    this.aheadBytes = Math.min(MOST_AHEAD_BYTES, Math.floor(AHEAD_BYTES / leafCount));
    this.#memory = memory;
    this.#leafCount = leafCount;
  }

  /**
   * @param existing bytes, which are not used after the call: the room may be another one.
   * @param decodedBytes of the page, for messages.
   * @returns room for at least `byteLength` bytes, which begins with `existing`.
   */
  roomFor(byteLength: number, existing: Buffer, decodedBytes: number): Buffer {
    const former = this.#room;
    if (byteLength > former.byteLength) {
      const roomBytes = Math.max(LEAST_ROOM_BYTES, byteLength);
      const aheadBytes = this.#leafCount * this.aheadBytes;
      if (!this.#memory.reserve(roomBytes + aheadBytes))
        throw new PageMemoryError(roomBytes, 'a compressed page', aheadBytes + decodedBytes);
      this.#room = Buffer.allocUnsafeSlow(roomBytes);
    }
    if (existing.buffer !== this.#room.buffer) existing.copy(this.#room);
    if (former !== this.#room) freeBytes(former);
    return this.#room;
  }
}

interface FoundPage {
  readonly header: PageHeader;
  readonly headerBytes: number;
  readonly byteLength: number;
}

export class ChunkPages {
  readonly #source: ChunkInput;
  readonly #end: number;
  readonly #countedFrom: number;
  /** The place of the next page in the file. */
  #position: number;
  #valuesLeft: number;
  #aheadRoom: Buffer | undefined;
  /** The bytes that were read from `#position` on. */
  #ahead: Buffer = NOTHING;

  /** @param countedFrom what lies before it in the file is progress that others make. */
  constructor(source: ChunkInput, { start, byteLength, valueCount }: ColumnChunk, countedFrom = start) {
    this.#source = source;
    this.#countedFrom = countedFrom;
    this.#position = start;
    this.#end = start + byteLength;
    this.#valuesLeft = valueCount;
  }

  get position(): number {
    return this.#position;
  }

  /** Returns whether its pages have had all of its values, or all of its bytes. */
  get isAtEnd(): boolean {
    return this.#valuesLeft <= 0 || this.#position >= this.#end;
  }

  /** @returns undefined: the chunk has no more. @throws PageError, ThriftError, PageMemoryError */
  next(): StoredPage | undefined {
    const left = this.#end - this.#position;
    if (this.isAtEnd) {
      // Of some files, bytes after the last page seem to belong to the chunk.
      this.#pass(left);
      return undefined;
    }
    let bytes = this.#ahead;
    let page = this.#pageIn(bytes, left);
    while (page === undefined || page.byteLength > bytes.byteLength) {
      const wanted = page?.byteLength ?? Math.max(LEAST_READ_BYTES, 4 * bytes.byteLength);
      bytes = this.#fill(bytes, wanted, left, page?.header.uncompressedBytes);
      page ??= this.#pageIn(bytes, left);
    }
    const { header, headerBytes, byteLength } = page;
    const body = bytes.subarray(headerBytes, byteLength);
    if (header.crc !== undefined && crc32(body) !== header.crc) throw new PageError('its checksum (CRC-32) is wrong');
    if (header.kind === 'data') this.#valuesLeft -= header.valueCount;
    if (this.#valuesLeft < 0) throw new PageError('the pages have more values than the column chunk claims');
    this.#storeAhead(bytes.subarray(byteLength));
    this.#pass(byteLength);
    return { header, body };
  }

  /**
   * Returns the page at the beginning of `bytes`. Undefined: its header does not end in these bytes.
   * @param left bytes of the chunk.
   */
  #pageIn(bytes: Buffer, left: number): FoundPage | undefined {
    const found = bytes.byteLength === 0 ? undefined : readPageHeader(bytes, 0);
    if (found === undefined) {
      if (bytes.byteLength === left) throw new PageError('the column chunk ends within the header of the page');
      return undefined;
    }
    const { header, headerBytes } = found;
    const byteLength = headerBytes + header.compressedBytes;
    if (byteLength <= left) return { header, headerBytes, byteLength };
    throw new PageError(`it claims ${byteLength} bytes, and the column chunk has only ${left} from there on`);
  }

  #fill(bytes: Buffer, wanted: number, left: number, decodedBytes = 0): Buffer {
    const { input, aheadBytes } = this.#source;
    const filled = bytes.byteLength;
    const end = Math.min(left, Math.max(wanted, aheadBytes));
    const room = this.#source.roomFor(end, bytes, decodedBytes);
    if (input.readAt(room, filled, end - filled, this.#position + filled, this.#end) === end - filled)
      return room.subarray(0, end);
    input.requireUnchanged();
    throw new PageError('the file ends within the page');
  }

  #storeAhead(rest: Buffer): void {
    const { aheadBytes } = this.#source;
    const room = this.#aheadRoom;
    if (rest.byteLength === 0 || aheadBytes === 0 || rest.buffer === room?.buffer) {
      this.#ahead = aheadBytes === 0 ? NOTHING : rest;
      return;
    }
    const ownRoom = room ?? Buffer.allocUnsafeSlow(Math.min(aheadBytes, rest.byteLength + this.#end - this.#position));
    this.#aheadRoom = ownRoom;
    this.#ahead = ownRoom.subarray(0, rest.copy(ownRoom));
  }

  #pass(byteLength: number): void {
    this.#position += byteLength;
    const counted = Math.min(byteLength, Math.max(0, this.#position - this.#countedFrom));
    this.#source.control.count('scatteredBytes', counted);
  }
}

/** Rows [from, to) of a row group. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The pages of a column chunk that hold some of its rows, with its dictionary. What the page index claims is compared with
 * each page. Every page is read by one part of its row group or another, so each wrong claim is found.
 */
export class PartPages {
  readonly #table: PageTable;
  readonly #dictionary: ChunkPages;
  readonly #data: ChunkPages;
  #page: number;
  /** Rows of its first page that come before the part. */
  readonly rowsBefore: number;

  constructor(source: ChunkInput, chunk: ColumnChunk, table: PageTable, { from, to }: RowRange) {
    const { starts, rows } = table;
    const pagesIn = (start: number, end: number, countedFrom: number) =>
      new ChunkPages(source, { ...partOf(chunk), start, byteLength: end - start }, countedFrom);
    const startOf = (page: number) => starts[page] ?? 0;
    const first = pageOfRow(table, from);
    this.#table = table;
    this.#page = first;
    this.rowsBefore = from - (rows[first] ?? 0);
    // What several parts read is counted by the first of them.
    this.#dictionary = pagesIn(chunk.start, startOf(0), from === 0 ? chunk.start : Number.POSITIVE_INFINITY);
    const ownStart = startOf(this.rowsBefore > 0 ? first + 1 : first);
    this.#data = pagesIn(startOf(first), startOf(pageOfRow(table, to - 1) + 1), ownStart);
  }

  get position(): number {
    return this.#dictionary.isAtEnd ? this.#data.position : this.#dictionary.position;
  }

  get isAtEnd(): boolean {
    return this.#dictionary.isAtEnd && this.#data.isAtEnd;
  }

  /** @returns undefined: the part has no more. @throws PageError, ThriftError, PageMemoryError */
  next(): StoredPage | undefined {
    if (!this.#dictionary.isAtEnd) {
      const page = this.#dictionary.next();
      if (page?.header.kind === 'data') throw new PageError('its page index does not list it');
      return page;
    }
    const page = this.#data.next();
    return page && this.#checked(page);
  }

  #checked({ header, body }: StoredPage): StoredPage {
    const { starts, rows } = this.#table;
    const rowCount = (rows[this.#page + 1] ?? 0) - (rows[this.#page] ?? 0);
    this.#page += 1;
    if (header.kind !== 'data' || this.#data.position !== starts[this.#page])
      throw new PageError(`its page index claims values up to byte ${starts[this.#page]}`);
    if (header.rows !== undefined && header.rows !== rowCount)
      throw new PageError(`its header claims ${counted(header.rows, 'row')}, and its page index ${rowCount}`);
    return { header: { ...header, rows: rowCount }, body };
  }
}

/** Returns the part of a chunk, so that nobody waits for values that another part reads. */
export function partOf(chunk: ColumnChunk): ColumnChunk {
  return { ...chunk, valueCount: Number.POSITIVE_INFINITY };
}

const MOST_CONSTANT_ROWS = 8192;

/** Pages of a column that has one value in all rows: a dictionary, and runs of its only entry. */
export class ConstantPages {
  /** Position of a page that lies in no file. */
  readonly position = 0;
  readonly #value: Uint8Array | null;
  #isDictionaryNext: boolean;
  #rowsLeft: number;

  /** @param value as PLAIN stores it, of an optional column; `null`: there is none. */
  constructor(value: Uint8Array | null, rows: number) {
    this.#value = value;
    this.#isDictionaryNext = value !== null;
    this.#rowsLeft = rows;
  }

  get isAtEnd(): boolean {
    return this.#rowsLeft === 0;
  }

  next(): StoredPage | undefined {
    if (this.isAtEnd) return undefined;
    if (this.#isDictionaryNext && this.#value !== null) {
      this.#isDictionaryNext = false;
      return pageOf('dictionary', 'PLAIN', 1, this.#value);
    }
    const count = Math.min(this.#rowsLeft, MOST_CONSTANT_ROWS);
    this.#rowsLeft -= count;
    const levels = runOf(count, this.#value === null ? 0 : 1);
    const indexes = this.#value === null ? [] : [1, ...runOf(count, 0)];
    return pageOf('data', 'RLE_DICTIONARY', count, Uint8Array.of(levels.length, 0, 0, 0, ...levels, ...indexes));
  }
}

/** A run as RLE stores it: the count doubled, as a varint, and the value in a byte. */
function runOf(count: number, value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = 2 * count;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest, value];
}

function pageOf(kind: PageHeader['kind'], encoding: Encoding, valueCount: number, body: Uint8Array): StoredPage {
  const { byteLength } = body;
  const header = {
    ...USUAL_HEADER,
    kind,
    valueCount,
    encoding,
    compressedBytes: byteLength,
    uncompressedBytes: byteLength,
  };
  return { header, body };
}
