/**
 * What a decoder takes of the job's memory budget, for large windows.
 */
import type { DecoderMemory } from '../src/formats/codec.js';
import type { JobControl } from '../src/io/job-control.js';
import { memoryForDecoder } from '../src/plan/record-memory.js';
import type { JobShare } from './job-share.js';

export function decoderMemory(control: JobControl, job: JobShare): DecoderMemory {
  return {
    take: (byteLength) => control.takeSpare(byteLength),
    budgetFor: (byteLength) => memoryForDecoder(job.memoryNeed, byteLength),
  };
}
