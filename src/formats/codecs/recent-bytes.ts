/**
 * The last bytes of an input, in one buffer that is used again and again. Who reads the input reads to `room`, so its
 * bytes are not copied.
 */
import { freeBytes } from '../../machine/free-bytes.js';

export class RecentBytes {
  readonly #bytes: Buffer;
  readonly #mostPieceBytes: number;
  readonly #mostRestBytes: number;
  /** Where the next bytes go. */
  #end: number;
  /** Where those of the last round end, which the next bytes overwrite from `#end` on. */
  #olderEnd = 0;

  /**
   * @param byteLength so many bytes are kept.
   * @param mostPieceBytes so many are added at a time.
   * @param mostRestBytes so many of the bytes before a piece lie in front of it; zeros stand before the first byte.
   */
  constructor(byteLength: number, mostPieceBytes: number, mostRestBytes: number) {
    this.#bytes = Buffer.alloc(mostRestBytes + byteLength + 2 * mostPieceBytes);
    this.#mostPieceBytes = mostPieceBytes;
    this.#mostRestBytes = mostRestBytes;
    this.#end = mostRestBytes;
  }

  /** Where the next bytes go. They stay there until so many are added as are kept. */
  room(): Uint8Array {
    if (this.#end + this.#mostPieceBytes > this.#bytes.byteLength) this.#startAgain();
    return this.#bytes.subarray(this.#end, this.#end + this.#mostPieceBytes);
  }

  #startAgain(): void {
    this.#bytes.copy(this.#bytes, 0, this.#end - this.#mostRestBytes, this.#end);
    this.#olderEnd = this.#end;
    this.#end = this.#mostRestBytes;
  }

  /**
   * Adds the first bytes of `room`.
   * @returns them, behind `restBytes` of those before them.
   */
  add(byteLength: number, restBytes: number): Buffer {
    const start = this.#end - restBytes;
    this.#end += byteLength;
    return this.#bytes.subarray(start, this.#end);
  }

  /** All that are kept, and perhaps more. */
  all(): Buffer {
    // Bytes may lie in `room` that were not added.
    const older = this.#bytes.subarray(Math.min(this.#end + this.#mostPieceBytes, this.#olderEnd), this.#olderEnd);
    return Buffer.concat([older, this.#bytes.subarray(this.#mostRestBytes, this.#end)]);
  }

  /** Frees the memory; no other call follows. */
  free(): void {
    freeBytes(this.#bytes);
  }
}
