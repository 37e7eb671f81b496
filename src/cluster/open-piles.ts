/** Opens piles on the machine of a task: starts the threads that put them in order, and makes what these need. */
import { makeScratchDirectory, removeLeftOverTempDirectories } from '../job-directory/held-directory.js';
import type { JobScope } from '../jobs/job.js';
import { shuffleSettings } from '../jobs/task-settings.js';
import { requireTempDirs, TempDisks } from '../jobs/temp-disks.js';
import { threadsOfPass2 } from '../passes/between-passes.js';
import type { ScatteredPiles } from '../passes/scattered-piles.js';
import type { PilesWork } from '../passes/shuffle-work.js';
import type { Threads } from '../passes/threads.js';
import { type ClusterJob, startTaskThreads } from './open-job.js';

export interface OpenedPiles {
  readonly work: PilesWork;
  readonly threads: Threads;
}

/** @param scratchDir where piles that are too large are scattered again: on this machine alone. */
export async function openPiles(
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
  const { threads, arenaBytes } = await threadsOfPass2(first, plan, undefined, piles, times.add, scope.releases);
  times.useThreads(threads.pool.threadCount);
  const settings = shuffleSettings(threads, plan, arenaBytes, piling, {
    keyScale: piles.keyScale,
    framing,
    tiesByBytes: unique || inputIds !== undefined,
    unique,
    uniqueBy,
    hashesOutput: true,
    rescatterTo: openScratch(scratchDir, gates, scope),
    isProfiled: plan.profile !== undefined,
  });
  return { work: { piles, settings, attempt, onWarning }, threads };
}

function openScratch(scratchDir: string, gates: ClusterJob['gates'], { releases }: JobScope) {
  requireTempDirs([scratchDir], 'tempDirs');
  const disks = new TempDisks([scratchDir], gates);
  removeLeftOverTempDirectories(scratchDir);
  const directory = makeScratchDirectory(scratchDir, releases);
  return { disks: disks.in([directory]), indexDirectory: directory };
}
