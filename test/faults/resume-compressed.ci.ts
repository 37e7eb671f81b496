/**
 * Jobs with compressed outputs, on threads that take turns, that end early: a resumed job drops output that was appended
 * but not recorded, and makes the same file, byte for byte.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { WRITABLE_CODECS } from '../fixtures/can-write-zstd.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { contentOf, findJobPaths, type JobRun, namesBelow, runJob } from './resumable-job.js';
import type { Sabotage } from './sabotage.js';
import { smallSizes, writeInputs } from './small-job.js';

const directory = useMemoryDirectory();
/** Several ranges of several members each. */
const SIZES = smallSizes({ pileCount: 6, stripeCount: 6, outputBytes: 200 });

let inputs: string[] = [];
beforeEach(() => {
  inputs = writeInputs(directory);
});

type Run = JobRun & { readonly workers?: number };
const run = (codec: string, output: string, { workers = 2, ...more }: Run = {}, ...words: string[]) => {
  const options = ['-T', directory.temp, '--workers', `${workers}`, '--seed', '1', '--compress', codec];
  return runJob(directory, [...inputs, '-o', output, ...options, ...words], { sizes: SIZES, ...more });
};

const IN_PASS_2 = { at: 'output-write', nth: 8 } as const;

const KINDS: readonly (readonly [string, readonly string[], Sabotage])[] = [
  ['one file, stopped by SIGTERM', [], { act: 'signal', signal: 'SIGTERM', ...IN_PASS_2 }],
  ['one file, killed', [], { act: 'signal', signal: 'SIGKILL', ...IN_PASS_2 }],
  ['one file, killed when a range is recorded', [], { act: 'signal', signal: 'SIGKILL', at: 'output-sync', nth: 3 }],
  ['shards, killed', ['--shards', '4'], { act: 'signal', signal: 'SIGKILL', ...IN_PASS_2 }],
  ['shards, with a worker that dies', ['--shards', '4'], { act: 'end-worker', ...IN_PASS_2 }],
];
/** The codecs take turns. */
const codecOf = (i: number) => WRITABLE_CODECS[i % WRITABLE_CODECS.length] ?? 'gzip';

it.each(KINDS.map((kind, i) => [codecOf(i), ...kind] as const))(
  'a job that writes %s resumes, and writes the same bytes: %s',
  async (codec, _, words, sabotage) => {
    const whole = directory.path('whole');
    expect((await run(codec, whole, {}, ...words)).exitCode).toBe(0);
    const output = directory.path('out');
    const stopped = await run(codec, output, { sabotage }, '--resume', ...words);
    expect(stopped.report).toBe(undefined);
    const { job } = findJobPaths(directory.temp, directory.path());
    const recorded = namesBelow(job).filter((name) => /^done-\d+$/.test(name)).length;
    const continued = await run(codec, output, {}, '--resume', ...words);
    expect(continued).toMatchObject({ exitCode: 0, failure: undefined, warnings: [] });
    const taken = continued.report?.resumed?.outputBytes ?? 0;
    expect(taken > 0).toBe(recorded > 0);
    expect(contentOf(output)).toEqual(contentOf(whole));
  },
);

it('refuses to resume with another codec or level', async () => {
  const output = directory.path('out');
  await run('gzip:3', output, { sabotage: { act: 'signal', signal: 'SIGTERM', ...IN_PASS_2 } }, '--resume');
  const { staging } = findJobPaths(directory.temp, directory.path());
  const before = readFileSync(join(staging, '0.part'));
  for (const other of ['gzip:4', ...WRITABLE_CODECS.filter((codec) => codec !== 'gzip'), 'none']) {
    const { exitCode, failure } = await run(other, output, {}, '--resume');
    expect({ exitCode, code: failure?.code }).toEqual({ exitCode: 2, code: 'ERR_JOB_DIFFERS' });
    expect(failure?.message).toMatch(/ started with another compression \("gzip 3", now ("gzip 4"|"zstd 3"|null)\); /);
  }
  expect(readFileSync(join(staging, '0.part')).equals(before)).toBe(true);
  expect((await run('gzip:3', output, {}, '--resume')).exitCode).toBe(0);
});
