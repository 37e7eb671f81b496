/**
 * The report of a job, field by field: of a job on disk with threads, of a job in memory on the calling thread, and of
 * a job that writes shards.
 */
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle, type Tuning } from '#src/index.js';
import { OUTPUT_BYTES, SMALL_SIZES, SORTED_OUTPUT, writeInputs } from '../faults/small-job.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { checksumOf } from '../workers/kernel/kernel-twin.js';

const directory = useTestDirectory();

/** The text ends with a newline, behind which there is no record. */
const RECORDS = SORTED_OUTPUT.slice(1).map((line) => Buffer.from(`${line}\n`, 'latin1'));
const CHECKSUM = checksumOf(RECORDS.map((bytes) => ({ key: 0n, bytes })));
/** Pile data has a key and a length before each record. */
const STORED_BYTES = OUTPUT_BYTES + 12 * RECORDS.length;

async function reportOf(options: Partial<ShuffleOptions>, tuning: Tuning): Promise<ShuffleReport> {
  const job = { inputs: writeInputs(directory), tempDirs: [directory.temp], memoryBytes: 2 ** 26, workers: 2 };
  const report = await shuffle({ ...job, output: directory.path('out'), seed: 'any', ...options }, tuning);
  const { total, ...phases } = report.seconds;
  for (const seconds of Object.values(phases)) expect(seconds).toBeGreaterThanOrEqual(0);
  // They follow one another; the job does more than these.
  expect(Object.values(phases).reduce((sum, seconds) => sum + seconds, 0)).toBeLessThanOrEqual(total);
  expect(report.output).toBe(directory.path('out'));
  expect(report.peakMemoryBytes).toBeGreaterThan(2 ** 24);
  return report;
}

const SAME_FOR_ALL = {
  records: RECORDS.length,
  bytes: OUTPUT_BYTES,
  seed: 'any',
  checksum: CHECKSUM.toString(16).padStart(16, '0'),
  seconds: {
    total: expect.any(Number),
    pass1: expect.any(Number),
    pass2: expect.any(Number),
    commit: expect.any(Number),
  },
  output: expect.any(String),
  peakMemoryBytes: expect.any(Number),
  inputCount: 2,
  decoders: {},
};

const ON_DISK: Tuning = { ...SMALL_SIZES, pileCount: 5, mayUseRamPool: false, inline: false, pass2ArenaBytes: 2 ** 22 };

describe('the report', () => {
  it('of a job on disk', async () => {
    expect(await reportOf({}, ON_DISK)).toEqual({
      ...SAME_FOR_ALL,
      workers: 2,
      piles: 5,
      tempBytes: STORED_BYTES,
      shards: [],
    });
  });

  it('of a job in memory, with the sizes that the plan chooses', async () => {
    expect(await reportOf({}, {})).toEqual({ ...SAME_FOR_ALL, workers: 1, piles: 1, tempBytes: 0, shards: [] });
  });

  it('of nothing', async () => {
    const report = await reportOf({ inputs: [{ path: '/dev/null' }] }, { ...ON_DISK, inline: true });
    expect(report).toEqual({
      ...SAME_FOR_ALL,
      records: 0,
      bytes: 0,
      checksum: '0'.repeat(16),
      inputCount: 1,
      workers: 1,
      piles: 5,
      tempBytes: 0,
      shards: [],
    });
  });
});
