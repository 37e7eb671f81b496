/**
 * Unfinished jobs with other directories than the command names, or beside files of other jobs: no job touches files of
 * others, no job is mistaken for another, and the messages lead to a finished output.
 */

import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makePipe } from '../fixtures/make-pipe.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { runInProcess } from './job-in-process.js';
import { contentOf, findJobPaths, namesBelow, runJob, undisturbed } from './resumable-job.js';
import type { Sabotage } from './sabotage.js';
import { writeInputs } from './small-job.js';

const directory = useMemoryDirectory();

let inputs: string[] = [];
let output = '';
beforeEach(() => {
  inputs = writeInputs(directory);
  output = directory.path('out');
});

const shards = { by: 'count', shardCount: 3 } as const;
const KILLED_IN_PASS_2: Sabotage = { act: 'signal', signal: 'SIGKILL', at: 'output-write', nth: 36 };
const KILLED_IN_PASS_1: Sabotage = { act: 'signal', signal: 'SIGKILL', at: 'temp-write', nth: 250 };
/** Behind the first shard that gets its name. */
const KILLED_WHILE_MOVING: Sabotage = { act: 'signal', signal: 'SIGKILL', at: 'output-move', nth: 6, afterwards: true };

const argv = (to: string, words: readonly string[]) => [...inputs, '-o', to, '--workers', '2', ...words];
const run = (to: string, words: readonly string[]) => runInProcess(argv(to, words));
const seed = (number: number) => ['--seed', String(number)];
const THREE = ['--shards', '3'];
const expected = (number: number, options = {}) => undisturbed(directory, { inputs, seed: String(number), ...options });

async function expectKilled(to: string, words: readonly string[], sabotage: Sabotage): Promise<void> {
  expect((await runJob(directory, argv(to, words), { sabotage })).signal).toBe('SIGKILL');
}

/** But for locks. */
const filesOf = (job: string) => namesBelow(job).filter((name) => !name.startsWith('lock'));

/** Three shards of this seed. */
async function makeShards(path: string, number: number) {
  expect((await run(path, [...THREE, ...seed(number), '-T', directory.temp])).exitCode).toBe(0);
  return contentOf(path);
}

describe('a job directory that holds the job of another output', () => {
  it.each(sampled(['output-move', 'pass 1'], 2, 1))(
    'is nothing to discard by this one: the other was killed in its %s',
    async (when) => {
      const job = directory.path('job');
      const other = directory.path('other');
      const formerOther = await makeShards(other, 10);
      const former = await makeShards(output, 20);
      const sabotage = when === 'pass 1' ? KILLED_IN_PASS_1 : KILLED_WHILE_MOVING;
      await expectKilled(other, [...THREE, ...seed(11), '--force', '--job-dir', job], sabotage);
      const before = filesOf(job);
      for (const words of [[], ['--force'], ['--resume'], ['--prefix', 'x', '--force']]) {
        expect(await run(output, [...THREE, ...seed(21), '--job-dir', job, ...words])).toMatchObject({
          exitCode: 2,
          failure: {
            code: 'ERR_JOB_UNFINISHED',
            message: expect.stringMatching(
              /job holds an unfinished job of another output, .*other: resume or discard that job with its own command, /,
            ),
          },
        });
      }
      expect(filesOf(job)).toEqual(before);
      expect(contentOf(output)).toEqual(former);

      if (when === 'pass 1') expect(contentOf(other)).toEqual(formerOther);
      const done = await run(other, [...THREE, ...seed(11), '--force', '--resume', '--job-dir', job]);
      expect(done).toMatchObject({ exitCode: 0, failure: undefined });
      expect(contentOf(other)).toEqual(await expected(11, { shards }));
    },
  );
});

describe('a job directory that is missing', () => {
  it('is named in the error if its outputs are staged', async () => {
    const [job, away] = [directory.path('job'), directory.path('away')];
    await expectKilled(output, [...seed(1), '--resume', '--job-dir', job], KILLED_IN_PASS_2);
    renameSync(job, away);
    for (const words of [['--resume'], []]) {
      expect(await run(output, [...seed(1), '--job-dir', job, ...words])).toMatchObject({
        exitCode: 2,
        failure: {
          code: 'ERR_JOB_UNFINISHED',
          message: `the job directory ${job} of an unfinished job of ${output} is missing; check that its disk is mounted, or give \`force\` without \`resume\` to start anew`,
        },
      });
    }
    renameSync(away, job);
    const done = await run(output, [...seed(1), '--resume', '--job-dir', job]);
    expect(done).toMatchObject({ exitCode: 0, report: { resumed: { pileSets: expect.any(Number) } } });
    expect(contentOf(output)).toBe(await expected(1));
  });
});

describe('--force with other directories than the unfinished job had', () => {
  it('names the files of a job that cannot be resumed', async () => {
    mkdirSync(directory.path('old'));
    await expectKilled(output, [...seed(1), '-T', directory.path('old')], KILLED_IN_PASS_1);
    const { job, data } = findJobPaths(directory.path('old'), directory.path());
    const done = await run(output, [...seed(1), '-T', directory.temp]);
    expect(done).toMatchObject({ exitCode: 0, warnings: [`a killed job left ${job}; remove it`] });
    expect(existsSync(data)).toBe(true);
  });

  it('names temp data on disks that the command no longer names', async () => {
    mkdirSync(directory.path('old'));
    const named = ['--job-dir', directory.path('job')];
    await expectKilled(output, [...seed(1), ...named, '-T', directory.path('old')], KILLED_IN_PASS_1);
    const [left] = readdirSync(directory.path('old'));
    expect(await run(output, [...seed(1), ...named, '-T', directory.temp, '--force'])).toMatchObject({
      exitCode: 0,
      warnings: [`temp data of the discarded job is left in ${directory.path('old', left ?? '')}; remove it`],
    });
  });
});

