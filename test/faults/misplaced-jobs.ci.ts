/**
 * Unfinished jobs with other directories than the command names, or beside files of other jobs: no job touches files of
 * others, no job is mistaken for another, and the messages lead to a finished output. earlier-attempt.test.ts has every
 * way in which a job begins.
 */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { contentOf, findJobPaths, runInProcess, useSmallJob } from './resumable-job.js';
import type { Sabotage } from './sabotage.js';

const directory = useMemoryDirectory();
const job = useSmallJob(directory);

const KILLED_IN_PASS_2: Sabotage = { act: 'signal', signal: 'SIGKILL', at: 'output-write', nth: 36 };
const KILLED_IN_PASS_1: Sabotage = { act: 'signal', signal: 'SIGKILL', at: 'temp-write', nth: 250 };
/** Behind the first shard that gets its name. */
const KILLED_WHILE_MOVING: Sabotage = { act: 'signal', signal: 'SIGKILL', at: 'output-move', nth: 6, afterwards: true };

const run = (...words: readonly string[]) => runInProcess(job.words(words));
const THREE = ['--shards', '3'];
const shards = { by: 'count', shardCount: 3 } as const;

async function expectKilled(sabotage: Sabotage, ...words: readonly string[]): Promise<void> {
  expect((await job.run(words, { sabotage })).signal).toBe('SIGKILL');
}

/** Three shards of another seed. */
async function makeShards(path: string) {
  const words = [...job.inputs, '-o', path, '--seed', '9', ...THREE, '-T', directory.temp];
  expect((await runInProcess(words)).exitCode).toBe(0);
  return contentOf(path);
}

describe('a job directory', () => {
  const at = () => directory.path('job');

  it('that is missing is named in the error if its outputs are staged', async () => {
    await expectKilled(KILLED_IN_PASS_2, '--resume', '--job-dir', at());
    renameSync(at(), directory.path('away'));
    for (const how of [['--resume'], []]) {
      expect(await run('--job-dir', at(), ...how)).toMatchObject({
        exitCode: 2,
        failure: {
          code: 'ERR_JOB_UNFINISHED',
          message: `the job directory ${at()} of an unfinished job of ${job.output} is missing; check that its disk is mounted, or give --force without --resume to start anew`,
        },
      });
    }
    renameSync(directory.path('away'), at());
    const done = await run('--resume', '--job-dir', at());
    expect(done).toMatchObject({ exitCode: 0, report: { resumed: { pileSets: expect.any(Number) } } });
    await job.expectWhole();
  });
});

describe('--force with other directories than the unfinished job had', () => {
  it('names the files of a job that cannot be resumed', async () => {
    mkdirSync(directory.path('old'));
    await expectKilled(KILLED_IN_PASS_1, '-T', directory.path('old'));
    const left = findJobPaths(directory.path('old'), directory.path());
    expect(await run('-T', directory.temp)).toMatchObject({
      exitCode: 0,
      warnings: [`a killed job left ${left.job}; remove it`],
    });
    expect(existsSync(left.data)).toBe(true);
  });

  it('names temp data on disks that the command no longer names', async () => {
    mkdirSync(directory.path('old'));
    const named = ['--job-dir', directory.path('job')];
    await expectKilled(KILLED_IN_PASS_1, ...named, '-T', directory.path('old'));
    const [left = ''] = readdirSync(directory.path('old'));
    expect(await run(...named, '-T', directory.temp, '--force')).toMatchObject({
      exitCode: 0,
      warnings: [`temp data of the discarded job is left in ${directory.path('old', left)}; remove it`],
    });
  });
});

it('an output directory that disappears while shards move into it is asked for', async () => {
  await makeShards(job.output);
  const words = [...THREE, '--force', '-T', directory.temp];
  await expectKilled(KILLED_WHILE_MOVING, ...words);
  const away = directory.path('away');
  renameSync(job.output, away);
  for (const more of [['--resume'], []]) {
    expect(await run(...words, ...more)).toMatchObject({
      exitCode: 1,
      failure: {
        message: `the output directory ${job.output} is gone, and shards had begun to move into it; make it again (mkdir) and run the same command`,
      },
    });
  }
  renameSync(away, job.output);
  expect(await run(...words, '--resume')).toMatchObject({ exitCode: 0 });
  await job.expectWhole({ shards });
});
