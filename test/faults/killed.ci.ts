/**
 * The process is killed at every single file call of a job, without losing writes and without cleanup. A visible output
 * is complete, and the job can be resumed or started anew, even if the later attempts are killed again and again.
 */

import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { atScale, fromCi, isSlow, sampled } from '../fixtures/scale.js';
import { type Fault, FaultyFileCalls } from './faulty-file-calls.js';
import { type Content, type Ending, type TinyJob, useTinyJobs } from './tiny-job.js';
import { DISCARDING_JOB, TINY_JOBS, type TinyJobKind } from './tiny-job-kinds.js';

const KILLS: readonly (readonly [string, Fault])[] = [
  ['before a call', { kind: 'kills', part: 'nothing' }],
  ['inside a write', { kind: 'kills', part: 'half' }],
];

const KINDS: readonly TinyJobKind[] = [...TINY_JOBS, DISCARDING_JOB];

/** @returns whether there were that many calls. */
async function killAt(job: TinyJob, fault: Fault, nth: number, resume: boolean): Promise<boolean> {
  const faulty = new FaultyFileCalls(fault, nth, job.watches);
  const former = replaceFileCalls(faulty.calls);
  try {
    await job.run(resume ? { resume } : {});
  } catch (error) {
    // Killed during the last of the cleanup: the next attempt finds the output.
    const isDone = resume && error instanceof UsageError && error.code === 'ERR_OUTPUT_EXISTS';
    if (faulty.struck === undefined && !isDone) throw error;
  } finally {
    await faulty.settle();
    replaceFileCalls(former);
    job.disownLocks();
  }
  return faulty.struck !== undefined;
}

async function expectItCanEnd(job: TinyJob, expected: Content, ending: Ending): Promise<void> {
  job.expectNothingHalf(expected);
  if (job.kind.resumable && ending === '--resume') await job.finishQuietly(expected);
  else await job.finish(expected, ending);
  expect(job.content()).toEqual(expected);
  expect(job.leftovers()).toEqual([]);
}

/** Every so many-th call is tried. */
const step = atScale(130, 25, 1);

/** Whether only outputs are written. */
const staysInMemory = ({ tuning }: TinyJobKind) => tuning.keepInRam === true;

describe.each(sampled(KINDS, 5, 1))('$name', (kind) => {
  const jobs = useTinyJobs();
  const endings: readonly Ending[] = kind.force ? ['--resume', '--force'] : ['--resume'];

  it.each(KILLS)('can be finished when it is killed %s', async (_, fault) => {
    const job = jobs.of(kind);
    const expected = await job.expectedContent();
    const problems: string[] = [];
    let kills = 0;
    for (let nth = 1; ; nth += step) {
      const ending = endings[kills % endings.length] ?? '--resume';
      // All in the slow tier, one after the other in the others.
      for (const one of isSlow ? endings : [ending]) {
        job.prepare();
        if (!(await killAt(job, fault, nth, false))) {
          expect(problems).toEqual([]);
          // Some outputs are written in one piece.
          expect(kills).toBeGreaterThan('part' in fault && staysInMemory(kind) ? 0 : atScale(0, 1));
          if (isSlow) console.info(`${kind.name}: killed at ${kills} calls`);
          return;
        }
        await expectItCanEnd(job, expected, one).catch((error: unknown) =>
          problems.push(`kill at call ${nth}, then ${one}: ${error}`),
        );
      }
      kills += 1;
    }
  });

  it.runIf(kind.resumable && fromCi)('is finished after many kills', async () => {
    const job = jobs.of(kind);
    const expected = await job.expectedContent();
    for (const stride of isSlow ? [40, 60, 90] : [160]) {
      job.prepare();
      // Each run gets a bit further than the one before: it has less to do.
      let kills = 0;
      while (await killAt(job, { kind: 'kills', part: 'nothing' }, stride + kills, true)) kills += 1;
      expect(job.content()).toEqual(expected);
      expect(job.leftovers()).toEqual([]);
      expect(kills).toBeGreaterThan(0);
    }
  });
});
