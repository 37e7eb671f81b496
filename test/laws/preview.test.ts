/**
 * What a preview says of a job holds for the job: its piles, slices, workers, and its bytes of temp data and output, exactly
 * where samples are not needed, else within the limits that were told. And a preview changes nothing.
 */
import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type Expected,
  type JobProfile,
  previewShuffle,
  type ShuffleOptions,
  type ShufflePreview,
  type ShuffleReport,
  shuffle,
  type Tuning,
} from '#src/index.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const JOBS = atScale(2, 10, 20);
const MIB = 2 ** 20;

interface AnyJob {
  readonly files: readonly { readonly lines: number; readonly gzips: boolean; readonly endsOpen: boolean }[];
  readonly lineBytes: number;
  readonly varies: boolean;
  readonly memoryMib: number;
  readonly mode: Mode;
  readonly tuning: Partial<Tuning>;
}

const MODES = ['all', 'all', 'head', 'unique', 'shards', 'weights', 'splits', 'draws', 'packed', 'encoded'] as const;
type Mode = (typeof MODES)[number] | 'kept';

const anyJobOf = (modes: readonly Mode[]): fc.Arbitrary<AnyJob> =>
  fc.record({
    files: fc.array(
      fc.record({ lines: fc.integer({ min: 0, max: 5000 }), gzips: fc.boolean(), endsOpen: fc.boolean() }),
      { minLength: 1, maxLength: 5 },
    ),
    lineBytes: fc.integer({ min: 5, max: 200 }),
    varies: fc.boolean(),
    memoryMib: fc.constantFrom(8, 16, 64),
    mode: fc.constantFrom(...modes),
    tuning: fc.constantFrom({}, { inline: false }, { mayUseRamPool: false }, { inline: false, mayUseRamPool: false }),
  });

/** Lines that differ, of one length or of many. */
function textOf(file: number, { lines, endsOpen }: AnyJob['files'][number], { lineBytes, varies }: AnyJob): string {
  const line = (i: number) => {
    const width = varies ? 1 + ((i * 7919) % (2 * lineBytes)) : lineBytes;
    return `${file} ${String(i).padStart(5, '0')} `.padEnd(8 + width, 'xyz');
  };
  const text = Array.from({ length: lines }, (_, i) => line(i)).join('\n');
  return lines === 0 || endsOpen ? text : `${text}\n`;
}

const OPTIONS: Readonly<Record<Mode, (inputs: readonly string[]) => Partial<ShuffleOptions>>> = {
  all: () => ({}),
  head: () => ({ headCount: 500 }),
  unique: () => ({ unique: true }),
  shards: () => ({ shards: { by: 'count', shardCount: 3 } }),
  weights: ([first = '']) => ({ weights: [{ glob: first, factor: '2.5' }] }),
  splits: () => ({
    splits: [
      { name: 'a', share: 0.8 },
      { name: 'b', share: 0.2 },
    ],
  }),
  // Each record is scattered twice.
  kept: ([first = '']) => ({ unique: true, weights: [{ glob: first, factor: '2.5' }] }),
  draws: () => ({ repeat: true, headCount: 700 }),
  packed: () => ({ tempCompress: { codec: 'zstd' } }),
  encoded: () => ({ compress: { codec: 'gzip', level: 1 } }),
};

function listing(path: string): string[] {
  const stat = lstatSync(path, { bigint: true });
  const own = `${path} ${stat.size} ${stat.mtimeNs} ${stat.mode}`;
  return stat.isDirectory() ? [own, ...readdirSync(path).flatMap((name) => listing(join(path, name)))] : [own];
}

/** Limits hold in about 95 of 100 cases. */
const holds = (told: Expected | undefined, truth: number, margin: number) =>
  told !== undefined && told.least * (1 - margin) <= truth && truth <= told.most * (1 + margin);

function requireTrue(told: ShufflePreview, report: ShuffleReport, profile: JobProfile, { mode, files }: AnyJob) {
  expect(told.workers).toBe(report.workers);
  expect(told.slices).toBe(profile.tasks.filter(({ kind }) => kind === 'scatter').length);
  if (mode !== 'draws') expect(told.piles.count).toBe(report.piles);
  const { pass1, pass2, budgetBytes } = told.memory;
  for (const parts of [pass1, pass2])
    expect(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)).toBe(budgetBytes);

  const isPlain = files.every(({ gzips }) => !gzips);
  const margin = isPlain ? 0 : 0.05;
  const told2 = { records: told.output.records, bytes: told.output.recordBytes, temp: told.temp.bytes };
  const truth = { records: report.records, bytes: report.bytes, temp: report.tempBytes };
  expect({ ...told2, truth }).toSatisfy(({ records }) => holds(records, report.records, margin));
  expect({ ...told2, truth }).toSatisfy(({ bytes }) => holds(bytes, report.bytes, margin));
  if (mode !== 'packed') expect({ ...told2, truth }).toSatisfy(({ temp }) => holds(temp, report.tempBytes, margin));
  if (!isPlain || !['all', 'shards', 'splits', 'encoded'].includes(mode)) return;
  expect(told2).toEqual({
    records: exactly(report.records),
    bytes: exactly(report.bytes),
    temp: exactly(report.tempBytes),
  });
}

const exactly = (value: number) => ({ least: value, expected: value, most: value });

it.each<[string, readonly Mode[], number]>([
  ['a job', MODES, JOBS],
  ['a job of two scatters', ['kept'], atScale(1, 4, 10)],
])('what a preview says of %s holds, and it changes nothing', async (_, modes, jobs) => {
  let number = 0;
  let inPiles = 0;
  await fc.assert(
    fc.asyncProperty(anyJobOf(modes), async (job) => {
      number += 1;
      const inputs = job.files.map((file, i) => {
        const path = directory.path(`in-${modes.length}-${number}-${i}${file.gzips ? '.gz' : ''}`);
        // What an empty gzip file holds cannot be seen in its size.
        const text = textOf(i, file.gzips ? { ...file, lines: file.lines + 100 } : file, job);
        writeFileSync(path, file.gzips ? gzipSync(text) : text);
        return path;
      });
      const options = {
        inputs,
        output: directory.path(`out-${modes.length}-${number}`),
        seed: String(number),
        // Draws with replacement need 32 MiB.
        memoryBytes: (job.mode === 'draws' ? 64 : job.memoryMib) * MIB,
        workers: 2,
        tempDirs: [directory.temp],
        ...OPTIONS[job.mode](inputs),
      };
      const before = listing(directory.path());
      const told = await previewShuffle(options, job.tuning);
      expect(listing(directory.path())).toEqual(before);
      let profile: JobProfile | undefined;
      const onProfile = (measured: JobProfile) => {
        profile = measured;
      };
      if (job.mode === 'draws' && job.files.every(({ lines }) => lines === 0)) return;
      const report = await shuffle({ ...options, onProfile }, job.tuning);
      if (profile === undefined) return expect.fail('the job has no profile');
      requireTrue(told, report, profile, job);
      inPiles += report.tempBytes > 0 ? 1 : 0;
    }),
    { numRuns: jobs },
  );
  if (modes === MODES) expect(inPiles).toBeGreaterThan(jobs / 5);
});
