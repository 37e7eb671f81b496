/**
 * The kernel's pass 2 over one pile: takes stored records in pieces like those of a reader, orders them, and gathers
 * them into an output buffer with guarded surroundings.
 */
import type { Kernel } from '#workers/kernel/kernel.js';

/** A pile's place in the key space. */
export interface PilePlace {
  readonly pile: number;
  readonly pileCount: number;
  readonly parentScale: bigint;
}

export const WHOLE_KEY_SPACE: PilePlace = { pile: 0, pileCount: 1, parentScale: 1n };

/** Bytes behind a buffer that short copies may write to. */
const OVERRUN_BYTES = 16;
const SLACK_BYTES = 64;
const GARBAGE = 0xd7;

export class KernelOrder {
  readonly #kernel: Kernel;
  readonly #out: number;
  readonly #stored: number;
  readonly #counts: number;
  readonly #arrived: number;
  readonly #sorted: number;
  readonly #end: number;
  #walked: number;

  /**
   * @param start first address used, a multiple of 16.
   * @param capacity records announced.
   * @param bits of the counting step.
   */
  constructor(
    kernel: Kernel,
    start: number,
    place: PilePlace,
    stored: Uint8Array,
    capacity: number,
    bits: number,
    outBytes = 0,
    tiesByBytes = false,
  ) {
    const align = (address: number) => Math.ceil(address / 16) * 16;
    this.#kernel = kernel;
    this.#out = start;
    this.#stored = align(start + outBytes + SLACK_BYTES);
    this.#counts = align(this.#stored + stored.byteLength + SLACK_BYTES);
    this.#arrived = align(this.#counts + 4 * 2 ** bits);
    this.#sorted = align(this.#arrived + 8 * capacity);
    this.#end = this.#sorted + 8 * capacity;
    kernel.ensureArena(this.#end + SLACK_BYTES);
    kernel.bytes.fill(GARBAGE, start, this.#end + SLACK_BYTES);
    kernel.bytes.set(stored, this.#stored);
    this.#walked = this.#stored;
    const { pile, pileCount, parentScale } = place;
    kernel.wasm.prepareOrder(
      this.#counts,
      bits,
      this.#arrived,
      this.#sorted,
      capacity,
      pile,
      pileCount,
      parentScale,
      tiesByBytes,
    );
  }

  /** Walks up to byte `end` of the stored records. @returns bytes of the complete ones; undefined: refused. */
  walk(end: number): number | undefined {
    const walked = this.#kernel.wasm.walkStored(this.#walked, this.#stored + end) >>> 0;
    if (walked === 0) return undefined;
    this.#walked = walked;
    return walked - this.#stored;
  }

  /** Sorts; returns the records in their order, read from where they lie. */
  order(): { readonly key: bigint; readonly bytes: Uint8Array }[] {
    this.#kernel.wasm.orderWalked();
    return this.#ordered();
  }

  /** The same, with one of equal records. */
  orderDistinct(): { readonly key: bigint; readonly bytes: Uint8Array }[] {
    const count = this.#kernel.wasm.orderDistinct() >>> 0;
    const ordered = this.#ordered();
    if (ordered.length !== count) throw new RangeError(`${ordered.length} records are in order, and ${count} stay`);
    return ordered;
  }

  #ordered(): { readonly key: bigint; readonly bytes: Uint8Array }[] {
    const { wasm, view, bytes } = this.#kernel;
    return Array.from({ length: wasm.walkedCount.value >>> 0 }, (_, index) => {
      const address = wasm.recordAddress(index) >>> 0;
      const byteLength = wasm.recordByteLength(index) >>> 0;
      return { key: view.getBigUint64(address - 12, true), bytes: bytes.slice(address, address + byteLength) };
    });
  }

  /** Moves the stored records together that stay, and returns them as they lie then. */
  compact(): Uint8Array {
    const end = this.#kernel.wasm.compactStored(this.#stored, this.#walked) >>> 0;
    return this.#kernel.bytes.slice(this.#stored, end);
  }

  /** @returns the next index, the bytes gathered, and whether the copies kept within buffer and slack. */
  gather(index: number, endIndex: number, capacity: number, startLimit: bigint) {
    const { wasm, bytes } = this.#kernel;
    bytes.fill(GARBAGE, this.#out, this.#out + capacity + SLACK_BYTES);
    const next = index + wasm.gather(index, 1, endIndex - index, this.#out, capacity, startLimit, 0, 0);
    const gathered = bytes.slice(this.#out, this.#out + (wasm.gatheredByteLength.value >>> 0));
    const behind = bytes.subarray(this.#out + capacity + OVERRUN_BYTES, this.#out + capacity + SLACK_BYTES);
    return { next, gathered, inBounds: behind.every((byte) => byte === GARBAGE) };
  }

  /** @returns the next index, and the bytes of the records before it. */
  measureUnits(index: number, limit: number | bigint, by: 'rank' | 'byte' | 'key') {
    const { wasm } = this.#kernel;
    const next = wasm.measureUnits(index, BigInt(limit), ['rank', 'byte', 'key'].indexOf(by), false) >>> 0;
    return { next, byteLength: BigInt.asUintN(64, wasm.measuredByteLength.value) };
  }

  /** The checksum of the records gathered so far, and of the record at `hashed` at its place. */
  checksum(hashed?: number): bigint {
    if (hashed !== undefined) this.#kernel.wasm.hashInPlace(hashed, hashed + 1);
    return BigInt.asUintN(64, this.#kernel.wasm.orderChecksum.value);
  }
}
