/**
 * Jobs of random options, sizes and formats one after the other in one process. Each is checked with tools
 * that have nothing to do with pileshuf: the sorted records of the inputs are the sorted records of the
 * output. In the end no file is open that was not at the beginning, and memory has not grown.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ShardRule, shuffle } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { anyInputs, largeInputs, makeLargeInputs } from '../laws/any-inputs.js';
import { anySettings, type Encoding, tightSettings } from '../laws/any-settings.js';

const smallJob = fc.record({ inputs: anyInputs, settings: anySettings, zeroTerminated: fc.boolean() });
const largeJob = fc
  .record({ inputs: largeInputs.map(makeLargeInputs), settings: tightSettings, zeroTerminated: fc.boolean() })
  .map((job) => (job.zeroTerminated ? { ...job, inputs: job.inputs.map(asZeroTerminated) } : job));

function asZeroTerminated(lines: Buffer): Buffer {
  return Buffer.from(lines.toString('latin1').replaceAll('\n', '\0'), 'latin1');
}

/** Coarse enough for the large inputs, and above their longest record. */
const shardRule: fc.Arbitrary<ShardRule | undefined> = fc.option(
  fc.oneof(
    fc.integer({ min: 1, max: 12 }).map((shardCount) => ({ by: 'count' as const, shardCount })),
    fc.integer({ min: 300, max: 3000 }).map((recordsPerShard) => ({ by: 'records' as const, recordsPerShard })),
    fc.integer({ min: 40_000, max: 100_000 }).map((maxShardBytes) => ({ by: 'bytes' as const, maxShardBytes })),
  ),
  { nil: undefined },
);

const anyJob = fc
  .record({
    work: fc.oneof(smallJob, largeJob),
    onThreads: fc.boolean(),
    shards: shardRule,
    resume: fc.boolean(),
    seed: fc.string(),
  })
  .map(({ work, ...others }) => ({ ...work, ...others }));

type SoakJob = typeof anyJob extends fc.Arbitrary<infer Job> ? Job : never;

const SEED = 20_260_131;
/** Until then threads, code and pools of memory are met for the first time. */
const WARM_UP_JOBS = 20;
const MIB = 2 ** 20;
/** What the collector and the allocator may keep or not. */
const MARGIN_BYTES = 64 * MIB;

export function testSoak(jobCount: number): void {
  const directory = useTestDirectory();

  function encode(bytes: Buffer, encoding: Encoding): Buffer {
    if (encoding === 'plain') return bytes;
    const half = bytes.byteLength >> 1;
    const members = encoding === 'gzip' ? [bytes] : [bytes.subarray(0, half), bytes.subarray(half)];
    return Buffer.concat(members.map((member) => gzipSync(member, { level: 1 })));
  }

  /** Sorted records of all files in a directory, compared with those of another one. */
  function compareSorted(a: string, b: string, zeroTerminated: boolean): void {
    const sorted = `find "$1" -type f -print0 | sort -z | xargs -0r sort ${zeroTerminated ? '-z' : ''}`;
    const script = `set -o pipefail; one() { ${sorted}; }; cmp <(one "$1") <(one "$2")`;
    execFileSync('bash', ['-c', script, 'bash', a, b], { env: { ...process.env, LC_ALL: 'C' }, stdio: 'pipe' });
  }

  async function runJob(job: SoakJob): Promise<void> {
    const { settings, zeroTerminated, shards, seed, onThreads, resume } = job;
    for (const name of ['in', 'plain', 'out']) {
      rmSync(directory.path(name), { recursive: true, force: true });
      mkdirSync(directory.path(name));
    }
    const inputs = job.inputs.map((bytes, i) => {
      writeFileSync(directory.path('plain', String(i)), bytes);
      const path = directory.path('in', String(i));
      writeFileSync(path, encode(bytes, settings.encodings[i % settings.encodings.length] ?? 'plain'));
      return path;
    });
    const tempDirs = Array.from({ length: settings.tempDirCount }, (_, i) => directory.path('temp', String(i)));
    for (const path of tempDirs) mkdirSync(path, { recursive: true });
    const output = directory.path('out', 'shuffled');
    const { workers, memoryBytes } = settings;
    await shuffle(
      { inputs, output, shards, seed, zeroTerminated, tempDirs, workers, memoryBytes, resume },
      { ...settings.tuning, inline: !onThreads },
    );
    expect(tempDirs.flatMap((path) => readdirSync(path))).toEqual([]);
    for (const path of tempDirs) rmSync(path, { recursive: true });
    expect(readdirSync(directory.path('out'))).toEqual(['shuffled']);
    compareSorted(directory.path('plain'), directory.path('out'), zeroTerminated);
  }

  it(`${jobCount} jobs end well, and leave the process as it was`, { timeout: 3_600_000 }, async () => {
    const jobs = fc.sample(anyJob, { numRuns: jobCount, seed: SEED });
    const [first] = jobs;
    if (first === undefined) throw new RangeError('there is no job');
    await runJob(first);
    const openBefore = countOpenFiles();
    let residentAfterWarmUp = 0;
    for (const [i, job] of jobs.entries()) {
      await runJob(job).catch((error: unknown) => {
        const { inputs, ...options } = job;
        throw new Error(`job ${i} with ${inputs.length} inputs and ${JSON.stringify(options)}: ${error}`, {
          cause: error,
        });
      });
      if (i + 1 === WARM_UP_JOBS) residentAfterWarmUp = measureResidentBytes();
    }
    expect(countOpenFiles()).toBe(openBefore);
    const grownBytes = measureResidentBytes() - residentAfterWarmUp;
    if (jobCount > 100) console.info(`memory after ${jobCount} jobs: ${Math.round(grownBytes / MIB)} MiB more`);
    expect(grownBytes).toBeLessThan(MARGIN_BYTES);
  });
}

function countOpenFiles(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}

/** What stays when all that can be collected has been. */
function measureResidentBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  for (let i = 0; i < 3; i++) if (typeof collect === 'function') collect();
  return process.memoryUsage.rss();
}
