/**
 * The window of a reader whose records stay where they are read. Bytes arrive one behind the other in a region of the
 * record memory. When the region is full, only the beginning of an incomplete record moves to the next one. Bytes behind
 * the last held record that belong to none (headers, records of other parts) are used again.
 */
import { SLACK_BYTES } from '../../src/plan/arena-sizes.js';
import type { RecordTooLong, RecordWindow } from '../read/read-window.js';
import type { RecordMemory } from '../record-memory.js';

/** With less room, the reader gets a new region: the bytes that a framing adds at the end of an input always fit. */
const LEAST_ROOM_BYTES = 4096;

export interface HeldWindowSizes {
  /** Of a region, unless a record is longer. */
  readonly regionBytes: number;
  /** The most bytes read at a time: they are marked, hashed and keyed while they are in the cache. */
  readonly pieceBytes: number;
  readonly maxRecordBytes: number;
}

export class HeldWindow implements RecordWindow {
  recordStart = 0;
  scannedEnd = 0;
  filledEnd = 0;
  readonly #memory: RecordMemory;
  readonly #sizes: HeldWindowSizes;

  constructor(memory: RecordMemory, sizes: HeldWindowSizes) {
    this.#memory = memory;
    this.#sizes = sizes;
    this.clear();
  }

  get pendingBytes(): number {
    return this.filledEnd - this.recordStart;
  }

  get capacityBytes(): number {
    return this.#sizes.pieceBytes;
  }

  clear(): void {
    const { next } = this.#memory.region;
    this.recordStart = next;
    this.scannedEnd = next;
    this.filledEnd = next;
  }

  /** The records before this address are held. */
  hold(end: number): void {
    this.#memory.region.next = end;
  }

  makeRoom(lookAheadBytes = 0): number | RecordTooLong {
    const pending = this.pendingBytes;
    const { region } = this.#memory;
    if (pending >= this.#sizes.maxRecordBytes + lookAheadBytes) return { byteLength: pending, limit: 'record' };
    if (this.recordStart - region.next >= this.#sizes.pieceBytes) this.#moveTo(region.next);
    if (region.end - SLACK_BYTES - this.filledEnd < LEAST_ROOM_BYTES && !this.#takeRegion(pending)) {
      return { byteLength: pending, limit: 'memory' };
    }
    return Math.min(region.end - SLACK_BYTES - this.filledEnd, this.#sizes.pieceBytes);
  }

  /** Takes a region with room for a record that has `pending` bytes so far. */
  #takeRegion(pending: number): boolean {
    const { region } = this.#memory;
    const { regionBytes } = this.#sizes;
    // A long record that moved each time would leave as much memory behind as it takes.
    if (this.#memory.extendRegion(regionBytes) || this.#memory.extendRegion(LEAST_ROOM_BYTES)) return true;
    const leastBytes = pending + LEAST_ROOM_BYTES + SLACK_BYTES;
    for (const byteLength of [Math.max(regionBytes, 2 * leastBytes), leastBytes]) {
      const address = this.#memory.take(byteLength);
      if (address === undefined) continue;
      region.next = address;
      this.#moveTo(address);
      region.end = address + byteLength;
      return true;
    }
    return false;
  }

  #moveTo(address: number): void {
    if (this.pendingBytes > 0) this.#memory.kernel.bytes.copyWithin(address, this.recordStart, this.filledEnd);
    const moved = address - this.recordStart;
    this.recordStart += moved;
    this.scannedEnd += moved;
    this.filledEnd += moved;
  }
}
