/**
 * What the two passes of a running job share.
 */

import type { JobShare, ScatterShare } from '../../workers/tasks/job-share.js';
import type { Header } from '../formats/header.js';
import type { FinishedRanges } from '../job-directory/finished-ranges.js';
import type { PreparedJob } from '../jobs/prepare-job.js';
import type { StagedOutput } from '../output/staged-output.js';
import type { PileSet } from '../pile-sets/pile-set-writer.js';
import type { PileTotals } from '../plan/pile-ranges.js';
import type { JobStop } from './job-stop.js';
import type { OnProfile, TaskPool } from './task-pool.js';

/** @typeParam Share what tasks are told; of a job that does pass 1 alone, what those of it are. */
export interface JobContext<Share extends ScatterShare = JobShare>
  extends Pick<PreparedJob, 'inputs' | 'inputIds' | 'inputGates' | 'firstHeader' | 'plan' | 'control'> {
  readonly seed: string;
  readonly share: Share;
  readonly stop: JobStop;
  readonly pool: TaskPool;
  readonly onWarning: (line: string) => void;
  readonly onTaskProfile: OnProfile;
  /** Unlike that of any other run of this job: part of the names of its temp files. */
  readonly attempt: string;
  /** Whether the piles are not the job's own, and stay. */
  readonly keepsPiles: boolean;
  /** Undefined: nothing of this job outlives it. */
  readonly kept: KeptWork | undefined;
}

/** What outlives a job that can be gone on with. */
export interface KeptWork {
  /** The output that the ranges are part of. */
  readonly output: Pick<StagedOutput, 'makeDurable'>;
  /** The ranges that were finished before this job began. */
  readonly finished: FinishedRanges;
  /** Whether all of a stripe was finished before this job began, so that its data may be gone. */
  readonly isRemoved: (stripe: number) => boolean;
  /** Whether the data of stripes stays when it is not needed any more. */
  readonly keepsStripes: boolean;
}

/** What pass 2 and the removal of stripes need; it goes along with every task. */
export type ScatteredPileSet = Omit<PileSet, 'dataFiles'>;

/** What pass 1 leaves: all pile sets in slice order, and what is known of each merged pile. */
export interface ScatteredPiles {
  readonly pileSets: readonly ScatteredPileSet[];
  readonly totals: PileTotals;
  readonly records: number;
  readonly bytes: number;
  readonly checksum: bigint;
  readonly longestRecordBytes: number;
  /** That of all inputs; undefined when none were to have one. */
  readonly header: Header | undefined;
  readonly tempBytes: number;
  /** How many pile sets an earlier run of the job had made. */
  readonly takenOverCount: number;
}
