/**
 * Puts the records of one pile of a store in the order of an epoch. If the pile is too large for memory, it takes the
 * records of one range of keys at a time. It writes nothing: each further range reads the pile once more.
 *
 *     arena    copied records | slack | ends u32 | stored records | slack | counts u32 | arrived u64 | sorted u64
 */
import { SystemError, VerificationError } from '../../src/errors.js';
import type { JobControl } from '../../src/floor/job-control.js';
import type { KernelFunctions } from '../../src/formats/framing.js';
import type { MergedPile, MergedPileReader } from '../../src/piles/merged-pile.js';
import type { PileSetLayout } from '../../src/piles/pile-layout.js';
import { SLACK_BYTES } from '../../src/plan/arena-sizes.js';
import { type Arena, ArenaLayout } from '../arena.js';
import { foreignRecordError, orderTables } from './order-tables.js';
import { NO_LIMIT } from './pile-orderer.js';

export interface Portion {
  /** Counts from 0, of `rangeCount` equal ranges of keys. */
  readonly range: number;
  /** 1: the portion is the whole pile. */
  readonly rangeCount: number;
}

interface OrderedPortion {
  readonly records: number;
  /** The records of the pile that come before them. */
  readonly recordsBefore: number;
  readonly storedBytes: number;
}

interface PortionOrdererParts {
  readonly arena: Arena;
  readonly control: JobControl;
  readonly reader: MergedPileReader;
  readonly layout: PileSetLayout;
  /** The key of the epoch, mixed with the stored keys; undefined: the stored keys give the order. */
  readonly epochKey: bigint | undefined;
}

/** Bytes copied at one time: they stay in the processor's cache until the second copy. */
const COPY_BYTES = 2 ** 18;
const COPY_RECORDS = 2 ** 14;
/**
 * Copies have the alignment of their destination within a word: then V8 copies whole words into shared memory, and
 * else single bytes, at a quarter of the speed.
 */
const WORD_BYTES = 8;
const END_BYTES = 4;
const PIECE_BYTES = 2 ** 20;

/** A walk accepts the keys of pile `pile` of `pileCount`, by the product of key and `scale`. */
interface KeyPlace {
  readonly pile: number;
  readonly pileCount: number;
  readonly scale: bigint;
}

export class PortionOrderer {
  readonly #parts: PortionOrdererParts;
  readonly #wasm: KernelFunctions;
  readonly #copy: number;
  readonly #ends: number;
  readonly #stored: number;

  constructor(parts: PortionOrdererParts) {
    this.#parts = parts;
    this.#wasm = parts.arena.kernel.wasm;
    this.#wasm.useSecondKeys(false, false);
    const layout = new ArenaLayout(parts.arena.start);
    this.#copy = layout.take(WORD_BYTES + COPY_BYTES + SLACK_BYTES, 4096);
    this.#ends = layout.take(WORD_BYTES + END_BYTES * COPY_RECORDS);
    this.#stored = layout.take(0, 4096);
  }

  async order(merged: MergedPile, portion: Portion): Promise<OrderedPortion> {
    this.#parts.control.throwIfAborted();
    return portion.rangeCount === 1 ? this.#orderWhole(merged) : this.#orderRange(merged, portion);
  }

  /** Adds the records to the order piece by piece, while they are in the processor's cache. */
  async #orderWhole(merged: MergedPile): Promise<OrderedPortion> {
    const { arena, reader, layout, epochKey } = this.#parts;
    const { records, storedBytes } = merged;
    this.#prepare(merged, records, this.#stored + storedBytes, this.#placeOf(merged, { range: 0, rangeCount: 1 }));
    let filled = this.#stored;
    let walked = this.#stored;
    await reader.read(merged, layout, {
      place: (byteLength) => ({ target: arena.kernel.bytes, offset: filled, byteLength }),
      receive: (byteLength) => {
        filled += byteLength;
        const end = epochKey === undefined ? filled : this.#mix(merged, walked, filled, epochKey);
        walked = this.#walk(merged, walked, end);
      },
    });
    if (walked !== filled || this.#wasm.walkedCount.value >>> 0 !== records) {
      throw miscountedError(merged, this.#wasm.walkedCount.value >>> 0, filled - walked);
    }
    this.#wasm.orderWalked();
    return { records, recordsBefore: 0, storedBytes };
  }

