/** Opens piles on the machine of a task: starts the threads that put them in order, and makes what these need. */
import { makeScratchDirectory, removeLeftOverTempDirectories } from '../job-directory/held-directory.js';
import type { JobScope } from '../jobs/job.js';
import { type OpenedPiles, openPiles } from '../jobs/task-settings.js';
import { requireTempDirs, TempDisks } from '../jobs/temp-disks.js';
import type { ScatteredPiles } from '../passes/shuffle-work.js';
import { type ClusterJob, startTaskThreads } from './open-job.js';

/** @param scratchDir where piles that are too large are scattered again: on this machine alone. */
export async function openPilesOfTask(
  job: ClusterJob,
  piles: ScatteredPiles,
  attempt: string,
  scratchDir: string,
  scope: JobScope,
): Promise<OpenedPiles> {
  const { plan, piling, gates, onWarning, times } = job;
  const { request, inputIds } = plan;
  const { framing, unique, uniqueBy } = request;
  const first = await startTaskThreads(job, scope);
  const rule = {
    ...{ framing, unique, uniqueBy, tiesByBytes: unique || inputIds !== undefined },
    ...{ rescatterTo: openScratch(scratchDir, gates, scope), hashesOutput: true },
    isProfiled: plan.profile !== undefined,
  };
  const toOpen = { piles, attempt, onWarning };
  const opened = await openPiles(toOpen, rule, plan, piling, first, times.add, scope.releases);
  times.useThreads(opened.threads.pool.threadCount);
  return opened;
}

function openScratch(scratchDir: string, gates: ClusterJob['gates'], { releases }: JobScope) {
  requireTempDirs([scratchDir], 'tempDirs');
  const disks = new TempDisks([scratchDir], gates);
  removeLeftOverTempDirectories(scratchDir);
  const directory = makeScratchDirectory(scratchDir, releases);
  return { disks: disks.in([directory]), indexDirectory: directory };
}
