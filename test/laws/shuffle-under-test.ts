/**
 * One job of the law tests: writes the inputs as the settings say, calls the library, checks the report, and checks
 * that the temp directories are empty.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle } from '#src/index.js';
import { shownNames } from '../fixtures/shown-names.js';
import type { TestDirectory } from '../fixtures/temp-directory.js';
import { checksumOf } from '../workers/kernel/kernel-twin.js';
import type { Settings } from './any-settings.js';
import { encode } from './encodings.js';

export interface Job extends Omit<Partial<ShuffleOptions>, 'inputs' | 'inputIds' | 'output'> {
  readonly inputs: readonly Buffer[];
  readonly inputIds?: readonly string[] | undefined;
  readonly seed: string;
  /** The weight of each input, as a decimal number. */
  readonly factors?: readonly string[];
  readonly settings: Settings;
}

async function run(directory: TestDirectory, job: Job, output: string): Promise<ShuffleReport> {
  const { inputs: contents, settings, factors, ...options } = job;
  const inputs = contents.map((bytes, i) => {
    const path = directory.path(`in-${i}`);
    writeFileSync(path, encode(bytes, settings.encodings[i % settings.encodings.length] ?? 'plain'));
    return path;
  });
  const tempDirs = Array.from({ length: settings.tempDirCount }, (_, i) => directory.path('temp', String(i)));
  for (const path of tempDirs) mkdirSync(path, { recursive: true });
  const { memoryBytes, workers, tempCompress, tuning } = settings;
  const weights = factors?.map((factor, i) => ({ glob: `in-${i}`, factor }));
  // Drawn bytes may look like a file that holds no lines.
  const records = options.records ?? (options.zeroTerminated === true ? undefined : ({ by: 'lines' } as const));
  const asked = {
    ...options,
    records,
    inputs,
    output,
    weights,
    tempDirs,
    memoryBytes,
    workers,
    tempCompress,
    force: true,
  };
  const requireEmpty = () => {
    expect(tempDirs.flatMap((path) => readdirSync(path))).toEqual([]);
    for (const path of tempDirs) rmSync(path, { recursive: true });
  };
  // A job that is refused leaves nothing behind, too.
  const report = await shuffle(asked, tuning).finally(requireEmpty);
  expect(report).toMatchObject({ seed: job.seed, inputCount: inputs.length });
  return report;
}

/** Checks the report against the records that were to come out. */
export function expectReport(report: ShuffleReport, records: readonly Buffer[]): void {
  const checksum = checksumOf(records.map((bytes) => ({ key: 0n, bytes })));
  expect(report).toMatchObject({
    records: records.length,
    bytes: records.reduce((sum, { byteLength }) => sum + byteLength, 0),
    checksum: checksum.toString(16).padStart(16, '0'),
  });
}

/** The bytes of the one output. */
export async function shuffleToFile(directory: TestDirectory, job: Job, output = directory.path('out')) {
  const report = await run(directory, job, output);
  expect(report.shards).toEqual([]);
  return { report, bytes: readFileSync(output) };
}

/** The bytes of each shard, in order. */
export async function shuffleToShards(directory: TestDirectory, job: Job, rule: ShuffleOptions['shards']) {
  const output = directory.path('shards');
  const report = await run(directory, { ...job, shards: rule }, output);
  const shards = report.shards.map((path) => readFileSync(path));
  expect(shownNames(output)).toHaveLength(shards.length);
  rmSync(output, { recursive: true });
  return { report, shards };
}
