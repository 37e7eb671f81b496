/**
 * Appends to a store, and shuffles of a store, as tasks: what the local jobs make, whatever the order of the tasks, and
 * wherever they are killed. A store never has a part of an append.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { AppendOptions, ClusterAppendOptions, ShuffleStoreOptions } from '#src/index.js';
import {
  appendToStore,
  clusterStatus,
  collectStore,
  expireStore,
  inspectStore,
  PileshufError,
  planCluster,
  shuffleStore,
} from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { type Fault, FaultyFileCalls } from '../faults/faulty-file-calls.js';
import { drawsFor } from '../fixtures/draws.js';
import { contentOf, runClusterLocally, runNow, SMALL_TASKS, type TaskOptions } from '../fixtures/run-cluster.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { messageOf } from '../fixtures/small-cluster-job.js';
import { contentOf as recordsOf } from '../fixtures/store-content.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const store = () => directory.path('store');
const local = () => directory.path('local-store');
const jobDir = () => directory.path('job');

const GENERATION = '2026-11-20';

function lines(name: string, count: number, ending = '\n'): string {
  return Array.from({ length: count }, (_, i) => `${name} ${i} ${'x'.repeat((7 * i) % 40)}`).join('\n') + ending;
}

function write(name: string, content: string | Uint8Array): string {
  writeFileSync(directory.path(name), content);
  return directory.path(name);
}

/** A store with an input, and a copy of it for the local job. */
async function makeStores(): Promise<void> {
  const old = write('old', lines('old', 90));
  await appendToStore(store(), { inputs: [old], seed: 'store', piles: 13, generation: '2026-10-01' }, { inline: true });
  cpSync(store(), local(), { recursive: true });
}

type Appended = Omit<AppendOptions, 'workers' | 'onProgress'>;

const optionsOf = (options: Appended): ClusterAppendOptions => ({
  generation: GENERATION,
  ...options,
  append: store(),
  jobDir: jobDir(),
  tasks: 3,
  cpusPerTask: 1,
});

/** What a state says of each commit, but for names and times. */
function commitsOf(path: string) {
  const { manifest, settings } = openSnapshot(path);
  const commits = manifest.commits.map(({ name: _, time: __, pileSets: ___, ...told }) => told);
  return { state: manifest.number, seed: settings.seed, piles: settings.pileCount, commits };
}

async function expectSameStores(): Promise<void> {
  expect(commitsOf(store())).toEqual(commitsOf(local()));
  expect(recordsOf(store())).toEqual(recordsOf(local()));
  const { manifest } = openSnapshot(store());
  const named = manifest.commits.flatMap(({ pileSets }) => pileSets.map(({ name }) => name)).sort();
  const found = readdirSync(directory.path('store', 'pile-sets')).map((name) =>
    name.replace(/\.(\d+\.pile|index)$/, ''),
  );
  expect([...new Set(found)].sort()).toEqual(named);
}

interface AppendCase {
  readonly name: string;
  readonly inputs: readonly (string | Uint8Array)[];
  readonly options?: Partial<Appended>;
  readonly inline?: boolean;
}

const LINES = [lines('a', 300), lines('b', 5), lines('c', 120, '')];
const APPENDS: readonly AppendCase[] = [
  { name: 'lines', inputs: LINES },
  { name: 'no records', inputs: ['', ''] },
  { name: 'the bytes 00 and FF', inputs: [Buffer.from([0, 255, 10, 255, 0, 10, 0])] },
  { name: 'gzip inputs', inputs: LINES.map((text) => gzipSync(text)) },
  { name: 'CSV', inputs: ['a,"b\nc"\n'.repeat(300), 'd,e'], options: { records: { by: 'csv' } } },
  {
    name: 'fixed records',
    inputs: [Buffer.alloc(6000, 'abcdefg')],
    options: { records: { by: 'size', recordBytes: 12 } },
  },
  { name: 'ids by name', inputs: LINES, options: { inputIds: 'name' } },
  { name: 'threads', inputs: LINES, inline: false },
];