  /** Drops records of other ranges at once, so that the records of this range lie together. */
  async #orderRange(merged: MergedPile, portion: Portion): Promise<OrderedPortion> {
    const { arena, reader, layout, epochKey } = this.#parts;
    const wasm = this.#wasm;
    // Mixed keys of a pile spread over all keys; its stored keys lie in the range of the pile.
    const scale = epochKey === undefined ? BigInt(layout.pileCount) : 1n;
    let filled = this.#stored;
    let seen = this.#stored;
    wasm.beginRange(this.#stored);
    await reader.read(merged, layout, {
      place: (byteLength) => {
        const pieceBytes = Math.min(byteLength, PIECE_BYTES);
        this.#reserve(merged, filled + pieceBytes + SLACK_BYTES);
        return { target: arena.kernel.bytes, offset: filled, byteLength: pieceBytes };
      },
      receive: (byteLength) => {
        filled += byteLength;
        const end = epochKey === undefined ? filled : this.#mix(merged, seen, filled, epochKey);
        const next = wasm.compactRange(seen, end, scale, portion.range, portion.rangeCount) >>> 0;
        seen = wasm.rangeEnd.value >>> 0;
        arena.kernel.bytes.copyWithin(seen, next, filled);
        filled = seen + filled - next;
      },
    });
    if (seen !== filled || wasm.recordsSeen.value >>> 0 !== merged.records) {
      throw miscountedError(merged, wasm.recordsSeen.value >>> 0, filled - seen);
    }
    const records = wasm.rangeRecords.value >>> 0;
    this.#prepare(merged, records, filled, this.#placeOf(merged, portion));
    this.#walk(merged, this.#stored, filled);
    wasm.orderWalked();
    return { records, recordsBefore: wasm.recordsBefore.value >>> 0, storedBytes: filled - this.#stored };
  }

  #mix(merged: MergedPile, from: number, to: number, epochKey: bigint): number {
    const mixed = this.#wasm.mixKeys(from, to, merged.pile, this.#parts.layout.pileCount, epochKey) >>> 0;
    if (mixed === 0) throw foreignRecordError(merged);
    return mixed;
  }

  #walk(merged: MergedPile, from: number, to: number): number {
    const walked = this.#wasm.walkStored(from, to) >>> 0;
    if (walked === 0) throw foreignRecordError(merged);
    return walked;
  }

  #placeOf({ pile }: MergedPile, { range, rangeCount }: Portion): KeyPlace {
    const { layout, epochKey } = this.#parts;
    if (epochKey !== undefined) return { pile: range, pileCount: rangeCount, scale: 1n };
    if (rangeCount === 1) return { pile, pileCount: layout.pileCount, scale: 1n };
    return { pile: range, pileCount: rangeCount, scale: BigInt(layout.pileCount) };
  }

  #prepare(merged: MergedPile, records: number, storedEnd: number, { pile, pileCount, scale }: KeyPlace): void {
    const { bits, counts, arrived, sorted, end } = orderTables(storedEnd, records);
    this.#reserve(merged, end);
    this.#wasm.prepareOrder(counts, bits, arrived, sorted, records, pile, pileCount, scale, true);
  }

  #reserve({ pile }: MergedPile, end: number): void {
    if (this.#parts.arena.reserve(end)) return;
    throw new SystemError(
      'ERR_OUT_OF_MEMORY',
      `a part of pile ${pile} takes more than the 4 GiB that a thread can address: its records are very long; make a store with more piles`,
    );
  }

  /**
   * Copies `count` ordered records, every `step`th from `index` on. Returns their bytes.
   * @param copyTo receives some of them at a time: their bytes, and the end of each; the first begins at 0.
   */
  copy(
    index: number,
    step: number,
    count: number,
    copyTo: (bytes: Uint8Array, ends: Uint32Array, byteLengthBefore: number, recordsBefore: number) => void,
  ): number {
    const wasm = this.#wasm;
    const { bytes } = this.#parts.arena.kernel;
    const endsFrom = (address: number, length: number) => new Uint32Array(bytes.buffer, address, length);
    let byteLength = 0;
    for (let done = 0; done < count; ) {
      const next = index + done * step;
      const wanted = Math.min(count - done, COPY_RECORDS);
      const to = this.#copy + (byteLength % WORD_BYTES);
      const ends = this.#ends + ((END_BYTES * done) % WORD_BYTES);
      const copied = wasm.gather(next, step, wanted, to, COPY_BYTES, NO_LIMIT, ends, byteLength) >>> 0;
      if (copied > 0) {
        const gathered = wasm.gatheredByteLength.value >>> 0;
        copyTo(bytes.subarray(to, to + gathered), endsFrom(ends, copied), byteLength, done);
        byteLength += gathered;
        done += copied;
        continue;
      }
      // This record is longer than the bytes copied at one time.
      const address = wasm.recordAddress(next) >>> 0;
      const recordBytes = wasm.recordByteLength(next) >>> 0;
      wasm.hashInPlace(next, next + 1);
      const end = Uint32Array.of(byteLength + recordBytes);
      copyTo(bytes.subarray(address, address + recordBytes), end, byteLength, done);
      byteLength += recordBytes;
      done += 1;
    }
    return byteLength;
  }

  get checksum(): bigint {
    return BigInt.asUintN(64, this.#wasm.orderChecksum.value);
  }
}

function miscountedError(merged: MergedPile, records: number, strayBytes: number): VerificationError {
  return new VerificationError(
    `pile ${merged.pile} holds ${records} records and ${strayBytes} stray bytes, expected ${merged.records} records; check the disk, and restore the store from a copy`,
  );
}
