/**
 * What the two passes of a running job share.
 */

import type { JobShare } from '../../workers/job-share.js';
import type { GateNumber, JobControl } from '../io/job-control.js';
import type { PileSet } from '../pile-store/pile-set-writer.js';
import type { PileTotals } from '../plan/pile-runs.js';
import type { JobInput } from './job-inputs.js';
import type { JobPlan } from './job-plan.js';
import type { JobStop } from './job-stop.js';
import type { TaskPool } from './task-pool.js';

export interface JobContext {
  readonly seed: string;
  readonly inputs: readonly JobInput[];
  /** Gate of each input; streams are ungated. */
  readonly inputGates: readonly GateNumber[];
  readonly plan: JobPlan;
  readonly share: JobShare;
  readonly control: JobControl;
  readonly stop: JobStop;
  readonly pool: TaskPool;
}

/** What pass 1 leaves: all pile sets in split order, and what is known of each merged pile. */
export interface ScatteredPiles {
  readonly pileSets: readonly PileSet[];
  readonly totals: PileTotals;
  readonly records: number;
  readonly bytes: number;
  readonly checksum: bigint;
  readonly longestRecordBytes: number;
  readonly tempBytes: number;
}
