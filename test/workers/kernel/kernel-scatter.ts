/**
 * The kernel's scatter as a function: takes records, and returns the flushed and the remaining bytes of each pile,
 * with the tallies. Each call lays out the arena anew, at any address; all bytes that the kernel may read and must not
 * use are garbage.
 */
import type { Kernel } from '#workers/kernel/kernel.js';

export interface KernelPile {
  /** Buffers in the order in which they left, all of them full. */
  readonly segments: readonly Uint8Array[];
  /** What was still in the buffer at the end. */
  readonly rest: Uint8Array;
  readonly records: number;
  readonly checksum: bigint;
  readonly keySum: bigint;
}

export interface KernelPiles {
  readonly piles: readonly KernelPile[];
  readonly longestRecord: number;
}

export interface PileSizes {
  readonly pileCount: number;
  readonly bufferBytes: number;
  readonly scale: bigint;
}

const SLACK_BYTES = 64;
const GARBAGE = 0xc3;

class ScatterStage {
  readonly table: number;
  readonly data: number;
  readonly #kernel: Kernel;
  readonly #sizes: PileSizes;
  readonly #tallies: number;
  readonly #buffers: number;
  readonly #segments: Uint8Array[][];

  /** @param start first address used, a multiple of 16. */
  constructor(kernel: Kernel, start: number, sizes: PileSizes, recordCount: number, dataBytes: number) {
    const { pileCount, bufferBytes, scale } = sizes;
    this.#kernel = kernel;
    this.#sizes = sizes;
    this.#tallies = start;
    this.table = start + 32 * pileCount;
    this.#buffers = this.table + 8 * (recordCount + 4);
    this.data = this.#buffers + pileCount * (bufferBytes + SLACK_BYTES);
    const end = this.data + dataBytes + SLACK_BYTES;
    kernel.ensureArena(end);
    kernel.bytes.fill(GARBAGE, start, end);
    this.#segments = Array.from({ length: pileCount }, () => []);
    kernel.wasm.prepareScatter(pileCount, this.#tallies, bufferBytes, scale);
    for (let pile = 0; pile < pileCount; pile++) kernel.wasm.useBuffer(pile, this.#bufferAt(pile));
    kernel.flush = (pile, byteLength) => {
      this.#segments[pile]?.push(this.#buffer(pile, byteLength));
      return this.#bufferAt(pile);
    };
  }

  finish(): KernelPiles {
    const { view, wasm } = this.#kernel;
    const piles = this.#segments.map((segments, pile): KernelPile => {
      const tally = this.#tallies + 32 * pile;
      const end = this.#bufferAt(pile) + this.#sizes.bufferBytes;
      if (view.getUint32(tally + 4, true) !== end) throw new Error(`the buffer of pile ${pile} ends elsewhere`);
      return {
        segments,
        rest: this.#buffer(pile, view.getUint32(tally, true) - this.#bufferAt(pile)),
        records: Number(view.getBigUint64(tally + 8, true)),
        checksum: view.getBigUint64(tally + 16, true),
        keySum: view.getBigUint64(tally + 24, true),
      };
    });
    return { piles, longestRecord: wasm.longestRecord.value >>> 0 };
  }

  #bufferAt(pile: number): number {
    return this.#buffers + pile * (this.#sizes.bufferBytes + SLACK_BYTES);
  }

  #buffer(pile: number, byteLength: number): Uint8Array {
    const address = this.#bufferAt(pile);
    return this.#kernel.bytes.slice(address, address + byteLength);
  }
}

/**
 * Scatters records that lie one behind the other, the first at `basePosition`.
 * @param perCall records that one call of the kernel gets.
 */
export function scatterWithKernel(
  kernel: Kernel,
  start: number,
  sizes: PileSizes,
  input: { readonly records: readonly Uint8Array[]; readonly basePosition: bigint; readonly inputKey: bigint },
  perCall: number,
  { weight = { copies: 1, chance: 0n }, recentTable = 0 }: ScatterRules = {},
): KernelPiles {
  const bytes = Buffer.concat(input.records);
  const stage = new ScatterStage(kernel, start, sizes, input.records.length, bytes.byteLength);
  kernel.wasm.dropRecent(recentTable);
  kernel.bytes.set(bytes, stage.data);
  kernel.wasm.setCopies(weight.copies, weight.chance);
  let end = stage.data;
  for (let first = 0; first < input.records.length; first += perCall) {
    const records = input.records.slice(first, first + perCall);
    for (const [i, record] of records.entries()) {
      kernel.view.setUint32(stage.table + 8 * i, end, true);
      end += record.byteLength;
      kernel.view.setUint32(stage.table + 8 * i + 4, end, true);
    }
    kernel.wasm.scatterRecords(stage.table, records.length, stage.data, input.basePosition, input.inputKey);
  }
  return stage.finish();
}

/** What else decides which records come to the piles. */
export interface ScatterRules {
  readonly weight?: { readonly copies: number; readonly chance: bigint };
  /** The address of the table of recent records; 0: equal records are kept. */
  readonly recentTable?: number;
}

/** Scatters the stored records once more; `leftBytes` is what the kernel took for an incomplete one. */
export function rescatterWithKernel(
  kernel: Kernel,
  start: number,
  sizes: PileSizes,
  stored: Uint8Array,
): KernelPiles & { readonly leftBytes: number } {
  const stage = new ScatterStage(kernel, start, sizes, 0, stored.byteLength);
  kernel.bytes.set(stored, stage.data);
  const end = stage.data + stored.byteLength;
  const leftBytes = end - (kernel.wasm.rescatterStored(stage.data, end) >>> 0);
  return { ...stage.finish(), leftBytes };
}
