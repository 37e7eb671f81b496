/** Scatters stored records that come from another memory. */
import { RecordOverMemoryError } from '../../src/errors.js';
import { inPhase } from '../../src/phase-clock.js';
import type { ScatterArena } from './scatter-arena.js';

/** Scatters the complete ones of the stored records whose next bytes these are. */
export function scatterStored({ kernel, window }: ScatterArena, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.byteLength; ) {
    const room = window.makeRoom();
    if (typeof room !== 'number')
      throw new RecordOverMemoryError('a stored record does not fit the memory that is left');
    const count = Math.min(room, bytes.byteLength - done);
    kernel.bytes.set(bytes.subarray(done, done + count), window.filledEnd);
    window.filledEnd += count;
    done += count;
    const { recordStart, filledEnd } = window;
    window.recordStart = inPhase('scatter', () => kernel.wasm.rescatterStored(recordStart, filledEnd)) >>> 0;
  }
}
