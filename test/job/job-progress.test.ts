/**
 * The progress reports of whole jobs: in each pass the bytes done start at 0, never fall, and end at the total, which
 * is the size of the stored inputs in pass 1 and the size of the output in pass 2.
 */
import { statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { UNGATED } from '#src/floor/job-control.js';
import { type ShuffleOptions, type ShuffleProgress, shuffle, type Tuning } from '#src/index.js';
import { DeviceGates } from '#src/machine/devices.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

const TEXT = Array.from({ length: 4000 }, (_, i) => `${i} ${'.'.repeat(i % 90)}\n`).join('');

/** A slice an input; records longer than a read. */
const SIZES: Tuning = { pileCount: 5, bufferBytes: 500, readBytes: 64, outputBytes: 700, sliceBytes: 150_000 };
const SCATTERED_AGAIN: Tuning = { ...SIZES, pileCount: 2, mayUseRamPool: false, pass2ArenaBytes: 80 * 1024 };

async function progressOf(inputs: readonly string[], tuning: Tuning, onReport?: (report: ShuffleProgress) => void) {
  const told: ShuffleProgress[] = [];
  const report = await shuffle(
    {
      inputs,
      output: directory.path('out'),
      tempDirs: [directory.temp],
      memoryBytes: 2 ** 26,
      workers: 2,
      onProgress: (progress) => {
        told.push(progress);
        onReport?.(progress);
      },
    },
    tuning,
  );
  return { told, report };
}

function expectPhase(told: readonly ShuffleProgress[], phase: string, done: number, total: number | undefined): void {
  const ofPhase = told.filter((progress) => progress.phase === phase);
  const bytesDone = ofPhase.map((progress) => progress.bytesDone);
  expect(bytesDone[0], phase).toBe(0);
  expect(bytesDone, phase).toEqual(bytesDone.toSorted((a, b) => a - b));
  expect(bytesDone.at(-1), phase).toBe(done);
  expect(new Set(ofPhase.map((progress) => progress.bytesTotal)), phase).toEqual(new Set([total]));
  const seconds = ofPhase.map((progress) => progress.phaseSeconds);
  expect(seconds, phase).toEqual(seconds.toSorted((a, b) => a - b));
}

function begunIn(told: readonly ShuffleProgress[]): string[] {
  return told.map(({ phase }) => phase).filter((phase, i, all) => phase !== all[i - 1]);
}

/** The phases one after the other, and the last two, which know the output. */
function expectPasses(told: readonly ShuffleProgress[], outputBytes: number): void {
  expect(begunIn(told)).toEqual(['scatter', 'shuffle', 'commit']);
  expectPhase(told, 'shuffle', outputBytes, outputBytes);
  expectPhase(told, 'commit', 0, undefined);
}

async function expectToTheEnd(encode: (text: string) => string | Buffer, tuning: Tuning): Promise<void> {
  const inputs = [TEXT, '', `${TEXT}the last one`].map((text, i) => {
    writeFileSync(directory.path(`in-${i}`), encode(text));
    return directory.path(`in-${i}`);
  });
  const storedBytes = inputs.reduce((sum, path) => sum + statSync(path).size, 0);
  const { told, report } = await progressOf(inputs, tuning);
  expectPhase(told, 'scatter', storedBytes, storedBytes);
  expect(report.bytes).toBe(2 * TEXT.length + 'the last one\n'.length);
  expectPasses(told, report.bytes);
}

describe('the progress of a job', () => {
  const encodings: Record<string, (text: string) => string | Buffer> = {
    plain: (text) => text,
    gzip: (text) => gzipSync(text),
    // Padding is stored, too.
    'gzip members': (text) => Buffer.concat([gzipSync(text.slice(0, 999)), gzipSync(text.slice(999)), Buffer.alloc(9)]),
  };

  const ways: Record<string, Tuning> = {
    inline: { ...SIZES, inline: true },
    'on threads': { ...SIZES, inline: false },
    'with sizes as planned': {},
    'on disk and scattered again': { ...SCATTERED_AGAIN, inline: true },
  };
  const cases = Object.keys(encodings).flatMap((encoding) => Object.keys(ways).map((way) => [encoding, way] as const));

  it.each(sampled(cases, 5, 1))('on %s files comes to the end of both passes, %s', async (encoding, way) => {
    await expectToTheEnd(encodings[encoding] ?? expect.fail(), ways[way] ?? {});
  });

  it.each(
    sampled(
      [
        ['plain', TEXT],
        ['gzip', gzipSync(TEXT)],
      ],
      2,
      1,
    ),
  )('follows a %s pipe while it flows, to an end that nobody knew', async (_, bytes) => {
    const pipe = await openBothEnds(makePipe(directory.path('pipe')));
    // What the pipe holds without a reader.
    const head = Math.min(Math.floor(bytes.length / 2), 30_000);
    const stored = Buffer.from(bytes);
    await pipe.writeFile(stored.subarray(0, head));
    // The rest is written when the first bytes were counted: a count that comes at the end alone never does.
    const written: Promise<void>[] = [];
    const { told, report } = await progressOf([directory.path('pipe')], SIZES, ({ phase, bytesDone }) => {
      if (phase !== 'scatter' || bytesDone !== head || written.length > 0) return;
      written.push(pipe.writeFile(stored.subarray(head)).then(() => pipe.close()));
    });
    await Promise.all(written);
    expect(written).toHaveLength(1);
    expectPhase(told, 'scatter', stored.byteLength, undefined);
    expect(report.bytes).toBe(TEXT.length);
    expectPasses(told, report.bytes);
  });
});

describe('between the passes', () => {
  const shards = { by: 'count', shardCount: 3 } as const;
  const casesOfCi: [string, Partial<ShuffleOptions>, string[]][] = [
    ['equal records are dropped from one output, which needs no measure', { unique: true }, []],
    ['equal records are dropped from shards', { unique: true, shards }, ['measure']],
    ['records are drawn', { repeat: true, headCount: 500 }, []],
  ];
  it.each<[string, Partial<ShuffleOptions>, string[]]>([
    ['records are drawn from those that stay', { unique: true, repeat: true, headCount: 500 }, ['measure']],
    ['copies are made of those that stay', { unique: true, weights: [{ glob: '**', factor: '1.5' }] }, ['measure']],
    ...(fromCi ? casesOfCi : []),
  ])('a phase of its own tells how far it is where %s', async (_, options, between) => {
    const inputs = [TEXT, TEXT].map((text, i) => {
      writeFileSync(directory.path(`in-${i}`), text);
      return directory.path(`in-${i}`);
    });
    const told: ShuffleProgress[] = [];
    await shuffle(
      {
        inputs,
        output: directory.path('out'),
        tempDirs: [directory.temp],
        memoryBytes: 2 ** 26,
        workers: 2,
        ...options,
        onProgress: (progress) => told.push(progress),
      },
      { ...SIZES, mayUseRamPool: false, inline: false },
    );
    const phases = ['scatter', ...between, 'shuffle', 'commit'];
    expect(begunIn(told)).toEqual(phases);
    for (const { phases: expected } of told) expect(expected.map(({ phase }) => phase)).toEqual(phases);
    if (between.includes('measure')) expectPhase(told, 'measure', 2 * TEXT.length, 2 * TEXT.length);
    // Before pass 1, nobody knows how many are equal.
    if (options.headCount === undefined)
      expect(told[0]?.phases).toContainEqual({
        phase: 'shuffle',
        bytes: 2 * TEXT.length * (options.weights === undefined ? 1 : 1.5),
      });
  });
});

it('each report tells what the job does on its disks, and its memory', async () => {
  writeFileSync(directory.path('plain'), TEXT);
  const { told, report } = await progressOf([directory.path('plain')], {
    ...SIZES,
    mayUseRamPool: false,
    inline: false,
  });
  // One disk holds the input, the temp data and the output. In memory, it has no gate.
  const { disks = [], memory } = told.at(-1) ?? {};
  for (const disk of disks) {
    expect(disk).toMatchObject({ name: expect.stringMatching(/./), callsUnderWay: 0 });
    expect(disk.callLimit).toBeGreaterThan(0);
    expect(disk.bytesRead).toBeGreaterThanOrEqual(report.bytes + report.tempBytes);
    expect(disk.bytesWritten).toBe(report.bytes + report.tempBytes);
  }
  expect(disks.length).toBe(isInMemory() ? 0 : 1);
  for (const { disks: each } of told) expect(each.map(({ name }) => name)).toEqual(disks.map(({ name }) => name));
  expect(memory?.residentBytes).toBeGreaterThan(2 ** 20);
  expect(memory?.budgetBytes).toBe(2 ** 26);
});

/** Whether the files of this test lie in memory. */
function isInMemory(): boolean {
  return new DeviceGates({}).gateOf(directory.path(), 'output') === UNGATED;
}

/** A pipe to write to, which the system opens without waiting for its reader. */
function openBothEnds(path: string) {
  return open(path, 'r+');
}
