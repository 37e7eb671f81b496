/**
 * What the decoders of a thread take of the job's memory budget, for large windows: counted for each job anew, since a
 * thread that does several of them keeps its decoders.
 */
import type { DecoderMemory } from '../../src/formats/codec.js';
import type { JobControl } from '../../src/job-control.js';
import type { MemoryNeed } from '../../src/plan/memory-plan.js';
import { memoryForDecoder } from '../../src/plan/record-memory.js';

export function decoderMemory(control: JobControl, memoryNeed: MemoryNeed): DecoderMemory {
  let reservedBytes = 0;
  return {
    reserve: (byteLength) => {
      if (byteLength <= reservedBytes) return true;
      if (!control.takeSpare(byteLength - reservedBytes)) return false;
      reservedBytes = byteLength;
      return true;
    },
    budgetFor: (byteLength) => memoryForDecoder(memoryNeed, byteLength),
  };
}
