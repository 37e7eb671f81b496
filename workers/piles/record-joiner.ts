/** Walks segments where they lie. It joins each record that straddles two of them in a copy, and walks that. */
import { copySharedBytes } from '../../src/io/shared-bytes.js';
import { SLACK_BYTES } from '../../src/plan/arena-sizes.js';
import type { Arena } from '../arena.js';

/** A stored record begins with its key, and then its length. */
const KEY_BYTES = 8;

/** Takes the complete stored records in [start, end). Returns the address of the first incomplete one. */
type WalkStored = (start: number, end: number) => number;

export class RecordJoiner {
  readonly #arena: Arena;
  readonly #headerBytes: number;
  readonly #walk: WalkStored;
  /** The record that is joined begins here. */
  #start: number;
  #pendingBytes = 0;
  #isFull = false;

  /** @param start the address of the first joined record. */
  constructor(arena: Arena, start: number, headerBytes: number, walk: WalkStored) {
    this.#arena = arena;
    this.#headerBytes = headerBytes;
    this.#start = start;
    this.#walk = walk;
  }

  /** The bytes of the record whose end is missing. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** True if a joined record has found no room. What comes after it is not walked. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes the next segment of a pile. */
  take(start: number, end: number): void {
    let next = start;
    while (this.#pendingBytes > 0 && next < end && !this.#isFull) {
      next += this.#join(next, Math.min(end - next, this.#missingBytes()));
      if (this.#missingBytes() > 0) continue;
      this.#start = this.#walk(this.#start, this.#start + this.#pendingBytes);
      this.#pendingBytes = 0;
    }
    if (this.#isFull || next === end) return;
    const walked = this.#walk(next, end);
    if (walked < end) this.#join(walked, end - walked);
  }

  /** Returns what the record lacks, or its header while that is not complete. */
  #missingBytes(): number {
    if (this.#pendingBytes < this.#headerBytes) return this.#headerBytes - this.#pendingBytes;
    const byteLength = this.#arena.kernel.view.getUint32(this.#start + KEY_BYTES, true);
    return this.#headerBytes + byteLength - this.#pendingBytes;
  }

  /** Copies the next bytes of the record. Returns their number. */
  #join(from: number, byteLength: number): number {
    const target = this.#start + this.#pendingBytes;
    this.#isFull = !this.#arena.reserve(target + byteLength + SLACK_BYTES);
    if (this.#isFull) return 0;
    const { bytes } = this.#arena.kernel;
    copySharedBytes(bytes.subarray(from, from + byteLength), bytes, target);
    this.#pendingBytes += byteLength;
    return byteLength;
  }
}
