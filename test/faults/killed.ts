/**
 * The process is killed at every single file call of a job: nothing that it did is lost, and nothing is
 * cleaned up. What can be seen of the output is complete, and the job can be done to its end. So it can when
 * what goes on is killed again and again.
 */
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { type Fault, FaultyFileCalls } from './faulty-file-calls.js';
import { isTiny } from './small-job.js';
import { canGoOn, TINY_JOBS, type TinyJob, useTinyJobs } from './tiny-job.js';

const KILLS: readonly (readonly [string, Fault])[] = [
  ['before a call', { kind: 'kills', part: 'nothing' }],
  ['inside a write', { kind: 'kills', part: 'half' }],
];

/** @returns whether there were that many calls. */
async function killAt(job: TinyJob, fault: Fault, nth: number, resume: boolean): Promise<boolean> {
  const faulty = new FaultyFileCalls(fault, nth, job.watches);
  const former = replaceFileCalls(faulty.calls);
  try {
    await job.run(resume ? { resume } : {});
  } catch (error) {
    // Killed when all was done but the last of the cleaning: the next run finds the output.
    const isDone = resume && error instanceof UsageError && error.code === 'ERR_OUTPUT_EXISTS';
    if (faulty.struck === undefined && !isDone) throw error;
  } finally {
    await faulty.settle();
    replaceFileCalls(former);
    job.disownLocks();
  }
  return faulty.struck !== undefined;
}

/** @param step every so many-th call is tried. */
export function testKilled(step: number): void {
  // The sizes are tiny as it is.
  describe.skipIf(isTiny).each(TINY_JOBS)('$name', (kind) => {
    const jobs = useTinyJobs();

    it.each(KILLS)('can be done to its end when it is killed %s', async (_, fault) => {
      const job = jobs.of(kind);
      const expected = await job.expectedContent();
      const problems: string[] = [];
      let kills = 0;
      for (let nth = 1; ; nth += step) {
        job.prepare();
        const former = job.content();
        if (!(await killAt(job, fault, nth, false))) break;
        kills += 1;
        try {
          job.expectNothingHalf(former, expected);
          await job.finish(expected);
          expect(job.content()).toEqual(expected);
          if (canGoOn && job.kind.resumable) expect(job.leftovers()).toEqual([]);
        } catch (error) {
          problems.push(`kill at call ${nth}: ${error}`);
        }
      }
      expect(problems).toEqual([]);
      expect(kills).toBeGreaterThan(1);
      if (step === 1) console.info(`${kind.name}: killed at ${kills} calls`);
    });

    it.runIf(canGoOn && kind.resumable)('comes to its end when it is killed again and again', async () => {
      const job = jobs.of(kind);
      const expected = await job.expectedContent();
      for (const stride of [40, 60, 90]) {
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
}
