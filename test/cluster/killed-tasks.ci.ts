/**
 * Tasks are killed at calls on files, fail at them, and run twice at the same time. Run again, they make the right bytes, and
 * nothing is left behind but the marker of the job.
 */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ClusterPlanOptions } from '#src/index.js';
import { PileshufError, planCluster, shuffle } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { type Fault, FaultyFileCalls } from '../faults/faulty-file-calls.js';
import { drawsFor } from '../fixtures/draws.js';
import { arraysOf, contentOf, runNow, SMALL_TASKS, type TaskOptions } from '../fixtures/run-cluster.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

interface Kind {
  readonly name: string;
  readonly options: Partial<ClusterPlanOptions>;
  /** Whether former shards exist. */
  readonly former?: boolean;
  /** Whether records come more than once. */
  readonly repeated?: boolean;
  /** Whether verify tasks read the output back. */
  readonly verified?: boolean;
}

const GZIP_SHARDS: Kind = {
  name: 'gzip shards',
  options: { compress: { codec: 'gzip' }, shards: { by: 'count', shardCount: 3 } },
};

const KINDS: readonly Kind[] = [
  { name: 'one file', options: {} },
  { name: 'shards', options: { shards: { by: 'count', shardCount: 3 } } },
  { name: 'shards in place of others', options: { force: true, shards: { by: 'count', shardCount: 2 } }, former: true },
  { ...GZIP_SHARDS, name: 'gzip shards that are read back by tasks', verified: true },
  { name: 'the first unique records', options: { unique: true, headCount: 30 }, repeated: true },
];
const FAULTS: readonly (readonly [string, Fault])[] = [
  ['is killed before a call', { kind: 'kills', part: 'nothing' }],
  ['is killed inside a write', { kind: 'kills', part: 'half' }],
  ['finds the disk full', { kind: 'fails from then on', errno: 'ENOSPC' }],
  ['gets no answer of a server', { kind: 'is done and reported as failed', errno: 'EIO' }],
  ['meets an error', { kind: 'fails', errno: 'ESTALE' }],
];

async function planJob({
  options,
  former = false,
  repeated = false,
  verified = false,
}: Kind): Promise<readonly TaskOptions[]> {
  for (const output of former ? ['out', 'local'] : []) {
    mkdirSync(directory.path(output));
    for (const name of ['shard-00000-of-00002', 'shard-00001-of-00002', 'other'])
      writeFileSync(directory.path(output, name), 'former');
  }
  for (const [i, count] of [120, 30].entries()) {
    const lines = Array.from({ length: count }, (_, line) => {
      const number = repeated ? line % 40 : line;
      return `${repeated ? 'record' : i}-${number} ${'y'.repeat(number % 25)}\n`;
    });
    writeFileSync(directory.path(`in-${i}`), lines.join(''));
  }
  const inputs = ['in-0', 'in-1'].map((name) => directory.path(name));
  const job = { inputs, seed: 'kill', ...options };
  await shuffle({ ...job, output: directory.path('local'), tempDirs: [directory.temp], workers: 1 }, { inline: true });
  const jobDir = directory.path('job');
  const asked = { ...job, output: directory.path('out'), jobDir, tasks: 2, cpusPerTask: 1 };
  const plan = await planCluster(asked, { ...SMALL_TASKS, ...(verified && { commitReadBytes: 0 }) });
  const arrays = arraysOf(plan);
  expect(arrays.map(([, count]) => count)).toEqual(arrays.map(() => 2));
  const scratchDir = directory.path('scratch');
  mkdirSync(scratchDir);
  return [
    ...arrays.flatMap(([kind]) => [0, 1].map((taskIndex) => ({ kind, jobDir, scratchDir, taskIndex }))),
    { kind: 'commit', jobDir, scratchDir },
  ];
}

function expectAllIsDone(): void {
  expect(contentOf(directory.path('out'))).toEqual(contentOf(directory.path('local')));
  expect(readdirSync(directory.path('job'))).toEqual(['committed']);
  // A killed process leaves its scratch directory, which is empty but for its lock. A later task of the machine removes it.
  const inScratch = readdirSync(directory.path('scratch'), { recursive: true }).map(String);
  expect(inScratch.filter((name) => !/^\.pileshuf-task-\w+(\/lock\+[^/]*)?$/.test(name))).toEqual([]);
}

const watches = (path: string) => /\/(job|out|scratch|in-\d|\.pileshuf-[^/]*)(\/|$)/.test(path);

