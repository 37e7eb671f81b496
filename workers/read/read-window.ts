/**
 * The window of decoded input in linear memory. New bytes arrive at the back, complete records leave at the front, and
 * the beginning of an incomplete record moves to the front before the next read. The window is the last region of the
 * arena, so that it can grow for a record that is longer.
 *
 *     start                recordStart      scannedEnd        filledEnd       start + capacity
 *     | records scattered  | begin of the next record         | room          | slack
 */
import { SLACK_BYTES } from '../../src/plan/arena-sizes.js';
import type { Arena } from '../arena.js';

const LEAST_GROWTH_BYTES = 1024 * 1024;

/** The record that begins at `recordStart` does not fit the window. */
export interface RecordTooLong {
  /** The bytes of the record read so far. */
  readonly byteLength: number;
  readonly limit: 'record' | 'memory';
}

export interface RecordWindow {
  recordStart: number;
  scannedEnd: number;
  filledEnd: number;
  /** The bytes of the incomplete record at the end. */
  readonly pendingBytes: number;
  readonly capacityBytes: number;
  clear(): void;
  /**
   * Makes room after `filledEnd`; returns its size, or the reason why there is none. May move the pending bytes.
   * @param mostPendingBytes that an incomplete record may have, with what the framing must see to find its end.
   */
  makeRoom(mostPendingBytes?: number): number | RecordTooLong;
}

export class ReadWindow implements RecordWindow {
  recordStart: number;
  scannedEnd: number;
  filledEnd: number;
  readonly #arena: Arena;
  readonly #start: number;
  #capacityBytes: number;

  constructor(arena: Arena, start: number, capacityBytes: number) {
    this.#arena = arena;
    this.#start = start;
    this.#capacityBytes = capacityBytes;
    this.recordStart = start;
    this.scannedEnd = start;
    this.filledEnd = start;
    if (!arena.reserve(start + capacityBytes + SLACK_BYTES)) {
      throw new RangeError('the planned arena does not hold its own regions');
    }
  }

  clear(): void {
    this.recordStart = this.#start;
    this.scannedEnd = this.#start;
    this.filledEnd = this.#start;
  }

  get capacityBytes(): number {
    return this.#capacityBytes;
  }

  get pendingBytes(): number {
    return this.filledEnd - this.recordStart;
  }

  makeRoom(mostPendingBytes = Number.POSITIVE_INFINITY): number | RecordTooLong {
    const { bytes } = this.#arena.kernel;
    const pending = this.pendingBytes;
    if (pending >= mostPendingBytes) return { byteLength: pending, limit: 'record' };
    if (this.recordStart > this.#start) {
      bytes.copyWithin(this.#start, this.recordStart, this.filledEnd);
      const moved = this.recordStart - this.#start;
      this.recordStart -= moved;
      this.scannedEnd -= moved;
      this.filledEnd -= moved;
    }
    if (pending > this.#capacityBytes / 2 && !this.#grow() && pending === this.#capacityBytes) {
      return { byteLength: pending, limit: 'memory' };
    }
    return this.#capacityBytes - pending;
  }

  #grow(): boolean {
    // Grows by a quarter or, if the budget does not allow that, by the least growth.
    for (const growth of [Math.max(LEAST_GROWTH_BYTES, Math.ceil(this.#capacityBytes / 4)), LEAST_GROWTH_BYTES]) {
      if (!this.#arena.reserve(this.#start + this.#capacityBytes + growth + SLACK_BYTES)) continue;
      this.#capacityBytes += growth;
      return true;
    }
    return false;
  }
}
