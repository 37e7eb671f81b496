/**
 * The job directory: a job keeps everything needed to resume it in the directory that the user names, on any disk, and
 * nowhere else.
 */

import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { contentOf, findJobPaths, type JobRun, namesBelow, runJob, runPrinted, undisturbed } from './resumable-job.js';
import type { Sabotage } from './sabotage.js';
import { writeInputs } from './small-job.js';

const directory = useTestDirectory();
const mountTmpfs = useMounts();

let inputs: string[] = [];
let output = '';
beforeEach(() => {
  inputs = writeInputs(directory);
  output = directory.path('out');
});

const STOPPED: Sabotage = { act: 'signal', signal: 'SIGTERM', at: 'temp-write', nth: 250 };

/** Without temp directories. */
const run = (words: readonly string[], more: JobRun = {}) =>
  runJob(directory, [...inputs, '-o', output, '--workers', '2', '--seed', '1', ...words], more);

async function expectDone(resumedSplits: number | undefined) {
  expect(resumedSplits).toBeGreaterThan(2);
  expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
}

describe('--job-dir', () => {
  it.runIf(fromCi)('makes a job resumable and keeps its temp data there', async () => {
    const job = directory.path('job');
    const stopped = await run(['--job-dir', job], { sabotage: STOPPED });
    expect(stopped).toMatchObject({ exitCode: 143, failure: { resume: { directory: job } } });
    expect(readdirSync(job)).toEqual(expect.arrayContaining(['disk-0', 'manifest', expect.stringMatching(/^set-\d+/)]));
    expect(namesBelow(`${job}/disk-0`).length).toBeGreaterThan(0);
    const continued = await runPrinted(directory, stopped.failure?.resume?.command ?? '');
    expect(continued).toMatchObject({ exitCode: 0 });
    await expectDone(continued.report?.resumed?.pileSets);
    expect(existsSync(job)).toBe(false);
  });

  it.runIf(fromCi)('leaves the temp data in the named temp directories', async () => {
    const job = directory.path('job');
    const words = ['--job-dir', job, '-T', directory.temp];
    expect((await run(words, { sabotage: STOPPED })).exitCode).toBe(143);
    expect(existsSync(`${job}/disk-0`)).toBe(false);
    expect(readdirSync(directory.temp)).toEqual([expect.stringMatching(/^\.pileshuf-[0-9a-f]{16}\.disk-0$/)]);
    await expectDone((await run([...words, '--resume'])).report?.resumed?.pileSets);
  });

  it.runIf(fromCi)('may be relative', async () => {
    const cwd = directory.path('here');
    mkdirSync(cwd);
    const stopped = await run(['--job-dir', '../here/job'], { sabotage: STOPPED, cwd });
    expect(stopped.failure?.resume?.directory).toBe(`${cwd}/job`);
    const continued = await runPrinted(directory, stopped.failure?.resume?.command ?? '', 'sh', cwd);
    await expectDone(continued.report?.resumed?.pileSets);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each(['with', 'without'])('must not hold files of others, %s --force', async (how) => {
    const job = directory.path('job');
    mkdirSync(job, 0o700);
    writeFileSync(`${job}/thesis.tex`, 'precious\n');
    const { exitCode, failure } = await run(['--job-dir', job, ...(how === 'with' ? ['--force'] : [])]);
    expect({ exitCode, message: failure?.message }).toEqual({
      exitCode: 1,
      message: `cannot use the directory ${job}: it holds thesis.tex, which is not from a job; name one that is empty or does not exist`,
    });
    expect(namesBelow(job)).toEqual(['thesis.tex']);
  });

  it('must not be a symbolic link', async () => {
    mkdirSync(directory.path('real'), 0o700);
    symlinkSync('real', directory.path('job'));
    const { exitCode, failure } = await run(['--job-dir', directory.path('job')]);
    expect({ exitCode, message: failure?.message }).toEqual({
      exitCode: 1,
      message: expect.stringMatching(/job: it is a symbolic link, expected a directory; name the directory that it/),
    });
    expect(readdirSync(directory.path('real'))).toEqual([]);
  });

  it('must not be writable by others', async () => {
    mkdirSync(directory.path('job'));
    chmodSync(directory.path('job'), 0o777);
    const { exitCode, failure } = await run(['--job-dir', directory.path('job')]);
    expect({ exitCode, message: failure?.message }).toEqual({
      exitCode: 1,
      message: expect.stringMatching(
        /other users can write to it \(mode 777\); if everything in it is yours, run chmod go-w/,
      ),
    });
  });

  it.runIf(fromCi)(
    'may lie in an input directory, beside the output, and is not read by a job that is resumed',
    async () => {
      const corpus = directory.path('corpus');
      mkdirSync(corpus);
      for (const input of inputs) renameSync(input, join(corpus, basename(input)));
      const words = [
        corpus,
        '--exclude',
        '/out',
        '-o',
        join(corpus, 'out'),
        '--seed',
        '1',
        '--job-dir',
        join(corpus, 'job'),
      ];
      const stopped = await runJob(directory, words, { sabotage: STOPPED });
      expect(stopped.exitCode).toBe(143);
      expect(readdirSync(corpus)).toContain('job');
      const { exitCode, report, failure } = await runJob(directory, [...words, '--resume']);
      expect({ exitCode, failure }).toEqual({ exitCode: 0, failure: undefined });
      expect(report?.resumed?.pileSets).toBeGreaterThan(0);
      expect(readdirSync(corpus).sort()).toEqual([...inputs.map((input) => basename(input)), 'out'].sort());
    },
  );

  it.skipIf(!fromCi || reasonNotToMount !== undefined)(
    'may lie on another disk than the output and the temp data',
    async () => {
      const disk = mountTmpfs(directory.path('disk'), 'size=8m');
      for (const words of [[], ['-T', directory.temp]]) {
        const named = ['--job-dir', `${disk}/job`, ...words];
        expect((await run(named, { sabotage: STOPPED })).exitCode).toBe(143);
        await expectDone((await run([...named, '--resume'])).report?.resumed?.pileSets);
        expect(readdirSync(disk)).toEqual([]);
        rmSync(output);
      }
    },
  );
});

describe('a job without temp directories of its own', () => {
  it.runIf(fromCi)('keeps its files beside the output', async () => {
    expect((await run(['--resume'], { sabotage: STOPPED, env: { TMPDIR: '' } })).exitCode).toBe(143);
    const { job, data } = findJobPaths(directory.path(), directory.path());
    expect([job, data].every((path) => existsSync(path))).toBe(true);
    await expectDone((await run(['--resume'], { env: { TMPDIR: '' } })).report?.resumed?.pileSets);
  });
});
