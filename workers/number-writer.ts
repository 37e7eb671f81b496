/** Writes the numbers of a range. Sorted offsets, or tables, are made once for a thread. */
import type { SinkBuffer } from '../src/output/output-target.js';
import { SLACK_BYTES } from '../src/plan/arena-sizes.js';
import { bytesOfTables, type NumberWay, sizesOfSort } from '../src/plan/number-range.js';
import { type Arena, ArenaLayout } from './arena.js';
import type { NumberSettings } from './settings.js';

export class NumberWriter {
  readonly sinkBuffer: SinkBuffer;
  readonly #arena: Arena;

  constructor(arena: Arena, { low, lastOffset, key, terminator, way, outputBytes }: NumberSettings) {
    const layout = new ArenaLayout();
    const address = layout.take(outputBytes + SLACK_BYTES);
    const makeOrder = layOut(way, lastOffset, layout);
    if (!arena.reserve(layout.end)) throw new RangeError(`an arena has no room for ${layout.end} bytes`);
    const { wasm } = arena.kernel;
    wasm.prepareNumbers(BigInt.asIntN(64, low), BigInt.asIntN(64, lastOffset), BigInt.asIntN(64, key), terminator);
    makeOrder(arena);
    this.#arena = arena;
    this.sinkBuffer = { addresses: [address], capacityBytes: outputBytes, memory: () => arena.kernel.bytes };
  }

  /** Returns the bytes that it wrote. */
  write(first: bigint, count: number, address: number): number {
    return (this.#arena.kernel.wasm.writeNumbers(BigInt.asIntN(64, first), count, address) >>> 0) - address;
  }

  /** The sum of the numbers of the last `write`, modulo 2^64. */
  get sum(): bigint {
    return BigInt.asUintN(64, this.#arena.kernel.wasm.numbersSum.value);
  }

  get checksum(): bigint {
    return BigInt.asUintN(64, this.#arena.kernel.wasm.numbersChecksum.value);
  }
}

/** Takes the memory that the order needs. Returns a function that makes the order there. */
function layOut(way: NumberWay, lastOffset: bigint, layout: ArenaLayout): (arena: Arena) => void {
  switch (way.by) {
    case 'sorted': {
      const { bits, sortedBytes, keyBytes, countBytes } = sizesOfSort(lastOffset + 1n);
      const sorted = layout.take(sortedBytes);
      const keys = layout.take(keyBytes);
      const counts = layout.take(countBytes);
      return ({ kernel }) => kernel.wasm.sortOffsets(sorted, keys, counts, bits);
    }
    case 'permuted': {
      const { rows, columns, isTabled } = way;
      const tables = isTabled ? layout.take(bytesOfTables(rows)) : 0;
      return ({ kernel }) => kernel.wasm.permuteOffsets(rows, columns, tables);
    }
    case 'drawn':
      return ({ kernel }) => kernel.wasm.drawOffsets();
  }
}
