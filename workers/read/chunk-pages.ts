/**
 * The pages of a column chunk, read one by one. Chunks of the same row group share the room for a page; each keeps what
 * was read beyond its last page, up to a few bytes if there are many columns.
 */
import { crc32 } from 'node:zlib';
import type { DecoderMemory } from '../../src/formats/codec.js';
import { type PageHeader, readPageHeader } from '../../src/formats/parquet/page-header.js';
import type { ColumnChunk } from '../../src/formats/parquet/row-group.js';
import type { RegularInput } from '../../src/io/input-source.js';
import type { JobControl } from '../../src/job-control.js';
import { PageError, PageMemoryError } from '../columns/page-error.js';

/** Read ahead, of all chunks together, and of one. */
const AHEAD_BYTES = 4 * 2 ** 20;
const MOST_AHEAD_BYTES = 2 ** 20;
const LEAST_ROOM_BYTES = 64 * 1024;

export interface StoredPage {
  readonly header: PageHeader;
  /** Good until the next page of any chunk. */
  readonly body: Uint8Array;
}

/** What the chunks of a file have in common. */
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

  /** The room with its first `kept` bytes, for at least `byteLength`. */
  roomFor(byteLength: number, kept: number): Buffer {
    const room = this.#room;
    if (byteLength <= room.byteLength) return room;
    const roomBytes = Math.max(LEAST_ROOM_BYTES, this.aheadBytes, byteLength);
    if (!this.#memory.reserve(roomBytes + this.#leafCount * this.aheadBytes))
      throw new PageMemoryError(roomBytes, 'a compressed page');
    this.#room = Buffer.allocUnsafeSlow(roomBytes);
    room.copy(this.#room, 0, 0, kept);
    return this.#room;
  }
}

export class ChunkPages {
  readonly #source: ChunkInput;
  readonly #end: number;
  /** Of the next page, in the file. */
  #position: number;
  #valuesLeft: number;
  /** The first `#aheadBytes` of it are those from `#position` on. */
  #ahead: Buffer | undefined;
  #aheadBytes = 0;

  constructor(source: ChunkInput, { start, byteLength, valueCount }: ColumnChunk) {
    this.#source = source;
    this.#position = start;
    this.#end = start + byteLength;
    this.#valuesLeft = valueCount;
  }

  get position(): number {
    return this.#position;
  }

  /** Whether its pages have had all of its values. */
  get isAtEnd(): boolean {
    return this.#valuesLeft <= 0;
  }

  /** @returns undefined: the chunk has no more. @throws PageError, ThriftError, PageMemoryError */
  next(): StoredPage | undefined {
    if (this.isAtEnd) {
      // Of some files, bytes behind the last page seem to belong to the chunk.
      this.#pass(this.#end - this.#position);
      return undefined;
    }
    const source = this.#source;
    const left = this.#end - this.#position;
    if (left <= 0) return undefined;
    let filled = this.#takeAhead();
    const fill = (wanted: number): Buffer => {
      const most = Math.min(wanted, left);
      const room = source.roomFor(most, filled);
      if (most > filled) filled += this.#read(room, filled, most - filled);
      return room;
    };
    let room = fill(Math.max(LEAST_ROOM_BYTES / 4, source.aheadBytes));
    let found = readPageHeader(room.subarray(0, filled), 0);
    while (found === undefined) {
      if (filled === left) throw new PageError('the column chunk ends within the header of the page');
      room = fill(4 * filled);
      found = readPageHeader(room.subarray(0, filled), 0);
    }
    const { header, headerBytes } = found;
    const pageBytes = headerBytes + header.compressedBytes;
    if (pageBytes > left)
      throw new PageError(`it claims ${pageBytes} bytes, and the column chunk has only ${left} from there on`);
    room = fill(pageBytes);
    const body = room.subarray(headerBytes, pageBytes);
    if (header.crc !== undefined && crc32(body) !== header.crc) throw new PageError('its checksum (CRC-32) is wrong');
    if (header.kind === 'data' || header.kind === 'data2') this.#valuesLeft -= header.valueCount;
    if (this.#valuesLeft < 0) throw new PageError('the pages have more values than the column chunk claims');
    this.#keepAhead(room.subarray(pageBytes, filled));
    this.#pass(pageBytes);
    return { header, body };
  }

  #takeAhead(): number {
    const byteLength = this.#aheadBytes;
    if (this.#ahead === undefined || byteLength === 0) return 0;
    this.#ahead.copy(this.#source.roomFor(byteLength, 0), 0, 0, byteLength);
    this.#aheadBytes = 0;
    return byteLength;
  }

  #keepAhead(bytes: Buffer): void {
    const { aheadBytes } = this.#source;
    if (bytes.byteLength === 0 || aheadBytes === 0) return;
    this.#ahead ??= Buffer.allocUnsafeSlow(Math.min(aheadBytes, this.#end - this.#position));
    this.#aheadBytes = bytes.copy(this.#ahead);
  }

  #read(room: Buffer, at: number, byteLength: number): number {
    const { input } = this.#source;
    const count = input.readAt(room, at, byteLength, this.#position + at);
    if (count === byteLength) return count;
    input.requireUnchanged();
    throw new PageError('the file ends within the page');
  }

  #pass(byteLength: number): void {
    this.#position += byteLength;
    this.#source.control.count('scatteredBytes', byteLength);
  }
}
