/** Compressed temp data: it is smaller, the output is the same, and the option may change when a job is resumed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { useTinyJobs } from '../faults/tiny-job.js';
import { makeTexts, type TinyJobKind } from '../faults/tiny-job-kinds.js';
import { fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { referenceOrder } from '../laws/reference-order.js';

const lines = Buffer.from(
  Array.from({ length: 20_000 }, (_, i) => `{"id": ${i}, "text": "the same again"}\n`).join(''),
);
const expected = Buffer.concat(referenceOrder([lines], 'temp'));
/** With its key and its length. */
const STORED_BYTES = lines.byteLength + 20_000 * 12;

const ON_DISK: Tuning = {
  pileCount: 5,
  bufferBytes: 50_000,
  sliceBytes: 300_000,
  stripeCount: 2,
  mayUseRamPool: false,
  inline: true,
};

describe('a job with tempCompress', () => {
  const directory = useMemoryDirectory();

  async function tempBytesOf(tempCompress: ShuffleOptions['tempCompress'], tuning: Tuning): Promise<number> {
    writeFileSync(directory.path('in'), lines);
    const output = directory.path('out');
    const options = { inputs: [directory.path('in')], output, seed: 'temp', force: true, workers: 2 };
    const memory = { tempDirs: [directory.temp], memoryBytes: 2 ** 26 };
    const { tempBytes } = await shuffle({ ...options, ...memory, tempCompress }, tuning);
    expect(readFileSync(output).equals(expected)).toBe(true);
    return tempBytes;
  }

  it.runIf(fromCi)('writes the same output through less temp data, on one thread and on several', async () => {
    expect(await tempBytesOf(undefined, ON_DISK)).toBe(STORED_BYTES);
    for (const inline of [true, false]) {
      const usual = await tempBytesOf({ codec: 'zstd' }, { ...ON_DISK, inline });
      expect(usual).toBeLessThan(STORED_BYTES / 2);
      expect(await tempBytesOf({ codec: 'zstd', level: 19 }, { ...ON_DISK, inline })).toBeLessThan(usual);
    }
  });

  it('has an effect on piles that are scattered again, too', async () => {
    const tuning = { ...ON_DISK, pileCount: 2, readBytes: 4096, outputBytes: 8192, pass2ArenaBytes: 2 ** 19 };
    const plain = await tempBytesOf(undefined, tuning);
    expect(plain).toBeGreaterThan(1.5 * STORED_BYTES);
    expect(await tempBytesOf({ codec: 'zstd' }, tuning)).toBeLessThan(plain / 2);
  });

  it('writes nothing to disk when the data fits the memory', async () => {
    expect(await tempBytesOf({ codec: 'zstd' }, {})).toBe(0);
  });
});

describe('a resumed job', () => {
  const jobs = useTinyJobs();
  const kind = (at: 'in pass 1' | 'in pass 2', tempCompress: TinyJobKind['tempCompress']): TinyJobKind => ({
    name: 'a job that was stopped',
    tuning: { ...ON_DISK, bufferBytes: 400, sliceBytes: 800, readBytes: 512, outputBytes: 1500 },
    resumable: true,
    before: { resumable: true, at },
    makeInputs: () => makeTexts([90, 60, 7]),
    tempCompress,
  });

  it.each([
    ['in pass 1', undefined, { codec: 'zstd' }],
    ['in pass 1', { codec: 'zstd' }, undefined],
    ['in pass 1', { codec: 'zstd' }, { codec: 'zstd', level: 22 }],
    ['in pass 2', undefined, { codec: 'zstd' }],
    ['in pass 2', { codec: 'zstd' }, undefined],
  ] as const)('stopped %s with %j, may do so with %j', async (at, then, now) => {
    const job = jobs.of(kind(at, then));
    const whole = await job.expectedContent();
    job.prepare();
    const report = await job.run({ resume: true, tempCompress: now });
    expect(report.resumed?.pileSets).toBeGreaterThan(0);
    expect(job.content()).toEqual(whole);
    expect(job.leftovers()).toEqual([]);
  });
});
