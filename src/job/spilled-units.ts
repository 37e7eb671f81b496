/** Units of rows take memory and temp disks while they are made. */
import type { UnitSize } from '../formats/rows/row-format.js';
import type { MemoryNeed, MemoryPlan } from '../plan/memory-plan.js';
import { spareOfPass2 } from '../plan/pass2-memory.js';
import { maxPendingBytes } from '../plan/unit-ranges.js';

interface SpillingJob {
  /** The size of a unit. Undefined: there are none. */
  readonly unit: UnitSize | undefined;
  readonly memory: MemoryPlan;
  readonly memoryNeed: MemoryNeed;
  /** The bytes of all rows of the output. */
  readonly recordBytes: number;
  /** Stored bytes for each byte of rows. */
  readonly ratio: number;
  /** Rows of a file, at the most. */
  readonly shardBytes: number;
}

interface SpilledUnits {
  /** The most bytes at one time. */
  readonly mostBytes: number;
  /** The part of all units that is written to temp disks, about. */
  readonly share: number;
}

/** Units wait in spare memory until they may be appended to their file, and on the temp disks if there is none left. */
export function expectSpilledUnits(job: SpillingJob): SpilledUnits {
  const { unit, memory, memoryNeed, recordBytes, ratio, shardBytes } = job;
  if (unit === undefined || 'exactly' in unit) return { mostBytes: 0, share: 0 };
  const { bytes, records = Number.POSITIVE_INFINITY } = unit;
  const { pileCount, workers: threadCount } = memory;
  const unitBytes = Math.min(bytes, records * memoryNeed.meanRecordBytes, shardBytes);
  const waitingBytes = ratio * maxPendingBytes({ bytes: recordBytes, pileCount, threadCount, unitBytes, shardBytes });
  const spareBytes = spareOfPass2(memory, memoryNeed);
  // On average half of them are there.
  const share = Math.max(0, 1 - spareBytes / Math.max(1, waitingBytes / 2));
  return { mostBytes: Math.max(0, waitingBytes - spareBytes), share };
}
