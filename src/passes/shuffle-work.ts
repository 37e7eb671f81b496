/** What a shuffle pass is to do, and what it tells each task that puts piles in order. */
import type { ShuffleShare } from '../../workers/shares.js';
import type { PilesTask } from '../../workers/tasks/open-orderer.js';
import type { OutputTarget } from '../output/output-target.js';
import type { ScatteredPiles } from './scattered-piles.js';

export interface ShuffleWork {
  readonly piles: ScatteredPiles;
  readonly target: OutputTarget;
  readonly share: ShuffleShare;
  /** Part of the names of temp files; no other attempt at the job has the same. */
  readonly attempt: string;
  /** Whether the data of a stripe is deleted as soon as its piles are written out. */
  readonly deletesStripes: boolean;
}

/** @param name begins the names of the task's temp files; no other task has the same. */
export function pilesTask({ share, piles, attempt }: ShuffleWork, name: string): PilesTask {
  const { pileSets, longestRecordBytes } = piles;
  return { job: share, pileSets, longestRecordBytes, attemptName: `${name}-${attempt}` };
}
