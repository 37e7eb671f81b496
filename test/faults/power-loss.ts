/**
 * The power fails after every single change that a job makes on its disks. Whatever the disks may hold
 * then: what can be seen of the output is complete, and the job can be done to its end, with the same
 * bytes as ever. A job that ended well has its output on the disk.
 */
import seedrandom from 'seedrandom';
import { describe, expect, it } from 'vitest';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { ALL_LOST, DATA_KEPT, DiskModel, NAMES_KEPT, randomSurvival, type Survival } from './disk-model.js';
import { isTiny } from './small-job.js';
import { type Content, canGoOn, RESUMABLE_JOBS, TINY_JOBS, type TinyJob, useTinyJobs } from './tiny-job.js';

const KINDS = canGoOn ? RESUMABLE_JOBS : TINY_JOBS;

const totals = { states: 0, resumed: 0 };

/** @param mixtures random ones that are tried after each change. */
export function testPowerLoss(mixtures: number): void {
  // The sizes are tiny as it is.
  if (isTiny) {
    it.skip('is tested with sizes of its own');
    return;
  }
  const jobs = useTinyJobs();

  it.each(KINDS)('$name', async (kind) => {
    const job = jobs.of(kind);
    const expected = await job.expectedContent();
    job.prepare();
    const former = job.content();
    const model = await runOnModel(job);
    expect(model.changeCount).toBeGreaterThan(10);

    const draw = seedrandom(kind.name);
    const tried = new Set<string>();
    const problems: string[] = [];
    for (let count = 0; count <= model.changeCount; count++) {
      const survivals: readonly (readonly [string, Survival])[] = [
        ['all is lost that was not synced', ALL_LOST],
        ['names without data', NAMES_KEPT],
        ['data without names', DATA_KEPT],
        ...Array.from({ length: mixtures }, (_, i) => [`mixture ${i}`, randomSurvival(draw)] as const),
      ];
      for (const [name, survival] of survivals) {
        const state = model.stateAfter(count, survival);
        const { digest } = state;
        const isEnd = count === model.changeCount;
        if (tried.has(digest) && !isEnd) continue;
        tried.add(digest);
        state.writeTo(job.root);
        job.disownLocks();
        await expectSound(job, former, expected, isEnd).catch((problem: Error) =>
          problems.push(`${count} changes, the last is ${model.describe(count - 1)}; ${name}: ${problem.message}`),
        );
      }
    }
    expect(problems).toEqual([]);
    totals.states += tried.size;
  });

  describe('all in all', () => {
    it('many states were tried, and in some of them there was something to go on with', (context) => {
      if (totals.states < 500) context.skip('not all of the tests were run');
      if (mixtures > 2) console.info(`the power failed in ${totals.states} ways; ${totals.resumed} jobs went on`);
      if (canGoOn) expect(totals.resumed).toBeGreaterThan(totals.states / 10);
    });
  });
}

async function runOnModel(job: TinyJob): Promise<DiskModel> {
  const model = new DiskModel(job.root);
  const former = replaceFileCalls(model.calls);
  try {
    await job.run();
  } finally {
    replaceFileCalls(former);
  }
  return model;
}

async function expectSound(job: TinyJob, former: Content, expected: Content, isEnd: boolean): Promise<void> {
  if (isEnd) expect(job.content(), 'the job ended well').toEqual(expected);
  job.expectNothingHalf(former, expected);

  // A job that has ended well is not done again.
  if (isEnd && !canGoOn) return;
  const report = await job.finish(expected);
  if (report?.resumed !== undefined) totals.resumed += 1;
  expect(job.content(), 'when it had gone on').toEqual(expected);
  if (canGoOn) expect(job.leftovers(), 'when it had gone on').toEqual([]);
}
