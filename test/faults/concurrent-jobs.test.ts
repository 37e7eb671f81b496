/**
 * Jobs beside each other: in one process they do not disturb each other, and at one output the first to
 * end wins, whole, and the other says so.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { SMALL_SIZES, writeInputs } from './small-job.js';

const directory = useTestDirectory();

function settings(): Pick<ShuffleOptions, 'tempDirs' | 'memoryBytes' | 'workers'> {
  return { tempDirs: [directory.temp], memoryBytes: 2 ** 26, workers: 2 };
}

function contentOf(path: string): [string, string][] {
  return readdirSync(path).map((name) => [name, readFileSync(`${path}/${name}`, 'latin1')]);
}

describe('several jobs in one process', () => {
  it.each([true, false])('give what each gives alone (inline: %s)', async (inline) => {
    const inputs = writeInputs(directory);
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

  it('go on when one of them fails', async () => {
    const inputs = writeInputs(directory);
    const bad = directory.path('bad');
    writeFileSync(bad, `${'x'.repeat(200)}\n`);
    const failing = shuffle(
      { ...settings(), inputs: [...inputs, bad], output: directory.path('none'), maxRecordBytes: 100 },
      SMALL_SIZES,
    );
    const passing = shuffle({ ...settings(), inputs, seed: '1', output: directory.path('out') }, SMALL_SIZES);
    await expect(failing).rejects.toMatchObject({ code: 'ERR_RECORD_TOO_LONG' });
    expect((await passing).bytes).toBe(inputs.reduce((sum, path) => sum + readFileSync(path).byteLength, 0));
  });
});

describe('two jobs with one output', () => {
  /** Lets a job wait for its last input until another one has done all of its work. */
  async function race(slow: Partial<ShuffleOptions>, fast: Partial<ShuffleOptions>): Promise<unknown> {
    const inputs = writeInputs(directory);
    const pipe = makePipe(directory.path('pipe'));
    const slowJob = shuffle({ ...settings(), ...slow, seed: 'slow', inputs: [...inputs, pipe] }, SMALL_SIZES);
    const failure = slowJob.then(
      () => undefined,
      (error: unknown) => error,
    );
    while (readdirSync(directory.temp).length === 0) await delay(10);
    await shuffle({ ...settings(), ...fast, seed: 'fast', inputs }, SMALL_SIZES);
    await writeFile(pipe, 'the last input\n');
    return await failure;
  }

  const shards = { by: 'count', shardCount: 3 } as const;
  const APPEARED = { kind: 'usage', code: 'ERR_OUTPUT_EXISTS', message: expect.stringContaining('appeared during') };

  it.each([
    ['a new directory of shards', false],
    ['an existing directory', true],
  ])('leave the shards of the first one: %s', async (_, exists) => {
    const output = directory.path('shards');
    if (exists) mkdirSync(output);
    expect(await race({ output, shards }, { output, shards })).toMatchObject(APPEARED);
    const alone = directory.path('alone');
    await shuffle({ ...settings(), inputs: writeInputs(directory), output: alone, shards, seed: 'fast' }, SMALL_SIZES);
    expect(contentOf(output)).toEqual(contentOf(alone));
  });

  it('leave the file of the first one', async () => {
    const output = directory.path('out');
    expect(await race({ output }, { output })).toMatchObject(APPEARED);
    expect(readFileSync(output, 'latin1')).not.toContain('the last input');
  });

  it('both end well in one directory under two prefixes', async () => {
    const output = directory.path('shards');
    mkdirSync(output);
    expect(await race({ output, shards, shardPrefix: 'a' }, { output, shards, shardPrefix: 'b' })).toBe(undefined);
    expect(readdirSync(output).map((name) => name.slice(0, 7))).toEqual([
      'a-00000',
      'a-00001',
      'a-00002',
      'b-00000',
      'b-00001',
      'b-00002',
    ]);
  });

  it('leave what the last one wrote, and nothing else, when both may replace', async () => {
    const output = directory.path('shards');
    mkdirSync(output);
    const fast = { output, shards: { by: 'count', shardCount: 7 }, force: true } as const;
    expect(await race({ output, shards, force: true }, fast)).toBe(undefined);
    expect(readdirSync(output)).toHaveLength(3);
    const all = contentOf(output).map(([, text]) => text);
    expect(all.join('').split('the last input\n')).toHaveLength(2);
  });
});