describe('an append as tasks', () => {
  it.each(sampled(APPENDS, 8))('adds what the local one adds: $name', async ({ inputs, options, inline = true }) => {
    await makeStores();
    const appended = { inputs: inputs.map((content, i) => write(`in-${i}`, content)), ...options };
    await appendToStore(local(), { generation: GENERATION, ...appended }, { inline: true });
    const draw = drawsFor(`order of tasks: ${String(options?.inputIds)}`);
    const { plan, commit } = await runClusterLocally(optionsOf(appended), {
      tuning: { ...SMALL_TASKS, inline },
      order: (tasks) =>
        [...tasks, ...tasks]
          .map((task) => ({ task, at: draw() }))
          .sort((a, b) => a.at - b.at)
          .map(({ task }) => task),
    });
    expect([plan.shuffleTasks, plan.seed, plan.piles, commit.output?.state]).toEqual([0, 'store', 13, 3]);
    await expectSameStores();
    expect((await runNow({ kind: 'commit', jobDir: jobDir() })).wasCommitted).toBe(true);
  });

  it.runIf(fromCi)('makes the store, and replaces what it has', async () => {
    const inputs = LINES.map((content, i) => write(`in-${i}`, content));
    const options = { inputs, seed: 'new', piles: 7 };
    await appendToStore(local(), { ...options, generation: GENERATION }, { inline: true });
    await runClusterLocally(optionsOf(options));
    await expectSameStores();
    for (const path of inputs) writeFileSync(path, lines('other', 60));
    await appendToStore(local(), { inputs, replace: true, generation: GENERATION }, { inline: true });
    rmSync(jobDir(), { recursive: true });
    await runClusterLocally(optionsOf({ inputs, replace: true }));
    expect(commitsOf(store())).toEqual(commitsOf(local()));
    expect(recordsOf(store())).toEqual(recordsOf(local()));
  });

  it('is not there before it is committed, and of two with one input the second is refused', async () => {
    await makeStores();
    const before = commitsOf(store());
    const inputs = [write('in', lines('in', 200))];
    const other = directory.path('other-job');
    const jobs = [optionsOf({ inputs }), { ...optionsOf({ inputs }), jobDir: other }];
    for (const job of jobs) {
      const { scatterTasks } = await planCluster(job, SMALL_TASKS);
      expect(scatterTasks).toBe(3);
      for (let taskIndex = 0; taskIndex < scatterTasks; taskIndex++)
        await runNow({ kind: 'scatter', jobDir: job.jobDir, taskIndex });
    }
    expect(commitsOf(store())).toEqual(before);
    expect(await collectStore(store(), { graceMilliseconds: 0 })).toMatchObject({ pileSets: 0 });
    expect(await clusterStatus(jobDir())).toMatchObject({ state: 'commit', shuffle: undefined });
    await runNow({ kind: 'commit', jobDir: jobDir() });
    const files = () => readdirSync(directory.path('store', 'pile-sets')).sort();
    const [committed, found] = [recordsOf(store()), files()];
    await expect(runNow({ kind: 'commit', jobDir: other })).rejects.toMatchObject({ code: 'ERR_INPUT_ID_TAKEN' });
    expect((await clusterStatus(other)).failed).toMatchObject([{ kind: 'commit' }]);
    expect([recordsOf(store()), files()]).toEqual([committed, found]);
  });

  it('is not added again when it was committed, killed at the end, and removed from the store since', async () => {
    await makeStores();
    const plan = await planCluster(optionsOf({ inputs: [write('in', lines('in', 200))] }), SMALL_TASKS);
    for (let taskIndex = 0; taskIndex < plan.scatterTasks; taskIndex++)
      await runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex });
    cpSync(jobDir(), directory.path('kept'), { recursive: true });
    const before = openSnapshot(store()).manifest.number;
    const first = await runNow({ kind: 'commit', jobDir: jobDir() });
    const killedThere = () => {
      rmSync(jobDir(), { recursive: true });
      cpSync(directory.path('kept'), jobDir(), { recursive: true });
    };
    const { writeAppendingNote } = await import('#src/cluster/appending-note.js');
    killedThere();
    await writeAppendingNote(jobDir(), before);
    const content = recordsOf(store());
    expect((await runNow({ kind: 'commit', jobDir: jobDir() })).output?.state).toBe(first.output?.state);
    expect(recordsOf(store())).toEqual(content);
    killedThere();
    await writeAppendingNote(jobDir(), before);
    await appendToStore(store(), { inputs: [write('later', 'x\n')], generation: '2026-12-01' });
    await expireStore(store(), { keepLast: 1 });
    const expired = recordsOf(store());
    expect(expired.length).toBe(1);
    expect((await runNow({ kind: 'commit', jobDir: jobDir() })).output?.state).toBe(first.output?.state);
    expect(recordsOf(store())).toEqual(expired);
  });
});

interface ShuffleCase {
  readonly name: string;
  readonly options?: Omit<ShuffleStoreOptions, 'output' | 'workers' | 'tempDirs' | 'onProgress' | 'onProfile'>;
  readonly tuning?: Partial<typeof SMALL_TASKS> & { readonly pass2ArenaBytes?: number };
}

