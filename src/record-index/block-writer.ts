/**
 * Writes the blocks of one stretch into an index that several tasks write to at once. The tasks reserve places in the
 * index with a shared counter, one piece at a time.
 */
import { crc32 } from 'node:zlib';
import { type OpenFile, writeAt } from '../io/files.js';
import { BLOCK_ENTRY_BYTES, BLOCK_RECORDS, blockEntry } from './index-layout.js';
import { type BlockShape, blockBytesOf, encodeBlock } from './record-block.js';

const PIECE_BYTES = 1024 * 1024;
/** Offset of `place` in a block entry. */
const PLACE_OFFSET = 16;

export class SpaceAllocator {
  readonly buffer: SharedArrayBuffer;
  readonly #next: BigInt64Array;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#next = new BigInt64Array(buffer);
  }

  static from(place: number): SpaceAllocator {
    const places = new SpaceAllocator(new SharedArrayBuffer(8));
    Atomics.store(places.#next, 0, BigInt(place));
    return places;
  }

  allocate(byteLength: number): number {
    return Number(Atomics.add(this.#next, 0, BigInt(byteLength)));
  }

  get end(): number {
    return Number(Atomics.load(this.#next, 0));
  }
}

export interface WrittenBlocks {
  readonly recordCount: number;
  readonly recordBytes: number;
  /** Entries of the block table, without their checksums. */
  readonly entries: Uint8Array;
}

export class BlockWriter {
  readonly #file: OpenFile;
  readonly #allocator: SpaceAllocator;
  readonly #ends = new Float64Array(BLOCK_RECORDS);
  readonly #piece = Buffer.alloc(PIECE_BYTES);
  #pieceBytes = 0;
  /** The first block in the piece: it and later blocks have no place yet. */
  #firstInPiece = 0;
  #entries = Buffer.alloc(64 * BLOCK_ENTRY_BYTES);
  #blockCount = 0;
  #recordCount = 0;
  #recordBytes = 0;
  #start = 0;
  #count = 0;
  #leastBytes = Number.POSITIVE_INFINITY;

  constructor(file: OpenFile, places: SpaceAllocator) {
    this.#file = file;
    this.#allocator = places;
  }

  /**
   * Adds consecutive records. The first one starts where the last record added ended.
   * @param table pairs of addresses (start, end), as framings write them.
   * @param offset decoded position minus address.
   */
  add(table: DataView, tableAt: number, count: number, offset: number): void {
    let start = table.getUint32(tableAt, true) + offset;
    for (let i = 0; i < count; i++) {
      const end = table.getUint32(tableAt + 8 * i + 4, true) + offset;
      if (this.#count === 0) this.#start = start;
      this.#ends[this.#count] = end - this.#start;
      this.#count += 1;
      if (end - start < this.#leastBytes) this.#leastBytes = end - start;
      start = end;
      if (this.#count === BLOCK_RECORDS) this.#endBlock();
    }
  }

  finish(): WrittenBlocks {
    if (this.#count > 0) this.#endBlock();
    this.#writePiece();
    const entries = this.#entries.subarray(0, this.#blockCount * BLOCK_ENTRY_BYTES);
    return { recordCount: this.#recordCount, recordBytes: this.#recordBytes, entries };
  }

  #endBlock(): void {
    const byteLength = this.#ends[this.#count - 1] ?? 0;
    const shape: BlockShape = { recordCount: this.#count, byteLength, leastBytes: this.#leastBytes };
    const blockBytes = blockBytesOf(shape);
    if (this.#pieceBytes + blockBytes > PIECE_BYTES) this.#writePiece();
    const block = this.#piece.subarray(this.#pieceBytes, this.#pieceBytes + blockBytes).fill(0);
    encodeBlock(this.#ends, shape, block);
    this.#addEntry(shape, crc32(block));
    this.#pieceBytes += blockBytes;
    this.#recordCount += this.#count;
    this.#recordBytes += byteLength;
    this.#count = 0;
    this.#leastBytes = Number.POSITIVE_INFINITY;
  }

  /** Its place counts from the start of the piece until the piece has a place. */
  #addEntry({ recordCount, byteLength, leastBytes }: BlockShape, crc: number): void {
    const at = this.#blockCount * BLOCK_ENTRY_BYTES;
    if (at === this.#entries.byteLength) this.#entries = Buffer.concat([this.#entries, Buffer.alloc(at)]);
    const start = this.#start;
    const place = this.#pieceBytes;
    blockEntry.write(this.#entries, at, { start, end: start + byteLength, place, leastBytes, recordCount, crc });
    this.#blockCount += 1;
  }

  #writePiece(): void {
    const place = this.#allocator.allocate(this.#pieceBytes);
    writeAt(this.#file, this.#piece, 0, this.#pieceBytes, place);
    for (let block = this.#firstInPiece; block < this.#blockCount; block++) {
      const at = block * BLOCK_ENTRY_BYTES + PLACE_OFFSET;
      this.#entries.writeBigUInt64LE(this.#entries.readBigUInt64LE(at) + BigInt(place), at);
    }
    this.#firstInPiece = this.#blockCount;
    this.#pieceBytes = 0;
  }
}
