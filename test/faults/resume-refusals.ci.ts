/**
 * An unfinished job is never mixed up with another one. The command resumes it only if asked to and everything that decides
 * the bytes is the same, and discards it only if asked to. Otherwise it refuses, in one line with the difference, and leaves
 * all files unchanged. test/job has every difference, damaged-store.test.ts every damage.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { type JobInProcess, runInProcess, stopInProcess } from './job-in-process.js';
import { contentOf, findJobPaths, fingerprintOf, runJob, undisturbed } from './resumable-job.js';
import { writeInputs } from './small-job.js';

const directory = useMemoryDirectory();

let inputs: string[] = [];
let output = '';
let job: ReturnType<typeof findJobPaths>;
beforeEach(() => {
  inputs = writeInputs(directory);
  // A time without nanoseconds, which a test can give back.
  for (const path of inputs) utimesSync(path, MODIFIED, MODIFIED);
  output = directory.path('out');
});

const MODIFIED = new Date('2026-01-31T12:00:00Z');
const SHARDS = ['--shards', '3'];

interface Words {
  readonly inputs?: readonly string[];
  readonly output?: string;
  readonly temp?: readonly string[];
  readonly seed?: readonly string[];
  readonly shards?: readonly string[];
  readonly more?: readonly string[];
}

/** The words of the job, but for those that are given. */
function argv(words: Words = {}): string[] {
  const temp = words.temp ?? [directory.temp];
  return [
    ...(words.inputs ?? inputs),
    ...['-o', words.output ?? output],
    ...temp.flatMap((path) => ['-T', path]),
    ...(words.seed ?? ['--seed', '1']),
    ...(words.shards ?? SHARDS),
    ...(words.more ?? []),
  ];
}

const run = (words: Words = {}) => runInProcess(argv(words));
const resume = (words: Words = {}) => run({ ...words, more: ['--resume', ...(words.more ?? [])] });

/** Begins the job and has it stopped in pass 1. */
const interrupt = () => stopInProcess(argv({ more: ['--resume'] }), { call: 'write', ending: '.pile', nth: 250 });

/** Expects that an attempt changes no file, of the unfinished job or beside it. */
async function expectRefused(
  runIt: () => Promise<JobInProcess>,
  exitCode: number,
  code: string,
  message: string | RegExp,
) {
  const places = [directory.temp, job.staging];
  const before = fingerprintOf(...places);
  const { exitCode: actual, failure } = await runIt();
  expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
  expect(failure?.message).not.toContain('\n');
  expect(failure?.resume).toBe(undefined);
  expect(actual).toBe(exitCode);
  expect(fingerprintOf(...places)).toEqual(before);
  expect(existsSync(output)).toBe(false);
}

/** The unfinished job is whole: it can be resumed and finishes. */
async function expectGoesOn() {
  const continued = await resume();
  expect(continued).toMatchObject({ exitCode: 0, warnings: [] });
  expect(continued.report?.resumed?.pileSets).toBeGreaterThan(2);
  expect(contentOf(output)).toEqual(await undisturbed(directory, { inputs, shards: { by: 'count', shardCount: 3 } }));
}

/** Nothing of the unfinished job is used. */
async function expectDiscarded(words: Words = {}) {
  const anew = await run({ ...words, more: [...(words.more ?? []), '--force'] });
  expect(anew.exitCode).toBe(0);
  expect(anew.report?.resumed).toBe(undefined);
  expect(contentOf(output)).toEqual(await undisturbed(directory, { inputs, shards: { by: 'count', shardCount: 3 } }));
}

describe('an unfinished job', () => {
  beforeEach(async () => {
    await interrupt();
    job = findJobPaths(directory.temp, directory.path());
  });

  it('is not resumed without --resume', async () => {
    await expectRefused(
      () => run(),
      2,
      'ERR_JOB_UNFINISHED',
      `^an unfinished or kept job of ${output} exists in ${job.job}: give \`resume\` to resume it, or \`force\` to discard it$`,
    );
    await expectGoesOn();
  });

  it('is resumed, not discarded, with both', async () => {
    const continued = await resume({ more: ['--force'] });
    expect(continued.exitCode).toBe(0);
    expect(continued.report?.resumed?.pileSets).toBeGreaterThan(2);
    expect(contentOf(output)).toEqual(await undisturbed(directory, { inputs, shards: { by: 'count', shardCount: 3 } }));
  });

  it('is not resumed when it has another seed', async () => {
    const message =
      /^the unfinished job in .*\.job started with another seed \("1", now "2"\); give the same to resume it, or `force` without `resume` to discard it$/;
    await expectRefused(() => resume({ seed: ['--seed', '2'] }), 2, 'ERR_JOB_DIFFERS', message);
    await expectGoesOn();
  });

  it('is found from other temp directories, and names its own', async () => {
    const more = directory.path('more');
    mkdirSync(more);
    const message = `^an unfinished job of ${output} exists in ${job.job}: give the \`tempDirs\` or \`jobDir\` of that job, and \`resume\` to resume it or \`force\` to discard it$`;
    await expectRefused(() => resume({ temp: [more] }), 2, 'ERR_JOB_UNFINISHED', message);
    await expectRefused(() => run({ temp: [more] }), 2, 'ERR_JOB_UNFINISHED', message);
    await expectRefused(() => run({ temp: [more], more: ['--force'] }), 2, 'ERR_JOB_UNFINISHED', message);
    expect(fingerprintOf(more)).toEqual([]);
    await expectGoesOn();
  });

  it('is not resumed when an input is another', async () => {
    flipByte(inputs[1] ?? '', 0);
    utimesSync(inputs[1] ?? '', MODIFIED, MODIFIED);
    const message =
      /^\/.*\/1\.input: the input changed since the unfinished job in .*\.job started \(its first or last bytes differ\); give `force` without `resume` to start anew$/;
    await expectRefused(() => resume(), 3, 'ERR_INPUT_CHANGED', message);
    await expectDiscarded();
  });

  it('that may run on another host is not touched', async () => {
    const name = `lock+another${hostname().replaceAll(/[^a-z]/g, '')}+unknown+unknown+17+unknown+0+0123456789abcdef`;
    writeFileSync(join(job.job, name), '');
    const message =
      /is held by process 17 on another.* since .*, which cannot be seen from here; wait for it or stop it, or remove .*\/lock\+.* if it has ended$/;
    await expectRefused(() => resume(), 2, 'ERR_JOB_LOCKED', message);
    await expectRefused(() => run({ more: ['--force'] }), 2, 'ERR_JOB_LOCKED', message);
    rmSync(join(job.job, name));
    await expectGoesOn();
  });
});

describe('a job that cannot be resumed', () => {
  it('leaves files when it is killed, and the next job removes them', async () => {
    const sabotage = { act: 'signal', signal: 'SIGKILL', at: 'output-write', nth: 5 } as const;
    expect(await runJob(directory, argv(), { sabotage })).toMatchObject({ signal: 'SIGKILL' });
    const { job: left } = findJobPaths(directory.temp, directory.path());
    expect(existsSync(join(left, 'manifest'))).toBe(true);
    const { exitCode, report } = await run();
    expect({ exitCode, resumed: report?.resumed }).toEqual({ exitCode: 0, resumed: undefined });
  });
});

function flipByte(path: string, position: number): void {
  const bytes = readFileSync(path);
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}
