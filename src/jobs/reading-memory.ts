/** What messages advise on memory in a job that only reads. */
import { readOpenFileLimit } from '../machine/limits.js';
import type { MemoryNeed } from '../plan/memory-plan.js';
import type { MachineRequest } from './request.js';

const USUAL_RECORD_BYTES = 200;

/** @param byteLength of the inputs, about. */
export function memoryNeedOfReading({ memoryBytes, workers }: MachineRequest, byteLength: number): MemoryNeed {
  return {
    budgetBytes: memoryBytes,
    workers,
    mostSlices: Number.POSITIVE_INFINITY,
    recordBytes: Math.max(1, byteLength),
    meanRecordBytes: USUAL_RECORD_BYTES,
    exact: false,
    hasStreams: false,
    tempDiskCount: 1,
    tempDisksRotate: false,
    openFileLimit: readOpenFileLimit(),
    isResumable: false,
    outputWaits: false,
    layout: undefined,
    reads: 'only',
  };
}
