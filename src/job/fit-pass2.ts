/**
 * Between the passes: the longest record is known, and every thread of pass 2 must be able to hold it.
 * When the arenas were planned for less, the threads are ended, which gives back what theirs had
 * grown to, and fewer are started, with larger arenas.
 */
import { randomUUID } from 'node:crypto';
import { takenBytes } from '../pile-store/ram-pool.js';
import { planPass2 } from '../plan/memory-plan.js';
import type { JobContext, ScatteredPiles } from './job-context.js';
import { openTaskPool } from './task-pool.js';

/** @returns the job as pass 2 runs it: the same, or one with another pool. */
export async function fitPass2(job: JobContext, scattered: ScatteredPiles): Promise<JobContext> {
  const { plan, share } = job;
  const poolBytes = share.ramPool === undefined ? 0 : takenBytes(share.ramPool);
  const fitted = planPass2(plan.memory, share.budgetBytes, poolBytes, scattered.longestRecordBytes);
  if (fitted.arenaBytes === plan.memory.arenaBytes) return job;
  await job.pool.destroy();
  job.control.setSpare(fitted.spareBytes);
  const jobName = randomUUID();
  const threadCount = plan.inline ? 0 : fitted.workers;
  const pool = await openTaskPool({ threadCount, startCount: threadCount }, jobName);
  return { ...job, pool, share: { ...share, jobName, arenaBytes: fitted.arenaBytes } };
}