const SHUFFLES: readonly ShuffleCase[] = [
  { name: 'one file' },
  { name: 'gzip shards', options: { compress: { codec: 'gzip' }, shards: { by: 'count', shardCount: 3 } } },
  { name: 'shards by bytes', options: { shards: { by: 'bytes', maxShardBytes: 1500 } } },
  { name: 'the first records', options: { headCount: 31 } },
  { name: 'one gzip file', options: { compress: { codec: 'gzip' } } },
  {
    name: 'splits',
    options: {
      splits: [
        { name: 'train', share: 0.9 },
        { name: 'test', rest: true },
      ],
    },
  },
  { name: 'shards by records', options: { shards: { by: 'records', recordsPerShard: 30 } } },
  { name: 'more shards than records', options: { headCount: 3, shards: { by: 'count', shardCount: 8 } } },
  { name: 'threads', tuning: { inline: false } },
  { name: 'piles that are scattered again', tuning: { pass2ArenaBytes: 96 * 1024 } },
];

async function makeStoreToShuffle(): Promise<void> {
  const inputs = LINES.map((content, i) => write(`in-${i}`, content));
  // Equal records have equal keys in no two inputs; those of one input differ by their positions.
  for (const path of inputs)
    await appendToStore(store(), { inputs: [path], seed: 'store', piles: 13 }, { inline: true });
}

const shuffleOptions = (options: ShuffleCase['options'] = {}) => ({
  ...options,
  shuffleStore: store(),
  output: directory.path('out'),
  jobDir: jobDir(),
  tasks: 3,
  cpusPerTask: 1,
});

describe('a shuffle of a store as tasks', () => {
  it.each(sampled(SHUFFLES, 10, 1))('writes what the local one writes: $name', async ({ options, tuning }) => {
    await makeStoreToShuffle();
    await shuffleStore(
      store(),
      { ...options, output: directory.path('local'), tempDirs: [directory.temp], workers: 1 },
      { inline: true },
    );
    const { plan, commit } = await runClusterLocally(shuffleOptions(options), {
      tuning: { ...SMALL_TASKS, ...tuning },
      order: (tasks) => [...tasks, ...tasks].reverse(),
    });
    expect([plan.scatterTasks, commit.output?.seed]).toEqual([0, 'store']);
    expect(contentOf(directory.path('out'))).toEqual(contentOf(directory.path('local')));
  });

  it('writes an empty store, and an output of the state that was planned', async () => {
    await makeStores();
    await shuffleStore(store(), { output: directory.path('local') });
    const { shuffleTasks } = await planCluster(shuffleOptions(), SMALL_TASKS);
    await expect(runNow({ kind: 'commit', jobDir: jobDir() })).rejects.toMatchObject({ code: 'ERR_NOT_READY' });
    expect(await clusterStatus(jobDir())).toMatchObject({
      ...{ state: 'shuffle', scatter: undefined, measure: undefined, draw: undefined },
      failed: [{ kind: 'commit' }],
    });
    await appendToStore(store(), { inputs: [write('later', 'later\n')] }, { inline: true });
    await expireStore(store(), { keepLast: 1 });
    for (let taskIndex = 0; taskIndex < shuffleTasks; taskIndex++)
      await runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex });
    await runNow({ kind: 'commit', jobDir: jobDir() });
    expect(contentOf(directory.path('out'))).toEqual(contentOf(directory.path('local')));
    await expireStore(store(), { before: '2099-01-01' });
    for (const path of [jobDir(), directory.path('out')]) rmSync(path, { recursive: true, force: true });
    await runClusterLocally(shuffleOptions());
    expect(contentOf(directory.path('out'))).toEqual({ '': '' });
  });

  it.runIf(fromCi)('says that records were expired and deleted meanwhile', async () => {
    await makeStores();
    await planCluster(shuffleOptions(), SMALL_TASKS);
    await expireStore(store(), { before: '2099-01-01' }, { graceMilliseconds: 0 });
    const task = runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 0 });
    await expect(task).rejects.toThrow(/were expired and deleted while they were read/);
    for (const name of readdirSync(directory.path('.')))
      if (name.startsWith('.pileshuf-')) rmSync(directory.path(name), { recursive: true });
  });
});

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['is killed before a call', { kind: 'kills', part: 'nothing' }],
  ['finds the disk full', { kind: 'fails from then on', errno: 'ENOSPC' }],
  ['is killed inside a write', { kind: 'kills', part: 'half' }],
  ['gets no answer of a server', { kind: 'is done and reported as failed', errno: 'EIO' }],
  ['meets an error', { kind: 'fails', errno: 'ESTALE' }],
];

