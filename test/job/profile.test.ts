/** The profiles of whole jobs: each phase counts in its pass, and all phases add up. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type JobProfile, type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { SMALL_SIZES } from '../faults/small-job.js';
import { column, writeParquet } from '../fixtures/parquet/parquet-file.ts';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const LINES = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join('');

function inputFile(name: string, content: string | Buffer): string {
  const path = directory.path(name);
  writeFileSync(path, content);
  return path;
}

async function profileOf(options: Partial<ShuffleOptions>, tuning: Tuning): Promise<JobProfile> {
  let profile: JobProfile | undefined;
  await shuffle(
    {
      inputs: [inputFile('in', LINES)],
      output: directory.path('out'),
      tempDirs: [directory.temp],
      memoryBytes: 2 ** 26,
      workers: 2,
      ...options,
      onProfile: (told) => {
        profile = told;
      },
    },
    tuning,
  );
  if (profile === undefined) throw new Error('nothing was told');
  return profile;
}

const phasesOf = (seconds: object) =>
  // Whether there is a gate depends on the disk.
  Object.entries(seconds).flatMap(([phase, spent]) =>
    spent > 0 && !['other', 'idle', 'gate'].includes(phase) ? [phase] : [],
  );

const ON_DISK: Tuning = { ...SMALL_SIZES, pileCount: 5, mayUseRamPool: false, inline: false, pass2ArenaBytes: 2 ** 22 };

describe('a profile', () => {
  it('tells every phase of a job on disk', async () => {
    const profile = await profileOf({}, ON_DISK);
    expect(phasesOf(profile.pass1).toSorted()).toEqual(['hash', 'read', 'scan', 'scatter', 'write']);
    expect(phasesOf(profile.pass2).toSorted()).toEqual(['gather', 'hash', 'load', 'sort', 'write']);
    expect(profile).toMatchObject({ workers: 2, records: 20_000, bytes: LINES.length });
    for (const seconds of Object.values(profile.seconds)) expect(seconds).toBeGreaterThanOrEqual(0);
  });

  it('tells the work on columns of a table from that on rows', async () => {
    const words = column('words', 'BYTE_ARRAY', (i) => `line ${i}`);
    const input = writeParquet(directory.path('in.parquet'), { rows: 20_000, columns: [words] });
    const profile = await profileOf(
      { inputs: [input], output: directory.path('out.parquet'), parquetCodec: { codec: 'gzip' } },
      ON_DISK,
    );
    const ofColumns = new Set(['decompress', 'decode', 'transpose', 'gather', 'encode', 'compress']);
    expect(phasesOf(profile.pass1).filter((phase) => ofColumns.has(phase))).toEqual([
      'decompress',
      'decode',
      'transpose',
    ]);
    expect(phasesOf(profile.pass2).filter((phase) => ofColumns.has(phase))).toEqual([
      'transpose',
      'gather',
      'encode',
      'compress',
    ]);
  });

  it('counts in pass 2 what cuts the output by bytes', async () => {
    const inputs = [inputFile('long', `${'x'.repeat(999)}\n`.repeat(100))];
    const profile = await profileOf({ inputs, shards: { by: 'bytes', maxShardBytes: 10_000 } }, ON_DISK);
    const { prepare, pass1, between } = profile.seconds;
    const measured = profile.tasks.filter(({ kind }) => kind === 'measure');
    expect(measured).not.toEqual([]);
    for (const { beganSeconds } of measured) expect(beganSeconds).toBeGreaterThanOrEqual(prepare + pass1 + between);
  });

  it.runIf(fromCi)('tells of decompressing, of compressing, and of counting', async () => {
    const inputs = [inputFile('in.gz', gzipSync(LINES))];
    const { pass1, pass2 } = await profileOf({ inputs, compress: { codec: 'gzip' } }, ON_DISK);
    expect(phasesOf(pass1)).toContain('decompress');
    expect(phasesOf(pass2)).toContain('compress');

    const counted = await profileOf(
      { records: { by: 'lines', linesPerRecord: 2 }, force: true, compress: 'none' },
      { ...ON_DISK, sliceBytes: 2 ** 16 },
    );
    expect(counted.tasks.map(({ kind }) => kind)).toContain('count');
  });
});
