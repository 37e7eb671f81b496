/**
 * Brings the request, the inputs and the machine together and has the pure planners decide.
 */

import { framingOf } from '../formats/framing.js';
import { readOpenFileLimit } from '../io/open-file-limit.js';
import { type MemoryNeed, type MemoryPlan, planMemory, type Tuning } from '../plan/memory-plan.js';
import { planSplitBytes, planSplits, type Split } from '../plan/splits.js';
import { estimateInputs } from './estimate.js';
import type { JobInput } from './job-inputs.js';
import type { JobRequest } from './job-request.js';
import { deriveDrawSeed } from './key-derivation.js';
import type { TempPlaces } from './temp-places.js';

export interface JobPlan {
  readonly memory: MemoryPlan;
  /** What `memory` was planned for. */
  readonly memoryNeed: MemoryNeed;
  readonly splits: readonly Split[];
  /** Whether one thread does it all, faster than others could be started. */
  readonly inline: boolean;
  /** Stored bytes of all inputs; undefined with streams. */
  readonly inputBytes: number | undefined;
  /** What is sure to be written to disk. */
  readonly least: DiskNeed;
  /** What is written to disk by all that samples tell; nothing for what is known too little of. */
  readonly expected: DiskNeed;
}

export interface DiskNeed {
  readonly tempBytes: number;
  readonly outputBytes: number;
}

/** A job of this much is done before two threads have started. */
const INLINE_BYTES = 8 * 2 ** 20;
const INLINE_INPUTS = 1000;

export function planJob(
  request: JobRequest,
  inputs: readonly JobInput[],
  tempPlaces: TempPlaces,
  tuning: Tuning,
): JobPlan {
  const estimate = estimateInputs(inputs, request.framing, deriveDrawSeed(request.seed));
  const hasStreams = inputs.some((input) => input.kind === 'stream');
  const inline =
    tuning.inline ?? (!hasStreams && inputs.length <= INLINE_INPUTS && estimate.recordBytes <= INLINE_BYTES);
  const cutsAnywhere = framingOf(request.framing).cut === 'anywhere';
  const isCuttable = (input: JobInput) => cutsAnywhere && input.kind === 'file' && input.codec === undefined;
  const memoryNeed: MemoryNeed = {
    budgetBytes: request.memoryBytes,
    workers: inline ? 1 : request.workers,
    mostSplits: inputs.some(isCuttable) ? Number.POSITIVE_INFINITY : inputs.length,
    recordBytes: Math.max(1, estimate.recordBytes),
    meanRecordBytes: estimate.meanRecordBytes,
    exact: estimate.exact,
    tempDiskCount: tempPlaces.count,
    tempDisksRotate: tempPlaces.rotate,
    openFileLimit: readOpenFileLimit(),
  };
  const memory = planMemory(memoryNeed, tuning);
  const splits = planSplits(
    inputs.map((input, ordinal) => ({
      cuttable: isCuttable(input),
      byteLength: input.kind === 'file' ? input.version.byteLength : undefined,
      decodedBytes: estimate.decodedBytes[ordinal] ?? 0,
    })),
    tuning.splitBytes ?? planSplitBytes(estimate.recordBytes, memory.workers, memory.pileCount),
  );
  // A compressed input is at least as large decoded, as good as always; of a stream nothing is known.
  const knownBytes = inputs.reduce((sum, input) => sum + (input.kind === 'file' ? input.version.byteLength : 0), 0);
  const storedRatio = memory.storedBytes / memoryNeed.recordBytes;
  const diskNeed = (recordBytes: number): DiskNeed => ({
    tempBytes: Math.max(0, recordBytes * storedRatio - memory.ramPoolBytes),
    outputBytes: recordBytes,
  });
  return {
    memory,
    memoryNeed,
    splits,
    inline,
    inputBytes: hasStreams ? undefined : knownBytes,
    least: diskNeed(knownBytes),
    expected: diskNeed(hasStreams ? knownBytes : estimate.recordBytes),
  };
}
