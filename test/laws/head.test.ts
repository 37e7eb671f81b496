/**
 * The law of the head: with `headCount`, the output is the first records of the whole order, for any settings, in every
 * format, in one file and in shards, from files and from streams, whatever pass 1 has left out and whatever the plan
 * expected.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anyInputs, largeInputs, makeLargeInputs } from './any-inputs.js';
import { anySettings, tightOnThreads } from './any-settings.js';
import { referenceOrder } from './reference-order.js';
import { expectReport, type Job, shuffleToFile } from './shuffle-under-test.js';

const directory = useMemoryDirectory();
const pipeOf = useFedPipes(directory);

async function expectHead(job: Job & { readonly headCount: number }): Promise<void> {
  const { bytes, report } = await shuffleToFile(directory, job);
  const ordered = referenceOrder(job.inputs, job.seed);
  const head = ordered.slice(0, job.headCount);
  const rest = ordered.slice(job.headCount);
  expect(bytes.equals(Buffer.concat(head))).toBe(true);
  expectReport(report, head);
  // With no record asked for, nothing is read.
  const left = job.headCount === 0 ? [] : rest;
  expect(report.leftOut).toEqual({ records: left.length, bytes: Buffer.concat(left).byteLength });
}

describe('the head', () => {
  it('is the beginning of the order, whatever the settings', async () => {
    const headCount = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 5, max: 120 }));
    const job = fc.record({ inputs: anyInputs, seed: fc.string(), headCount, settings: anySettings });
    await fc.assert(fc.asyncProperty(job, expectHead), { numRuns: atScale(6, 30, 3000) });
  });

  it('is the beginning of the order where piles are scattered again, and on worker threads', async () => {
    const part = fc.double({ min: 0, max: 1.1, noNaN: true });
    await fc.assert(
      fc.asyncProperty(largeInputs, part, fc.string(), tightOnThreads, (large, ofLines, seed, ofJob) =>
        expectHead({
          inputs: makeLargeInputs(large),
          headCount: Math.floor(ofLines ** 3 * large.lines),
          seed,
          settings: ofJob,
        }),
      ),
      { numRuns: atScale(2, 4, 400) },
    );
  });
});

it('without a record is refused if the header of a later stream is another one', async () => {
  const inputs = ['h\na\n', 'k\na\n'].map((text, i) => {
    const path = directory.path(`in-${i}`);
    writeFileSync(path, text);
    return pipeOf(path);
  });
  await expect(shuffle({ inputs, header: { lines: 1 }, headCount: 0, output: directory.path('out') })).rejects.toThrow(
    /pipe-1: byte 0 of its header differs from that of .*pipe-0: expected "h\\n", got "k\\n"$/,
  );
});

const LINES = Array.from({ length: 60_000 }, (_, i) => `${i}\n`).join('');
let ordered: readonly Buffer[] | undefined;

/** Runs a job of 60,000 lines on the calling thread. @returns its report. */
async function headOf(headCount: number, options: Partial<ShuffleOptions> = {}, tuning: Tuning = {}) {
  const path = directory.path('lines');
  writeFileSync(path, LINES);
  const output = directory.path('head');
  const seed = 'head';
  const report = await shuffle(
    { inputs: [path], output, seed, headCount, force: true, ...options },
    { inline: true, sliceBytes: 40_000, ...tuning },
  );
  ordered ??= referenceOrder([Buffer.from(LINES)], seed);
  const expected = ordered.slice(0, headCount);
  expect(readFileSync(output).equals(Buffer.concat(expected))).toBe(true);
  return report;
}

describe('what cannot be among the head', () => {
  it('is left out in pass 1, and takes no temp space', async () => {
    const all = await headOf(60_000, {}, { mayUseRamPool: false });
    const few = await headOf(100, {}, { mayUseRamPool: false });
    expect(few).toMatchObject({ records: 100, leftOut: { records: 59_900 } });
    expect(few.tempBytes).toBeLessThan(all.tempBytes / 30);
    expect(few.tempBytes).toBeGreaterThan(0);
  });

  it('is left out, too, where the piles share the keys of a small part of the records', async () => {
    const report = await headOf(
      1000,
      {},
      { mayUseRamPool: false, pileCount: 7, bufferBytes: 900, pass2ArenaBytes: 2 ** 16 },
    );
    expect(report).toMatchObject({ records: 1000, piles: 7, leftOut: { records: 59_000 } });
  });
});

describe('an input that has far fewer records than its samples promise', () => {
  it.runIf(fromCi)('is read again', async () => {
    // The samples see short lines; nearly all bytes are in long ones.
    const short = directory.path('short');
    const long = directory.path('long');
    writeFileSync(short, '1\n'.repeat(100));
    writeFileSync(long, `${'x'.repeat(2 ** 20 - 1)}\n`.repeat(60));
    const inputs = [...Array<string>(200).fill(short), long];
    const output = directory.path('head');
    const report = await shuffle({ inputs, output, seed: '1', headCount: 20, workers: 2, memoryBytes: 2 ** 28 });
    expect(report.records).toBe(20);
    expect(report.leftOut?.records).toBe(200 * 100 + 60 - 20);
  });
});
