/**
 * Several jobs at the same time. Jobs in one process do not disturb each other. Only one job at a time writes an output: a
 * second one is refused at once, and the first is not disturbed. The tests of sinks have files that appear meanwhile.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { SMALL_SIZES, writeInputs } from './small-job.js';

const directory = useTestDirectory();

let inputs: string[] = [];
beforeEach(() => {
  inputs = writeInputs(directory);
});

function settings(): Pick<ShuffleOptions, 'tempDirs' | 'memoryBytes' | 'workers'> {
  return { tempDirs: [directory.temp], memoryBytes: 2 ** 26, workers: 2 };
}

function contentOf(path: string): [string, string][] {
  return readdirSync(path).map((name) => [name, readFileSync(`${path}/${name}`, 'latin1')]);
}

describe('several jobs in one process', () => {
  it.each(sampled([true, false], 2))('write the same outputs as alone (inline: %s)', async (inline) => {
    const tuning = { ...SMALL_SIZES, inline };
    const seeds = ['1', '2', '3', '1'];
    const output = (name: string) => directory.path(`out ${name}`);
    await Promise.all(seeds.map((seed, i) => shuffle({ ...settings(), inputs, seed, output: output(`${i}`) }, tuning)));
    for (const [i, seed] of seeds.entries()) {
      await shuffle({ ...settings(), inputs, seed, output: output(`${i} alone`) }, tuning);
      expect(readFileSync(output(`${i}`), 'latin1')).toBe(readFileSync(output(`${i} alone`), 'latin1'));
    }
    expect(readFileSync(output('0'), 'latin1')).not.toBe(readFileSync(output('1'), 'latin1'));
  });
});

const shards = { by: 'count', shardCount: 3 } as const;

/** Begins a job that waits for its last input; `finish` gives it, and what becomes of the job. */
async function beginSlowJob(options: Partial<ShuffleOptions>) {
  const pipe = makePipe(directory.path('pipe.input'));
  const job = shuffle({ ...settings(), ...options, seed: 'slow', inputs: [...inputs, pipe] }, SMALL_SIZES);
  const failure = job.then(
    () => undefined,
    (error: unknown) => error,
  );
  while (!hasJobFiles('.pile')) await delay(10);
  return {
    finish: async () => {
      // Of a job that has failed the pipe has no reader, and would never be opened.
      await Promise.race([writeFile(pipe, 'the last input\n'), failure]);
      return await failure;
    },
  };
}

function hasJobFiles(ending: string): boolean {
  return readdirSync(directory.temp, { recursive: true }).some((name) => String(name).endsWith(ending));
}

describe('a second job of one output', () => {
  /** What the slow job makes when it is alone. */
  async function expectedOutput(output: string, options: Partial<ShuffleOptions>) {
    const last = directory.path('last.input');
    writeFileSync(last, 'the last input\n');
    await shuffle({ ...settings(), ...options, output, seed: 'slow', inputs: [...inputs, last] }, SMALL_SIZES);
    return options.shards === undefined ? readFileSync(output, 'latin1') : contentOf(output);
  }

  const LOCKED = { kind: 'usage', code: 'ERR_JOB_LOCKED' };

  it.each<[string, Partial<ShuffleOptions>, Partial<ShuffleOptions>, boolean]>(
    sampled(
      [
        ['a file', {}, {}, false],
        ['an existing directory, when both may replace', { shards, force: true }, { shards, force: true }, true],
      ],
      2,
    ),
  )('is refused at once, and the first one is not disturbed: %s', async (_, first, second, exists) => {
    const output = directory.path('out');
    if (exists) mkdirSync(output);
    const slow = await beginSlowJob({ output, ...first });
    const before = readdirSync(directory.temp).sort();
    const job = shuffle({ ...settings(), output, inputs, ...second }, SMALL_SIZES);
    await expect(job).rejects.toMatchObject({
      ...LOCKED,
      message: expect.stringMatching(
        new RegExp(`^the job in /.*\\.job is held by process ${process.pid} on .* since .*; wait for it or stop it$`),
      ),
    });
    expect(readdirSync(directory.temp).sort()).toEqual(before);
    expect(await slow.finish()).toBe(undefined);
    const actual = first.shards === undefined ? readFileSync(output, 'latin1') : contentOf(output);
    if (exists) mkdirSync(directory.path('alone'));
    expect(actual).toEqual(await expectedOutput(directory.path('alone'), first));
  });
});
