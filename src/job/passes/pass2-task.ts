/** What all tasks of pass 2 are told. */
import type { ShuffleTask } from '../../../workers/shuffle.js';
import type { JobContext, ScatteredPiles } from './job-context.js';

/** @param name unlike that of any other task. */
export function pass2Task(
  job: JobContext,
  { pileSets, longestRecordBytes }: ScatteredPiles,
  name: string,
): Pick<ShuffleTask, 'job' | 'pileSets' | 'longestRecordBytes' | 'attemptName'> {
  return { job: job.share, pileSets, longestRecordBytes, attemptName: `${name}-${job.attempt}` };
}