describe('a job directory', () => {
  it.each([
    ['the output', (job: string) => ['-o', job]],
    ['the place of the output', (job: string) => ['-o', join(job, 'out')]],
    ['the temp directory', (job: string) => ['-o', output, '-T', job]],
    ['above the temp directory', (job: string) => ['-o', output, '-T', join(job, 't')]],
  ])('must not be %s', async (_, words) => {
    const job = directory.path('job');
    mkdirSync(join(job, 't'), { recursive: true, mode: 0o700 });
    const result = await runInProcess([...inputs, ...THREE, '--job-dir', job, ...words(job)]);
    expect(result).toMatchObject({
      exitCode: 2,
      failure: { message: expect.stringMatching(/ is the job directory .*job or lies in it; /) },
    });
    expect(readdirSync(job)).toEqual(['t']);
  });

  it.runIf(fromCi)('stays when it was there before, and goes when a job made it', async () => {
    const [own, made] = [directory.path('own'), directory.path('made')];
    mkdirSync(own, { mode: 0o700 });
    for (const [job, stays] of [
      [own, true],
      [made, false],
    ] as const) {
      expect((await run(output, [...seed(1), '--job-dir', job])).exitCode).toBe(0);
      expect(existsSync(job)).toBe(stays);
      rmSync(output);
      await expectKilled(output, [...seed(1), '--job-dir', job], KILLED_IN_PASS_1);
      expect((await run(output, [...seed(1), '--job-dir', job, '--resume'])).exitCode).toBe(0);
      expect(existsSync(job)).toBe(stays);
      rmSync(output);
    }
    expect(readdirSync(own)).toEqual([]);
  });
});

describe('an output in an input directory', () => {
  it('is not read by a job that is resumed while its shards get their names', async () => {
    const corpus = directory.path('corpus');
    mkdirSync(corpus);
    for (const input of inputs) renameSync(input, join(corpus, basename(input)));
    const words = [corpus, '--exclude', 'shard-*', '-o', corpus, ...THREE, ...seed(1), '-T', corpus, '--workers', '2'];
    const sabotage: Sabotage = { ...KILLED_WHILE_MOVING, nth: 2 };
    expect((await runJob(directory, words, { sabotage })).signal).toBe('SIGKILL');
    const isShard = (name: string) => name.startsWith('shard-');
    const early = readdirSync(corpus).filter(isShard);
    expect([1, 2]).toContain(early.length);
    const resumed = await runInProcess([...words, '--resume']);
    expect(resumed).toMatchObject({ exitCode: 0, failure: undefined });
    const places = inputs.map((input) => join(corpus, basename(input)));
    const whole = await undisturbed(directory, { inputs: places, seed: '1', shards });
    const made = Object.values(contentOf(corpus)).filter(([name]) => name?.includes('shard'));
    expect(made).toEqual(whole);
  });
});

describe('the output directory', () => {
  it.runIf(fromCi)('that disappears while shards move into it is asked for', async () => {
    await makeShards(output, 1);
    const words = [...THREE, ...seed(2), '--force', '-T', directory.temp];
    await expectKilled(output, words, KILLED_WHILE_MOVING);
    const away = directory.path('away');
    renameSync(output, away);
    for (const more of [['--resume'], []]) {
      expect(await run(output, [...words, ...more])).toMatchObject({
        exitCode: 1,
        failure: {
          message: `the output directory ${output} is gone, and shards had begun to move into it; make it again (mkdir) and run the same command`,
        },
      });
    }
    renameSync(away, output);
    expect(await run(output, [...words, '--resume'])).toMatchObject({ exitCode: 0 });
    expect(contentOf(output)).toEqual(await expected(2, { shards }));
  });

  it.runIf(fromCi)('keeps former shards that have hard links elsewhere', async () => {
    await makeShards(output, 1);
    const former = namesBelow(output);
    const backup = directory.path('backup');
    mkdirSync(backup);
    for (const name of readdirSync(output)) linkSync(join(output, name), join(backup, name));
    const words = [...THREE, ...seed(2), '--force', '-T', directory.temp];
    await expectKilled(output, words, KILLED_WHILE_MOVING);
    rmSync(directory.temp, { recursive: true });
    mkdirSync(directory.temp);
    const [staged] = readdirSync(directory.path()).filter((name) => name.endsWith('.out'));
    const staging = directory.path(staged ?? '');
    expect((await run(output, [...words, '--resume'])).exitCode).toBe(2);
    expect(await run(output, words)).toMatchObject({
      exitCode: 1,
      failure: { message: expect.stringContaining('holds former files that a killed job had moved out of the way') },
    });
    expect(namesBelow(join(staging, 'replaced'))).toEqual(former);
    rmSync(staging, { recursive: true });
  });
});

it.runIf(fromCi)('a pipe in place of temp data is reported, and nobody waits for it', async () => {
  await expectKilled(output, [...seed(1), '--resume', '-T', directory.temp], KILLED_IN_PASS_2);
  const { job } = findJobPaths(directory.temp, directory.path());
  const [index] = readdirSync(job).filter((name) => /^set-\d+\.index$/.test(name));
  rmSync(join(job, index ?? ''));
  makePipe(join(job, index ?? ''));
  // In a process of its own: to wait would hold up the test.
  const refused = await runJob(directory, argv(output, [...seed(1), '--resume', '-T', directory.temp]));
  expect(refused).toMatchObject({ failure: { message: expect.stringContaining('it is not a regular file') } });
  expect((await run(output, [...seed(1), '--force', '-T', directory.temp])).exitCode).toBe(0);
});
