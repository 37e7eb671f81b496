/**
 * The law of unique records: with `unique`, the output has each record once, in the order of its content, for any settings,
 * in every format, in one file, in shards and as a stream, however the records are spread over inputs.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anyInputs } from './any-inputs.js';
import { anySettings, type Settings, tightOnThreads } from './any-settings.js';
import { recordsOf, uniqueOrder } from './reference-order.js';
import { expectReport, type Job, shuffleToFile } from './shuffle-under-test.js';

const directory = useMemoryDirectory();

const bytesOf = (records: readonly Buffer[]) => records.reduce((sum, { byteLength }) => sum + byteLength, 0);
const recordsIn = (inputs: readonly Buffer[]) => inputs.flatMap((input) => recordsOf(input, 0x0a));

async function expectUnique(job: Job): Promise<void> {
  const { bytes, report } = await shuffleToFile(directory, { ...job, unique: true });
  const all = recordsIn(job.inputs);
  const unique = uniqueOrder(all, job.seed);
  const expected = unique.slice(0, job.headCount);
  expect(bytes.equals(Buffer.concat(expected))).toBe(true);
  expectReport(report, expected);
  const isRead = job.headCount !== 0;
  expect(report.duplicates).toEqual({
    records: isRead ? all.length - unique.length : 0,
    bytes: isRead ? bytesOf(all) - bytesOf(unique) : 0,
  });
  if (job.headCount === undefined) expect(report.leftOut).toBe(undefined);
  else if (isRead) expect(report.leftOut?.records).toBe(unique.length - expected.length);
}

/** Lines of which some come very often, and some once; a few words when it fails. */
interface Skewed {
  readonly lines: number;
  readonly different: number;
  readonly longest: number;
  readonly often: number;
}

const skewed: fc.Arbitrary<Skewed> = fc.record({
  lines: fc.integer({ min: 3000, max: 12_000 }),
  different: fc.integer({ min: 1, max: 12_000 }),
  longest: fc.integer({ min: 1, max: 80 }),
  often: fc.double({ min: 0, max: 1, noNaN: true }),
});

function makeSkewed({ lines, different, longest, often }: Skewed): Buffer[] {
  const line = (i: number) => {
    const draw = (Math.imul(i, 0x9e3779b1) >>> 8) / 2 ** 24;
    const which = draw < often ? i % 3 : Math.floor(draw * different);
    return `${which.toString(36)} ${'x'.repeat((Math.imul(which, 0x85ebca6b) >>> 8) % longest)}\n`;
  };
  const linesOf = (first: number, end: number) =>
    Buffer.from(Array.from({ length: end - first }, (_, i) => line(first + i)).join(''));
  return [linesOf(0, Math.floor(lines / 3)), linesOf(Math.floor(lines / 3), lines)];
}

const PLAIN: Settings = { workers: 1, memoryBytes: 2 ** 26, tempDirCount: 1, encodings: ['plain'], tuning: {} };

describe('unique records', () => {
  it('are those of the order of their content, whatever the settings', async () => {
    const inputs = anyInputs.map((each) => [...each, ...each.slice(0, 1)]);
    const headCount = fc.option(fc.nat({ max: 30 }), { nil: undefined, freq: 3 });
    const job = fc.record({ inputs, seed: fc.string(), headCount, settings: anySettings });
    await fc.assert(fc.asyncProperty(job, expectUnique), { numRuns: atScale(6, 25, 3000) });
  });

  it('are the same where piles are too large, with many equal records, and on worker threads', async () => {
    const headCount = fc.option(fc.nat({ max: 3000 }), { nil: undefined, freq: 3 });
    await fc.assert(
      fc.asyncProperty(skewed, fc.string(), headCount, tightOnThreads, (lines, seed, count, ofJob) =>
        expectUnique({ inputs: makeSkewed(lines), seed, headCount: count, settings: ofJob }),
      ),
      { numRuns: atScale(1, 4, 600) },
    );
  });

  it('do not depend on how records are spread over inputs, or on how often they come', async () => {
    const spread = fc.tuple(
      fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 400 }),
      fc.integer({ min: 1, max: 7 }),
    );
    const lines = Array.from({ length: 90 }, (_, i) => `line ${i} ${'.'.repeat(i)}\n`);
    const expected = Buffer.concat(
      uniqueOrder(
        lines.map((line) => Buffer.from(line)),
        'spread',
      ),
    );
    await fc.assert(
      fc.asyncProperty(spread, anySettings, async ([draws, inputCount], settings) => {
        const more = draws.map((draw, i) => lines[(i * (draw + 1)) % lines.length] ?? '');
        const all = [...more, ...lines.toReversed()];
        const inputs = Array.from({ length: inputCount }, (_, i) =>
          Buffer.from(all.filter((_line, at) => (at * 7) % inputCount === i).join('')),
        );
        const { bytes } = await shuffleToFile(directory, { inputs, seed: 'spread', unique: true, settings });
        expect(bytes.equals(expected)).toBe(true);
      }),
      { numRuns: atScale(1, 4, 500) },
    );
  });

  it('of which one comes very often need no more memory, temp space or time', async () => {
    const often = Buffer.from('the same line\n'.repeat(300_000));
    const few = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `another line ${i * 7919}\n`).join(''));
    const tuning = { inline: true, mayUseRamPool: false, pileCount: 3, bufferBytes: 2 ** 16, pass2ArenaBytes: 2 ** 18 };
    const path = directory.path('out');
    const job = { inputs: [often, few, often], seed: 'skew', unique: true, settings: { ...PLAIN, tuning } };
    const { bytes, report } = await shuffleToFile(directory, job, path);
    expect(bytes.equals(Buffer.concat(uniqueOrder(recordsIn([few, Buffer.from('the same line\n')]), 'skew')))).toBe(
      true,
    );
    expect(report.duplicates).toEqual({ records: 599_999, bytes: 599_999 * 14 });
    // Pass 1 keeps one a buffer: nearly all of what is written are the other lines.
    expect(report.tempBytes).toBeLessThan(4 * few.byteLength);
  });
});

describe('a pile with very many equal records', () => {
  const often = Buffer.from('the same line\n'.repeat(8000));
  const few = Buffer.from(Array.from({ length: 4000 }, (_, i) => `another ${i * 7919}\n`).join(''));
  /** Buffers in which no record lies as a whole: pass 1 drops none. */
  const tuning = {
    inline: true,
    mayUseRamPool: false,
    pileCount: 1,
    bufferBytes: 24,
    sliceBytes: 2 ** 17,
    stripeCount: 1,
    readBytes: 4096,
    outputBytes: 2048,
  };

  it.each([
    ['is reduced while it is read', few, 3 * 2 ** 17, 1],
    ['is scattered again if the others do not fit', few, 2 ** 16, 1.01],
  ])('%s', async (_, others, pass2ArenaBytes, leastRatio) => {
    const inputs = [often, others, often];
    const settings = { ...PLAIN, tuning: { ...tuning, pass2ArenaBytes } };
    const { bytes, report } = await shuffleToFile(directory, { inputs, seed: 'one', unique: true, settings });
    const all = recordsIn(inputs);
    expect(bytes.equals(Buffer.concat(uniqueOrder(all, 'one')))).toBe(true);
    const storedBytes = bytesOf(all) + 12 * all.length;
    expect(report.tempBytes / storedBytes).toBeGreaterThanOrEqual(leastRatio);
    if (leastRatio === 1) expect(report.tempBytes).toBe(storedBytes);
  });
});
