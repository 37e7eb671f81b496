/**
 * Scatters held records from where they lie: when the memory for records is full, a job takes piles instead. The scatter
 * has a memory of its own, so the records pass through a small buffer as stored records, and long ones directly.
 */
import { STORED_HEADER_BYTES } from '../../src/plan/arena-sizes.js';
import { STAGING_BYTES } from '../../src/plan/hold-plan.js';
import type { ScatterArena } from '../piles/scatter-arena.js';
import { scatterStored } from '../piles/scatter-stored.js';
import type { RecordMemory } from '../record-memory.js';
import type { HoldSettings } from '../settings.js';

/**
 * Scatters all records of a directory.
 * @throws RecordOverMemoryError if the memory beside the held records has no room for one of them.
 */
export function scatterHeld(
  memory: RecordMemory,
  { pileCount, blockBytes }: Pick<HoldSettings, 'pileCount' | 'blockBytes'>,
  directory: number,
  scatterArena: ScatterArena,
): void {
  const { wasm, view, bytes } = memory.kernel;
  const { staging } = memory;
  for (let pile = 0; pile < pileCount; pile++) {
    wasm.beginWalk(directory, pile, blockBytes);
    for (let entry = wasm.nextWalked() >>> 0; entry !== 0; entry = wasm.nextWalked() >>> 0) {
      const stored = wasm.storeWalked(staging, STAGING_BYTES - STORED_HEADER_BYTES) >>> 0;
      if (stored > 0) {
        scatterStored(scatterArena, bytes.subarray(staging, staging + stored));
        continue;
      }
      const address = view.getUint32(entry + 8, true);
      const byteLength = view.getUint32(entry + 12, true);
      bytes.copyWithin(staging, entry, entry + 8);
      view.setUint32(staging + 8, byteLength, true);
      scatterStored(scatterArena, bytes.subarray(staging, staging + STORED_HEADER_BYTES));
      scatterStored(scatterArena, bytes.subarray(address, address + byteLength));
      wasm.passWalked();
    }
  }
  scatterArena.window.clear();
}
