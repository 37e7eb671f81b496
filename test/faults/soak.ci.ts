/**
 * Jobs on lines, with random options, sizes and compressions, one after the other in one process. Tools that share no
 * code with pileshuf check each output: its sorted records equal the sorted records of the inputs. At the end no more
 * files are open than at the beginning, and memory has not grown with the number of jobs.
 */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AbortError, type OutputCompression, type ShardRule, type ShuffleOptions, shuffle } from '#src/index.js';
import { WRITABLE_CODECS } from '../fixtures/can-write-zstd.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { isSlow } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { decodeWithTool } from '../formats/decode-with-tool.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { anyInputs, largeInputs, makeLargeInputs } from '../laws/any-inputs.js';
import { anySettings, tightSettings } from '../laws/any-settings.js';
import { encode } from '../laws/encodings.js';

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

/** How a job is done. */
type Manner = 'once' | 'resumable' | 'kept' | 'in a job directory' | 'replacing' | 'into a pipe' | 'interrupted';

const anyJob = fc
  .record({
    work: fc.oneof(smallJob, largeJob),
    onThreads: fc.boolean(),
    shards: shardRule,
    compress: fc.constantFrom<OutputCompression>(
      'none',
      'none',
      { codec: 'gzip', level: 1 },
      ...WRITABLE_CODECS.map((codec) => ({ codec })),
    ),
    manner: fc.constantFrom<Manner>(
      ...(['once', 'resumable', 'kept', 'in a job directory', 'replacing', 'into a pipe', 'interrupted'] as const),
    ),
    /** Of the times that progress is reported, after which the job is interrupted. */
    reports: fc.nat(12),
    seed: fc.string(),
  })
  .map(({ work, ...others }) => ({ ...work, ...others }));

type SoakJob = typeof anyJob extends fc.Arbitrary<infer Job> ? Job : never;

/** Memory is measured so often in the second half of the jobs, when all has been met that is kept once. */
const MEASUREMENTS = 12;
const MOST_ROUNDS = 4;

const jobCount = isSlow ? 1000 : 30;
/** Bytes that memory may seem to grow by with a job: the collector and the allocator keep some or not. */
const mostGrowth = (isSlow ? 100 : 600) * 1024;

const directory = useMemoryDirectory();

/** Puts what each output decodes to in its place. */
function decodeAll(path: string, codec: 'gzip' | 'zstd'): void {
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith('.json')) continue;
    const output = join(entry.parentPath, entry.name);
    writeFileSync(output, decodeWithTool(codec, readFileSync(output)));
  }
}

/** Sorted records of all files in a directory, compared with those of another one. */
function compareSorted(a: string, b: string, zeroTerminated: boolean): void {
  const sorted = `find "$1" -type f ! -name '*.complete.json' -print0 | sort -z | xargs -0r sort ${zeroTerminated ? '-z' : ''}`;
  const script = `set -o pipefail; one() { ${sorted}; }; cmp <(one "$1") <(one "$2")`;
  execFileSync('bash', ['-c', script, 'bash', a, b], { env: { ...process.env, LC_ALL: 'C' }, stdio: 'pipe' });
}

async function runJob(job: SoakJob): Promise<void> {
  const { settings, zeroTerminated, seed, onThreads, manner, compress } = job;
  const shards = manner === 'into a pipe' ? undefined : job.shards;
  for (const name of ['in', 'plain', 'out']) {
    rmSync(directory.path(name), { recursive: true, force: true });
    mkdirSync(directory.path(name));
  }
  const inputs = job.inputs.map((bytes, i) => {
    // A last record gets the end of the one before it.
    const records = splitPlainly({ kind: 'delimited', value: zeroTerminated ? '00' : '0a' }, bytes);
    writeFileSync(directory.path('plain', String(i)), Buffer.concat(records));
    const path = directory.path('in', String(i));
    writeFileSync(path, encode(bytes, settings.encodings[i % settings.encodings.length] ?? 'plain'));
    return path;
  });
  const tempDirs = Array.from({ length: settings.tempDirCount }, (_, i) => directory.path('temp', String(i)));
  for (const path of tempDirs) mkdirSync(path, { recursive: true });
  const output = directory.path('out', 'shuffled');
  const { workers, memoryBytes } = settings;
  // With igzip the allocator levels off after some 40 jobs, which only the slow tier reaches.
  const igzip = isSlow;
  const options = { inputs, output, shards, compress, seed, zeroTerminated, tempDirs, workers, memoryBytes, igzip };
  const run = (more: Partial<ShuffleOptions>) =>
    shuffle({ ...options, ...more }, { ...settings.tuning, inline: !onThreads });
  await runInManner(manner, run, job);
  if (manner !== 'kept') expect(tempDirs.flatMap((path) => readdirSync(path))).toEqual([]);
  for (const path of tempDirs) rmSync(path, { recursive: true });
  expect(readdirSync(directory.path('out'))).toEqual(['shuffled']);
  if (compress !== 'none') decodeAll(directory.path('out'), compress.codec);
  compareSorted(directory.path('plain'), directory.path('out'), zeroTerminated);
}