/** @returns whether the task came to its N-th call. */
async function strike(task: TaskOptions, fault: Fault, nth: number, watched = watches): Promise<boolean> {
  const faulty = new FaultyFileCalls(fault, nth, watched);
  const former = replaceFileCalls(faulty.calls);
  try {
    await runNow(task);
  } catch (error) {
    if (faulty.struck === undefined) throw error;
    if (fault.kind !== 'kills') expect(error).toBeInstanceOf(PileshufError);
  } finally {
    await faulty.settle();
    replaceFileCalls(former);
  }
  return faulty.struck !== undefined;
}

describe.each(KINDS)('a task of $name', (kind) => {
  // Each kind with another fault.
  it.each(sampled(FAULTS, FAULTS.length, KINDS.indexOf(kind)))('is run again when it %s', async (name, fault) => {
    const draw = drawsFor(`calls: ${name}`);
    const step = atScale(500, 20, 2);
    for (const task of await planJob(kind)) {
      // Each attempt gets further than the one before, or has less to do.
      for (let nth = 1 + Math.floor(draw() * step); ; nth += 1 + Math.floor(2 * draw() * step)) {
        if (!(await strike(task, fault, nth))) break;
      }
      await runNow(task);
    }
    expectAllIsDone();
  });
});

describe('a record', () => {
  it.each(sampled(KINDS, 2))('counts though its link was reported as failed: $name', async (kind) => {
    const fault: Fault = { kind: 'is done and reported as failed', errno: 'EIO' };
    const isRecord = (path: string) => /\/job\/(set-\d+\.index|(measure|shuffle)-\d+)$/.test(path);
    for (const task of await planJob(kind)) {
      for (let nth = 1; nth < 4; nth++) await strike(task, fault, nth, isRecord);
      await runNow(task);
    }
    expectAllIsDone();
  });
});

describe('a staged file', () => {
  it('has its length before the first byte, so that no machine writes behind the end of it', async () => {
    const [first, second, third] = await planJob({ name: 'one file', options: {} });
    for (const task of [first, second]) await runNow(task ?? expect.fail());
    const staged = () => readdirSync(directory.path('.')).find((name) => name.startsWith('.pileshuf-')) ?? '';
    const lengths: number[] = [];
    const around = new FaultyFileCalls({ kind: 'kills', part: 'nothing' }, Number.POSITIVE_INFINITY, watches);
    const former = replaceFileCalls({
      ...around.calls,
      write: (fd, ...rest) => {
        if (around.calls.openFiles.get(fd)?.path.endsWith('0.part') === true)
          lengths.push(around.calls.statOpen(fd).size === 0n ? 0 : 1);
        return around.calls.write(fd, ...rest);
      },
    });
    await runNow(third ?? expect.fail()).finally(() => replaceFileCalls(former));
    const whole = statSync(directory.path('local')).size;
    expect(statSync(directory.path(staged(), '0.part')).size).toBe(whole);
    expect(lengths.length).toBeGreaterThan(0);
    expect(lengths).not.toContain(0);
    for (const name of ['job', staged()]) rmSync(directory.path(name), { recursive: true });
  });
});

describe('two attempts at the same time', () => {
  it.each(sampled(KINDS, 2, 1))('end with the same bytes: $name', async (kind) => {
    for (const task of await planJob(kind)) {
      const outcomes = await Promise.allSettled([
        runNow({ ...task, waitSeconds: 20 }),
        runNow({ ...task, waitSeconds: 20 }),
      ]);
      // The second commit waits, finds that the first works, and says so, or that it is done.
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.message] : []));
      if (task.kind === 'commit') expect(refused.length).toBeLessThan(2);
      else expect(refused).toEqual([]);
    }
    expectAllIsDone();
  });
});

describe('a commit', () => {
  it('takes the shards of the attempt that was first', async () => {
    const tasks = await planJob(GZIP_SHARDS);
    for (const task of tasks.filter(({ kind }) => kind !== 'commit')) {
      await runNow(task);
      const again = await runNow(task);
      expect({ done: again.done, wereDone: again.wereDone }).toEqual({ done: [], wereDone: [task.taskIndex] });
    }
    const staging = readdirSync(directory.path('.')).find((name) => name.startsWith('.pileshuf-')) ?? '';
    const written = readdirSync(directory.path(staging), { recursive: true }).map(String);
    // Each task has written its own shards alone.
    expect(written.flatMap((name) => /\/(\d+\.part)$/.exec(name)?.[1] ?? []).sort()).toEqual([
      '0.part',
      '1.part',
      '2.part',
    ]);
    const commit = tasks.at(-1);
    expect((await runNow(commit as TaskOptions)).wasCommitted).toBe(false);
    expect((await runNow(commit as TaskOptions)).wasCommitted).toBe(true);
    expectAllIsDone();
  });
});
