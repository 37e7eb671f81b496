/** What all tasks are told that put merged piles in order. */
import type { PilesTask } from '../../workers/piles/open-orderer.js';
import type { JobContext, ScatteredPiles } from './job-context.js';

/** @param name unlike that of any other task. */
export function pilesTask(job: JobContext, { pileSets, longestRecordBytes }: ScatteredPiles, name: string): PilesTask {
  return { job: job.share, pileSets, longestRecordBytes, attemptName: `${name}-${job.attempt}` };
}
