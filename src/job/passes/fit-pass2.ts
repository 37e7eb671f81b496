/**
 * Between the passes: the longest record is known, and every thread of pass 2 must be able to hold it.
 * When pass 2 needs larger arenas than planned, or some have grown in pass 1, the threads are ended,
 * which gives that memory back, and as many are started as can be afforded.
 */
import { randomUUID } from 'node:crypto';
import { InputError } from '../../errors.js';
import { takenBytes } from '../../pile-store/ram-pool.js';
import { planPass2 } from '../../plan/pass2-memory.js';
import { memoryForRecord } from '../../plan/record-memory.js';
import type { JobContext, ScatteredPiles } from './job-context.js';
import { openTaskPool } from './task-pool.js';

/**
 * @returns the job as pass 2 runs it: with the arenas of pass 2, and maybe with another pool.
 * @throws InputError ERR_RECORD_TOO_LONG when not even one thread can hold the longest record.
 */
export async function fitPass2(job: JobContext, scattered: ScatteredPiles): Promise<JobContext> {
  const { plan, share, control } = job;
  const { memory, memoryNeed } = plan;
  const { longestRecordBytes } = scattered;
  const poolBytes = share.ramPool === undefined ? 0 : takenBytes(share.ramPool);
  const fitted = planPass2(memory, memoryNeed.budgetBytes, poolBytes, longestRecordBytes);
  if (fitted === undefined) {
    throw new InputError(
      'ERR_RECORD_TOO_LONG',
      `the longest record has ${longestRecordBytes} bytes and does not fit the memory budget; expected \`memoryBytes\` of at least ${memoryForRecord(memoryNeed, longestRecordBytes)}`,
    );
  }
  const grownBytes = memory.pass1SpareBytes - poolBytes - control.spareBytes;
  control.setSpare(fitted.spareBytes);
  if (grownBytes <= 0 && fitted.arenaBytes === memory.pass2ArenaBytes) {
    return { ...job, share: { ...share, arenaBytes: fitted.arenaBytes } };
  }
  await job.pool.destroy();
  const jobName = randomUUID();
  const threadCount = plan.inline ? 0 : fitted.workers;
  const pool = await openTaskPool({ threadCount, startCount: threadCount }, jobName, job.onTaskProfile);
  return { ...job, pool, share: { ...share, jobName, arenaBytes: fitted.arenaBytes } };
}
