/** The work of a shuffle pass, and the part that each of its tasks gets. */
import type { ShuffleSettings } from '../../workers/settings.js';
import type { PilesTask } from '../../workers/tasks/open-orderer.js';
import type { OutputTarget } from '../output/output-target.js';
import type { ScatteredPiles } from './scattered-piles.js';

export interface ShuffleWork {
  readonly piles: ScatteredPiles;
  readonly target: OutputTarget;
  readonly settings: ShuffleSettings;
  /** Part of the names of temp files, unique to this attempt at the job. */
  readonly attempt: string;
  /** Whether the data of a stripe is deleted as soon as the output has its piles. */
  readonly deletesStripes: boolean;
  readonly onWarning: (line: string) => void;
}

/** @param name prefix of the names of the task's temp files, unique to this task. */
export function pilesTask({ settings, piles, attempt }: ShuffleWork, name: string): PilesTask {
  const { pileSets, longestRecordBytes } = piles;
  return { job: settings, pileSets, longestRecordBytes, attemptName: `${name}-${attempt}` };
}
