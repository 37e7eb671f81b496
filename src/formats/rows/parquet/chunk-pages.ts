/**
 * The pages of a column chunk, read one by one. Chunks of the same row group share the room for a page; each keeps what
 * was read beyond its last page, up to a few bytes if there are many columns.
 */
import { crc32 } from 'node:zlib';
import type { JobControl } from '../../../floor/job-control.js';
import { freeBytes } from '../../../machine/free-bytes.js';
import type { RegularInput } from '../../../places/inputs/input-source.js';
import type { DecoderMemory } from '../../codec.js';
import { PageError, PageMemoryError } from './columns/page-error.js';
import { type PageHeader, readPageHeader } from './page-header.js';
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
   * @param kept is not used after it: the room may be another one.
   * @param decodedBytes of the page, for messages.
   * @returns room for at least `byteLength` bytes, which begins with `kept`.
   */
  roomFor(byteLength: number, kept: Buffer, decodedBytes: number): Buffer {
    const former = this.#room;
    if (byteLength > former.byteLength) {
      const roomBytes = Math.max(LEAST_ROOM_BYTES, byteLength);
      const aheadBytes = this.#leafCount * this.aheadBytes;
      if (!this.#memory.reserve(roomBytes + aheadBytes))
        throw new PageMemoryError(roomBytes, 'a compressed page', aheadBytes + decodedBytes);
      this.#room = Buffer.allocUnsafeSlow(roomBytes);
    }
    if (kept.buffer !== this.#room.buffer) kept.copy(this.#room);
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
      // Of some files, bytes behind the last page seem to belong to the chunk.
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
    this.#keep(bytes.subarray(byteLength));
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

  #keep(rest: Buffer): void {
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
