import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { runShell } from '../fixtures/run-shell.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anyInputs } from './any-inputs.js';
import { anySettings } from './any-settings.js';
import { drawsFrom, referenceOrder } from './reference-order.js';
import { expectReport, type Job, shuffleToFile } from './shuffle-under-test.js';

const directory = useMemoryDirectory();

async function expectDraws(job: Job & { readonly headCount: number }): Promise<void> {
  const { settings } = job;
  // Half is for the piles, half for the records in their order.
  const doubled = { ...settings, memoryBytes: Math.max(2 ** 25, 2 * settings.memoryBytes) };
  const expected = drawsFrom(referenceOrder(job.inputs, job.seed), job.seed, job.headCount);
  const { bytes, report } = await shuffleToFile(directory, { ...job, settings: doubled, repeat: true });
  expect(bytes.equals(Buffer.concat(expected))).toBe(true);
  expectReport(report, expected);
}

const hasRecords = (inputs: readonly Buffer[]) => inputs.some(({ byteLength }) => byteLength > 0);

describe('draws with replacement', () => {
  it('are those that the seed defines, whatever the settings', async () => {
    const inputs = anyInputs.filter(hasRecords);
    const headCount = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 4, max: 400 }));
    const job = fc.record({ inputs, seed: fc.string(), headCount, settings: anySettings });
    await fc.assert(fc.asyncProperty(job, expectDraws), { numRuns: atScale(10, 30, 2000) });
  });

  it('may take one record many times, and long records', async () => {
    const settings = { workers: 1, memoryBytes: 2 ** 26, tempDirCount: 1, encodings: ['plain'] as const };
    const tuning = { inline: true, outputBytes: 4096, bufferBytes: 900, pileCount: 3 };
    const inputs = [Buffer.from(`a\n${'long '.repeat(3000)}\nb\n`)];
    await expectDraws({ inputs, seed: '3', headCount: 300, settings: { ...settings, tuning } });
    await expectDraws({
      inputs: [Buffer.from('alone\n')],
      seed: '3',
      headCount: 5000,
      settings: { ...settings, tuning },
    });
  });
});

describe('an output without end', () => {
  it.runIf(fromCi)('is that of any length, until its reader leaves', async () => {
    const path = directory.path('lines');
    writeFileSync(path, Array.from({ length: 3000 }, (_, i) => `${i}\n`).join(''));
    // More than two batches.
    const count = '2300000';
    const words = ['-q', '--seed', '1', '-S', '64M', '-r', path];
    const endless = await runShell(`"$@" | head -n ${count} | md5sum; exit "\${PIPESTATUS[0]}"`, words);
    expect(endless).toMatchObject({ exitCode: 141, stderr: '' });
    const bounded = await runShell('"$@" | md5sum', [...words, '-n', count]);
    expect(endless.stdout).toEqual(bounded.stdout);
  });
});

describe('inputs that do not fit in memory', () => {
  const tooLarge =
    /^`repeat` draws from records in memory, which it holds twice, and these do not fit; give at least (\d+)M with `memoryBytes`, or leave out `repeat`: then no record comes twice$/;
  const text = Array.from({ length: 200_000 }, (_, i) => `${i} ${'x'.repeat(i % 200)}\n`).join('');

  it.each(sampled(['plain', 'gz'], 2))('are refused, with a budget that suffices: %s', async (name) => {
    const path = directory.path(name);
    writeFileSync(path, name === 'gz' ? gzipSync(text) : text);
    const job = { inputs: [path], output: directory.path('out'), seed: '1', headCount: 9, repeat: true };
    const refused = await shuffle({ ...job, memoryBytes: 2 ** 25, tempDirs: [directory.temp] }).catch((error) => error);
    expect(refused).toMatchObject({
      kind: 'usage',
      code: 'ERR_MEMORY_BUDGET',
      message: expect.stringMatching(tooLarge),
    });
    expect(readdirSync(directory.path('.')).toSorted()).toEqual([name, 'temp']);
    const [, enough] = tooLarge.exec(refused.message) ?? [];
    await shuffle({ ...job, memoryBytes: Number(enough) * 2 ** 20 });
  });
});

describe('draws are refused', () => {
  it('from inputs without records', async () => {
    const path = directory.path('empty');
    writeFileSync(path, '');
    const job = { inputs: [path], output: directory.path('out'), headCount: 1, repeat: true };
    await expect(shuffle(job)).rejects.toMatchObject({ code: 'ERR_INPUT_EMPTY' });
    await shuffle({ ...job, headCount: 0 });
    const tight = { ...job, memoryBytes: 2 ** 25 - 1 };
    await expect(shuffle({ ...tight, force: true })).rejects.toThrow(/too small for `repeat`: expected at least 32M/);
    expect(readFileSync(directory.path('out'), 'latin1')).toBe('');
  });
});
