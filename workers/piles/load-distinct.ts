/**
 * Loads a merged pile that is larger than the arena, and keeps one of equal records: each time the arena is full, its
 * records are put in order, those equal to others are dropped, and the others move together. So a pile with very many
 * equal records needs no more memory than its different ones.
 *
 *     room     stored records | slack | counts u32 | arrived u64 | sorted u64
 */
import { VerificationError } from '../../src/errors.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import type { MergedPile, MergedPileReader } from '../../src/piles/merged-pile.js';
import type { PileSetLayout } from '../../src/piles/pile-layout.js';
import { ENTRY_BYTES, SLACK_BYTES, STORED_HEADER_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import { foreignRecordError, orderTables } from './order-tables.js';

export interface DistinctLoad {
  readonly merged: MergedPile;
  readonly reader: MergedPileReader;
  readonly level: { readonly layout: PileSetLayout; readonly parentScale: bigint };
  readonly room: { readonly start: number; readonly end: number };
  readonly longestRecordBytes: number;
}

/**
 * The least share of the room that must be won: with less, reading on would put nearly the same records in order again
 * and again.
 */
const LEAST_FREED_SHARE = 1 / 4;

class TooManyRecords extends Error {}

/** Returns the number of records that stay, in order; undefined: the room is too small for them. */
export async function loadDistinct(kernel: Kernel, load: DistinctLoad): Promise<number | undefined> {
  const { merged, reader, level } = load;
  const reduction = new Reduction(kernel, load);
  if (!reduction.hasRoom) return undefined;
  try {
    await reader.read(merged, level.layout, {
      place: (byteLength) => reduction.place(byteLength),
      receive: (byteLength) => inPhase('sort', () => reduction.receive(byteLength)),
    });
  } catch (error) {
    if (error instanceof TooManyRecords) return undefined;
    throw error;
  }
  return inPhase('sort', () => reduction.end());
}

class Reduction {
  readonly #kernel: Kernel;
  readonly #load: DistinctLoad;
  readonly #storedEnd: number;
  readonly #capacity: number;
  #filled: number;
  #walked: number;

  constructor(kernel: Kernel, load: DistinctLoad) {
    const { merged, room } = load;
    this.#kernel = kernel;
    this.#load = load;
    // The tables get the part of the room that they need if all of the pile is like the whole.
    const storedShare = merged.storedBytes / (merged.storedBytes + ENTRY_BYTES * merged.records);
    const usableBytes = Math.max(0, room.end - room.start - 2 * SLACK_BYTES);
    this.#storedEnd = room.start + Math.floor(usableBytes * storedShare);
    this.#capacity = Math.max(1, Math.floor((usableBytes * (1 - storedShare)) / ENTRY_BYTES));
    this.#filled = room.start;
    this.#walked = room.start;
    if (this.hasRoom) this.#prepare();
  }

  /** Returns whether the longest record fits beside others. */
  get hasRoom(): boolean {
    const { room, longestRecordBytes } = this.#load;
    return this.#storedEnd - room.start >= 2 * (longestRecordBytes + STORED_HEADER_BYTES) && this.#capacity > 1;
  }

  place(byteLength: number): { target: Uint8Array; offset: number; byteLength: number } {
    const room = Math.min(byteLength, this.#storedEnd - this.#filled);
    return { target: this.#kernel.bytes, offset: this.#filled, byteLength: room };
  }

  receive(byteLength: number): void {
    this.#filled += byteLength;
    while (!this.#walk() || this.#filled === this.#storedEnd) this.#reduce();
  }

  end(): number {
    const { merged } = this.#load;
    if (this.#walked !== this.#filled)
      throw new VerificationError(
        `pile ${merged.pile} ends inside a record, ${this.#filled - this.#walked} bytes after its beginning`,
      );
    return this.#kernel.wasm.orderDistinct() >>> 0;
  }

  #prepare(): void {
    const { merged, level, room } = this.#load;
    const { bits, counts, arrived, sorted, end } = orderTables(this.#storedEnd, this.#capacity);
    if (end > room.end) throw new RangeError('the tables of an order do not fit');
    const { pileCount } = level.layout;
    const { wasm } = this.#kernel;
    wasm.prepareOrder(counts, bits, arrived, sorted, this.#capacity, merged.pile, pileCount, level.parentScale, true);
  }

  /** Takes the complete records. False: there are more than the tables have room for. */
  #walk(): boolean {
    const { wasm } = this.#kernel;
    const walked = wasm.walkStored(this.#walked, this.#filled) >>> 0;
    if (walked !== 0) {
      this.#walked = walked;
      return true;
    }
    // The walk has stopped at the first record that it did not take.
    this.#walked = wasm.walkedEnd.value >>> 0;
    if (wasm.walkedCount.value >>> 0 === this.#capacity) return false;
    throw foreignRecordError(this.#load.merged);
  }

  #reduce(): void {
    const { start } = this.#load.room;
    const { wasm, bytes } = this.#kernel;
    const count = wasm.walkedCount.value >>> 0;
    const distinctRecords = wasm.orderDistinct() >>> 0;
    const distinctEnd = wasm.compactStored(start, this.#walked) >>> 0;
    const freedBytes = this.#walked - distinctEnd;
    const hasFreedBytes = freedBytes >= LEAST_FREED_SHARE * (this.#storedEnd - start);
    const hasFreedEntries = count < this.#capacity || count - distinctRecords >= LEAST_FREED_SHARE * this.#capacity;
    // A full region gives room only by its bytes, full tables only by their entries.
    const isFull = this.#filled === this.#storedEnd;
    if ((isFull && !hasFreedBytes) || !hasFreedEntries) throw new TooManyRecords();
    bytes.copyWithin(distinctEnd, this.#walked, this.#filled);
    this.#filled -= freedBytes;
    this.#walked = start;
    this.#prepare();
    this.#walked = wasm.walkStored(start, distinctEnd) >>> 0;
  }
}