/** @returns whether the task came to its N-th call. */
async function strike(task: TaskOptions, fault: Fault, nth: number): Promise<boolean> {
  const faulty = new FaultyFileCalls(fault, nth, (path) => /\/(job|store|in-\d)(\/|$)/.test(path));
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

describe('a task of an append', () => {
  it.each(sampled(FAULTS, 5))('is run again when it %s, and the store has all or nothing', async (name, fault) => {
    await makeStores();
    const inputs = ['a', 'b'].map((each, i) => write(`in-${i}`, lines(each, 60)));
    const before = recordsOf(store());
    await appendToStore(local(), { inputs, generation: GENERATION }, { inline: true });
    const after = recordsOf(local());
    const { scatterTasks } = await planCluster({ ...optionsOf({ inputs }), tasks: 2 }, SMALL_TASKS);
    const draw = drawsFor(`calls of an append: ${name}`);
    const step = atScale(60, 7, 1);
    const tasks: TaskOptions[] = [
      ...Array.from(
        { length: scatterTasks },
        (_, taskIndex) => ({ kind: 'scatter', jobDir: jobDir(), taskIndex }) as const,
      ),
      { kind: 'commit', jobDir: jobDir() },
    ];
    for (const task of tasks) {
      for (let nth = 1 + Math.floor(draw() * step); ; nth += 1 + Math.floor(2 * draw() * step)) {
        if (!(await strike(task, fault, nth))) break;
        const now = recordsOf(store());
        expect(now.length === before.length ? before : after).toEqual(now);
        if (task.kind === 'scatter') expect(now).toEqual(before);
      }
      await runNow(task);
    }
    expect(readdirSync(jobDir())).toEqual(['committed']);
    // What a killed commit left goes with the next collection.
    await collectStore(store(), { graceMilliseconds: 0 });
    expect(recordsOf(store())).toEqual(after);
    expect(await inspectStore(store(), { verify: true })).toMatchObject({ unowned: { pileSets: 0 } });
    const { manifest } = openSnapshot(store());
    expect(readdirSync(directory.path('store', 'pile-sets')).length).toBe(
      2 * manifest.commits.flatMap(({ pileSets }) => pileSets).length,
    );
  });
});

describe('a plan for a store', () => {
  it.each([
    ['standard input', { inputs: ['-'] }, 'tasks cannot share standard input'],
    ['records in memory', { inputs: [{ records: ['a'] }] }, 'records in memory'],
    ['headers', { header: { lines: 1 } }, 'a pile store keeps only records'],
    ['threads of its own', { workers: 2 }, 'has no option `workers`'],
    ['a missing input', { inputs: ['/nowhere/at/all'] }, '/nowhere/at/all'],
    ['no tasks', { tasks: 0 }, '`tasks` is 0'],
    ['an output', { output: 'out' }, 'has no option `output`'],
  ] as const)('refuses %s, and makes nothing', async (_, more, message) => {
    const options = { ...optionsOf({ inputs: [write('in', 'a\n')] }), ...more };
    expect(await messageOf(planCluster(options))).toContain(message);
    expect(readdirSync(directory.path('.')).sort()).toEqual(['in', 'temp']);
  });

  it('refuses a job directory that holds something, or that is an input', async () => {
    mkdirSync(jobDir());
    const mine = write('job/mine', 'a\n');
    const inputs = [write('in', 'a\n')];
    expect(await messageOf(planCluster(optionsOf({ inputs })))).toMatch(/the job directory \S+ holds mine; name one/);
    expect(await messageOf(planCluster(optionsOf({ inputs: [jobDir()] })))).toContain(
      'lies inside the input directory',
    );
    expect([existsSync(store()), existsSync(mine)]).toEqual([false, true]);
  });

  it('refuses an id that the store has, and the standard output', async () => {
    await makeStores();
    expect(await messageOf(planCluster(optionsOf({ inputs: [directory.path('old')] })))).toContain(
      'has an input of the id',
    );
    const output = { ...shuffleOptions(), output: '-' };
    expect(await messageOf(planCluster(output))).toContain('tasks cannot share standard output');
    expect(existsSync(jobDir())).toBe(false);
  });

  it('belongs to one store', async () => {
    await makeStores();
    await planCluster(optionsOf({ inputs: [write('in', 'a\n')] }), SMALL_TASKS);
    await runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0 });
    renameSync(store(), directory.path('former'));
    await appendToStore(store(), { inputs: [directory.path('old')], seed: 'store' });
    expect(await messageOf(runNow({ kind: 'commit', jobDir: jobDir() }))).toContain(
      'was replaced by another one since the plan',
    );
  });
});
