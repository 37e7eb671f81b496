/**
 * A real process with two worker threads is killed with SIGKILL at its N-th file call; then the same command resumes
 * the job and finishes it.
 */

import { expect, it } from 'vitest';
import { seen } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { isSlow } from '../fixtures/scale.js';
import { type TinyJob, useTinyJobs } from './tiny-job.js';
import { REPLACED_SHARDS } from './tiny-job-kinds.js';

const killer = new URL('killer.mjs', import.meta.url).href;

/** Every so many-th call is tried. */
const step = isSlow ? 1 : 100;

const jobs = useTinyJobs();

it('shards that replace others, of a process that is killed, are finished', async () => {
  const job = jobs.of({ ...REPLACED_SHARDS, workers: 2 });
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
    // One that was killed when its output was there and all else removed replaces it.
    const { exitCode, stderr } = await runProcess(job);
    expect({ exitCode, stderr }, what).toEqual({ exitCode: 0, stderr: '' });
    expect(job.content(), what).toEqual(expected);
    expect(job.leftovers(), what).toEqual([]);
  }
  expect(kills).toBeGreaterThan(4);
});

function runProcess({ inputs, options, output, kind }: TinyJob, killAt?: number) {
  const argv = [
    ...['-q', '--workers', `${options.workers}`, '--memory', `${options.memoryBytes}B`, '--seed', options.seed ?? ''],
    ...(options.tempDirs ?? []).flatMap((path) => ['-T', path]),
    ...['--output', output, '--shards', '3', '--force', '--resume', ...inputs],
  ];
  return runCommand(argv, {
    nodeOptions: killAt === undefined ? [] : ['--import', killer],
    env: {
      PILESHUF_TEST_TUNING: JSON.stringify({ ...kind.tuning, inline: false }),
      ...(killAt === undefined ? {} : { PILESHUF_KILL_AT: String(killAt) }),
    },
  });
}
