/**
 * What the two passes of a running job share.
 */

import type { JobShare } from '../../workers/job-share.js';
import type { PileSet } from '../pile-store/pile-set-writer.js';
import type { PileTotals } from '../plan/pile-runs.js';
import type { JobStop } from './job-stop.js';
import type { PreparedJob } from './prepare-job.js';
import type { TaskPool } from './task-pool.js';

export interface JobContext extends Pick<PreparedJob, 'inputs' | 'inputGates' | 'plan' | 'control'> {
  readonly seed: string;
  readonly share: JobShare;
  readonly stop: JobStop;
  readonly pool: TaskPool;
}

/** What pass 2 and the removal of stripes need; it goes along with every task. */
export type ScatteredPileSet = Omit<PileSet, 'dataFiles'>;

/** What pass 1 leaves: all pile sets in split order, and what is known of each merged pile. */
export interface ScatteredPiles {
  readonly pileSets: readonly ScatteredPileSet[];
  readonly totals: PileTotals;
  readonly records: number;
  readonly bytes: number;
  readonly checksum: bigint;
  readonly longestRecordBytes: number;
  readonly tempBytes: number;
}
