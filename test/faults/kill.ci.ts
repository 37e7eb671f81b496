/**
 * A real process with two worker threads is killed with SIGKILL at its N-th file call; then the same command resumes
 * the job and finishes it.
 */

import { describe, expect, it } from 'vitest';
import { seen } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { atScale, isSlow, sampled } from '../fixtures/scale.js';
import { type TinyJob, useTinyJobs } from './tiny-job.js';
import { RESUMABLE_JOBS } from './tiny-job-kinds.js';

const killer = new URL('killer.mjs', import.meta.url).href;

/** In new names, in place of others, and compressed; on disk. */
const KINDS = RESUMABLE_JOBS.filter(({ name }) => /^a file|^shards that replace|^compressed/.test(name));

/** Every so many-th call is tried. */
const step = atScale(600, 100, 1);

describe.each(sampled(KINDS, 3, 1))('$name', (kind) => {
  const jobs = useTinyJobs();

  it('is finished after the process was killed', async () => {
    // The bytes of compressed shards depend on the number of workers.
    const job = jobs.of({ ...kind, workers: 2 });
    const expected = await job.expectedContent();
    let kills = 0;
    for (let nth = 1; ; nth += step) {
      job.prepare();
      const killed = await runProcess(job, nth);
      if (killed.signal === null) {
        expect(seen(killed)).toEqual({ exitCode: 0, lines: [] });
        break;
      }
      kills += 1;
      const what = `killed at call ${nth}`;
      expect(killed.signal, what).toBe('SIGKILL');
      job.expectNothingHalf(expected);
      const { exitCode, stderr } = await runProcess(job, undefined, '--resume');
      // One that was killed when its output was there and all else removed left no word of it.
      if (exitCode === 2)
        expect(stderr, what).toMatch(/^pileshuf: the output .* (exists|holds shards) already.*; .*\n$/);
      else expect({ exitCode, stderr }, what).toEqual({ exitCode: 0, stderr: '' });
      expect(job.content(), what).toEqual(expected);
      expect(job.leftovers(), what).toEqual([]);
    }
    expect(kills).toBeGreaterThan(atScale(1, 4));
    if (isSlow) console.info(`${kind.name}: killed at ${kills} calls`);
  });
});

function runProcess(job: TinyJob, killAt: number | undefined, ...more: string[]) {
  const { inputs, options, kind } = job;
  const argv = [
    ...['-q', '--workers', `${options.workers}`, '--memory', `${options.memoryBytes}B`, '--seed', options.seed ?? ''],
    ...['--output', job.output],
    ...(options.tempDirs ?? []).flatMap((path) => ['-T', path]),
    ...(kind.shards ? ['--shards', '3'] : []),
    ...(kind.compress ? ['--compress', 'gzip'] : []),
    ...(kind.header ? ['--header', '2'] : []),
    ...(options.force ? ['--force'] : []),
    ...(options.resume ? ['--resume'] : []),
    ...more.filter((option) => !(option === '--force' && options.force) && !(option === '--resume' && options.resume)),
    ...inputs,
  ];
  return runCommand(argv, {
    nodeOptions: killAt === undefined ? [] : ['--import', killer],
    env: {
      PILESHUF_TEST_TUNING: JSON.stringify({ ...kind.tuning, inline: false }),
      ...(killAt === undefined ? {} : { PILESHUF_KILL_AT: String(killAt) }),
    },
  });
}