async function runInManner(
  manner: Manner,
  run: (more: Partial<ShuffleOptions>) => Promise<unknown>,
  { shards, reports }: SoakJob,
): Promise<void> {
  const output = directory.path('out', 'shuffled');
  const jobDir = directory.path('job');
  switch (manner) {
    case 'once':
      await run({});
      return;
    case 'resumable':
      await run({ resume: true });
      return;
    case 'kept':
      await run({ keepTemp: true });
      return;
    case 'in a job directory':
      await run({ jobDir });
      expect(existsSync(jobDir)).toBe(false);
      return;
    case 'replacing':
      if (shards !== undefined) mkdirSync(output);
      writeFileSync(shards === undefined ? output : directory.path('out', 'shuffled', 'shard-00000-of-00001'), 'x\n');
      await run({ force: true });
      return;
    case 'into a pipe':
      await throughPipe((pipe) => run({ output: pipe }), output);
      return;
    case 'interrupted':
      await interruptAfter(reports, (more) => run({ resume: true, ...more }));
  }
}

async function throughPipe(run: (pipe: string) => Promise<unknown>, output: string): Promise<void> {
  const pipe = makePipe(directory.path('pipe'));
  const reader = spawn('bash', ['-c', 'cat <"$1" >"$2"', 'bash', pipe, output]);
  const isRead = new Promise((resolve) => reader.on('close', resolve));
  await run(pipe);
  await isRead;
  rmSync(pipe);
}

/** @returns the bytes that memory grows by with a job, in the second half of the jobs. */
async function growthOver(jobs: readonly SoakJob[]): Promise<number> {
  const resident: [jobs: number, bytes: number][] = [];
  const interval = Math.max(1, Math.floor(jobs.length / 2 / MEASUREMENTS));
  await runInTurn(jobs, (i) => {
    if (i >= jobs.length / 2 && i % interval === 0) resident.push([i, measureResidentBytes()]);
  });
  return slopeOf(resident);
}

/** @param onDone gets the index of each job after it. */
async function runInTurn(jobs: readonly SoakJob[], onDone: (i: number) => void = () => {}): Promise<void> {
  for (const [i, job] of jobs.entries()) {
    await runJob(job).catch((error: unknown) => {
      const { inputs, ...options } = job;
      throw new Error(`job ${i} with ${inputs.length} inputs and ${JSON.stringify(options)}: ${error}`, {
        cause: error,
      });
    });
    onDone(i);
  }
}

/**
 * Few jobs do not tell a leak from a step of the allocator. So they are done again and again: a leak shows in every round.
 * @returns the bytes that memory grows by with a job, in the round in which it grows least.
 */
async function growthOfRounds(jobs: readonly SoakJob[]): Promise<number> {
  await runInTurn(jobs);
  let [growth, before] = [Number.POSITIVE_INFINITY, measureResidentBytes()];
  for (let round = 0; growth >= mostGrowth && round < MOST_ROUNDS; round++) {
    await runInTurn(jobs);
    const now = measureResidentBytes();
    growth = Math.min(growth, (now - before) / jobs.length);
    before = now;
  }
  return growth;
}

it(`${jobCount} jobs end well, and leave the process as it was`, { timeout: 3_600_000 }, async () => {
  const jobs = fc.sample(anyJob, { numRuns: jobCount });
  const [first] = jobs;
  if (first === undefined) throw new RangeError('there is no job');
  await runJob(first);
  const openBefore = countOpenFiles();
  const grownBy = isSlow ? growthOver : growthOfRounds;
  let growth = await grownBy(jobs);
  // A step of the allocator does not come again with the same jobs; a leak does.
  if (growth >= mostGrowth) growth = await grownBy(jobs);
  expect(countOpenFiles()).toBe(openBefore);
  if (jobCount > 100) console.info(`${jobCount} jobs, memory grew by ${Math.round(growth / 1024)} KiB a job`);
  expect(growth).toBeLessThan(mostGrowth);
});

/** Stops the job after this many reports of progress, then resumes it. */
async function interruptAfter(
  reports: number,
  run: (more: Partial<ShuffleOptions>) => Promise<unknown>,
): Promise<void> {
  const controller = new AbortController();
  let left = reports;
  const onProgress = () => {
    if (left === 0) controller.abort();
    left -= 1;
  };
  try {
    await run({ signal: controller.signal, onProgress });
  } catch (error) {
    if (!(error instanceof AbortError)) throw error;
    await run({});
  }
}

/** Of the line that lies nearest to the points. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [meanOf(points.map(([x]) => x)), meanOf(points.map(([, y]) => y))];
  const covariance = meanOf(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  return covariance / meanOf(points.map(([x]) => (x - meanX) ** 2));
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
