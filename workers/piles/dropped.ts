/** What a kernel has dropped so far, because it keeps one of equal records. */
import type { PileTally } from '../../src/pile-sets/pile-totals.js';
import type { Kernel } from '../kernel/kernel.js';

/** The counts only rise: the difference of two tells what happened between. */
export function droppedBy({ wasm }: Pick<Kernel, 'wasm'>): PileTally {
  return {
    records: Number(wasm.droppedRecords()),
    recordBytes: Number(wasm.droppedBytes()),
    checksum: BigInt.asUintN(64, wasm.droppedChecksum()),
  };
}
