/** What a task refuses, each in one clear line, and what status tells. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { planCluster as plan } from '#src/cluster/plan-cluster.js';
import type { ClusterPlanOptions } from '#src/index.js';
import { clusterStatus, shuffle } from '#src/index.js';
import { contentOf, runNow } from '../fixtures/run-cluster.js';
import { messageOf, smallClusterJob, THREE_TASKS } from '../fixtures/small-cluster-job.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const { jobDir, options, giveUp } = smallClusterJob(directory);

const planCluster = (more: Partial<ClusterPlanOptions> = {}) => plan({ ...options(), ...more }, THREE_TASKS);

async function scatterAll(): Promise<void> {
  for (const taskIndex of [0, 1, 2]) await runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex });
}

async function doPasses(): Promise<void> {
  await scatterAll();
  for (const taskIndex of [0, 1, 2]) await runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex });
}

describe('a plan', () => {
  it.each([
    ['a weight of nothing', { weights: [{ glob: 'none', factor: 2 }] }, 'none'],
    ['standard input', { inputs: ['-'] }, 'tasks cannot share standard input'],
    ['records in memory', { inputs: [{ records: ['a'] }] }, 'records in memory'],
    ['standard output', { output: '-' }, 'tasks cannot share standard output'],
    ['no tasks', { tasks: 0 }, '`tasks` is 0'],
    ['a missing input', { inputs: ['/nowhere/at/all'] }, '/nowhere/at/all'],
    ['a stream', { inputs: ['/dev/null'] }, '/dev/null is a stream, which tasks cannot share: name a file'],
  ] as const)('refuses %s', async (_, more, message) => {
    expect(await messageOf(planCluster(more))).toContain(message);
    expect(readdirSync(directory.path('.'))).toEqual(['in', 'temp']);
  });

  it('refuses a directory that holds something', async () => {
    mkdirSync(jobDir());
    writeFileSync(directory.path('job', 'mine'), '');
    expect(await messageOf(planCluster())).toContain('it holds mine, which is not from a job');
  });

  it('refuses the output of a job that is planned already', async () => {
    await planCluster();
    expect(await messageOf(planCluster({ jobDir: directory.path('other') }))).toMatch(
      /^an unfinished job of \S+out exists in \S+job: finish it, or remove that directory and give `force`$/,
    );
    giveUp();
  });

  it('refuses the directory of another plan, and of a committed job, and says which it is', async () => {
    const own = options();
    const { inputs } = own;
    const others = [
      () => plan(own),
      () => plan({ ...own, output: directory.path('other'), force: true }),
      () => shuffle({ inputs, jobDir: jobDir(), output: directory.path('local') }),
    ];
    await plan(own, THREE_TASKS);
    for (const other of others)
      expect(await messageOf(other())).toMatch(/^the job directory \S+job holds the plan of a cluster job; run its/);
    await doPasses();
    await runNow({ kind: 'commit', jobDir: jobDir() });
    for (const other of others)
      expect(await messageOf(other())).toMatch(/^the job directory \S+job is that of a cluster job which is committed/);
    giveUp();
  });

  it('refuses what does not fit, and names what such a job has', async () => {
    const sparse = directory.path('sparse');
    writeFileSync(sparse, '');
    truncateSync(sparse, 2 ** 42);
    const job = plan({ ...options(), inputs: [sparse], records: { by: 'size', recordBytes: 1024 } });
    expect(await messageOf(job)).toMatch(
      /^not enough space .*; free some space or name a place on another disk with `jobDir`$/,
    );
    rmSync(sparse);
  });

  it('refuses a job directory that a job with the same inputs would read', async () => {
    mkdirSync(directory.path('data'));
    writeFileSync(directory.path('data', 'in'), 'a\n');
    const place = { inputs: [directory.path('data')], jobDir: directory.path('data', 'job') };
    expect(await messageOf(planCluster(place))).toMatch(
      /^the job directory \S+ lies inside the input directory \S+data, so/,
    );
    expect(readdirSync(directory.path('data'))).toEqual(['in']);
    rmSync(directory.path('data'), { recursive: true });
  });

  it('makes one shuffle task for one compressed file', async () => {
    const report = await planCluster({ output: directory.path('out.gz') });
    expect([report.scatterTasks, report.shuffleTasks]).toEqual([3, 1]);
    giveUp();
  });

  it('has tasks between the passes only where they have something to do', async () => {
    expect((await planCluster()).measureTasks).toBe(0);
    giveUp();
    expect((await planCluster({ unique: true })).measureTasks).toBe(3);
    giveUp();
  });
});

describe('a task', () => {
  it('refuses a job directory that is not there', async () => {
    const task = runNow({ kind: 'scatter', jobDir: directory.path('nowhere'), taskIndex: 0 });
    expect(await messageOf(task)).toMatch(/^the job directory \S*nowhere does not exist on \S+; expected the file/);
    const other = runNow({ kind: 'scatter', jobDir: directory.temp, taskIndex: 0 });
    expect(await messageOf(other)).toContain('holds no plan on');
  });

  it('beyond the plan has nothing to do, and one without an index is refused', async () => {
    await planCluster();
    const none = { done: [], wereDone: [], wasCommitted: false };
    expect(await runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 3 })).toMatchObject(none);
    // Neither does a kind of which the job has none, whatever is not done before it.
    for (const kind of ['measure', 'verify'] as const)
      expect(await runNow({ kind, jobDir: jobDir(), taskIndex: 0, stride: 2 })).toMatchObject(none);
    expect(await messageOf(runNow({ kind: 'scatter', jobDir: jobDir() }))).toContain('nothing says which scatter task');
    giveUp();
  });

  it('names the tasks that must be done first', async () => {
    await planCluster();
    await runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 1 });
    const early = runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 0 });
    expect(await messageOf(early)).toMatch(/^scatter tasks 0, 2 of \S+ are not done; run them first$/);
    expect(await messageOf(runNow({ kind: 'commit', jobDir: jobDir() }))).toMatch(/^shuffle tasks 0, 1, 2 of/);
    giveUp();
  });

  it('between the passes waits for those before, and is needed by those after', async () => {
    await planCluster({ unique: true });
    const runFirst = (kind: 'measure' | 'shuffle') => messageOf(runNow({ kind, jobDir: jobDir(), taskIndex: 0 }));
    for (const kind of ['measure', 'shuffle'] as const)
      expect(await runFirst(kind)).toMatch(/^scatter tasks 0, 1, 2 of \S+ are not done/);
    await scatterAll();
    expect(await runFirst('shuffle')).toMatch(/^measure tasks 0, 1, 2 of \S+ are not done/);
    expect((await clusterStatus(jobDir())).state).toBe('measure');
    for (const taskIndex of [0, 1, 2]) await runNow({ kind: 'measure', jobDir: jobDir(), taskIndex });
    expect(await clusterStatus(jobDir())).toMatchObject({ state: 'shuffle', measure: { done: 3 } });
    giveUp();
  });

  it('refuses an input that changed since the plan', async () => {
    await planCluster();
    utimesSync(directory.path('in'), 1, 1);
    const task = runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0 });
    expect(await messageOf(task)).toContain(
      'the input changed since the job was planned (it was written to or replaced)',
    );
    writeFileSync(directory.path('in'), 'shorter');
    const shorter = runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0 });
    expect(await messageOf(shorter)).toMatch(/its size was \d+ bytes and is 7/);
    giveUp();
  });

  it('tells of an input that is gone since the plan', async () => {
    await planCluster();
    rmSync(directory.path('in'));
    const task = runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0 });
    expect(await messageOf(task)).toMatch(/: put it back, or remove the job directory and plan the job again$/);
    giveUp();
  });

  it('says that a record which does not fit needs another plan', async () => {
    const input = directory.path('long');
    writeFileSync(input, 'x'.repeat(2 ** 23));
    await plan({ ...options(), inputs: [input], memoryBytes: 2 ** 22 });
    const task = runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0 });
    expect(await messageOf(task)).toMatch(/; plan the job again with `memoryBytes` of at least \S+$/);
    giveUp();
  });

  it('says that damaged piles, and missing ones, are to be planned again', async () => {
    await planCluster();
    await scatterAll();
    const [name = ''] = readdirSync(directory.path('job', 'disk-0'));
    const path = directory.path('job', 'disk-0', name);
    const warnings: string[] = [];
    const onWarning = (line: string) => void warnings.push(line);
    const again = () => messageOf(runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 0, onWarning }));
    const advice = /; check the disk, remove the job directory and plan the job again$/;
    writeFileSync(path, readFileSync(path).fill(0));
    expect(await again()).toMatch(advice);
    expect((await clusterStatus(jobDir())).failed[0]?.error).toMatch(advice);
    expect(warnings.join('\n')).not.toContain('`resume`');
    rmSync(path);
    expect(await again()).toMatch(new RegExp(`${name} is missing, expected \\d+ bytes${advice.source}`));
    giveUp();
  });

  it('commits when an output that has appeared is out of the way', async () => {
    await planCluster();
    await doPasses();
    writeFileSync(directory.path('out'), 'mine');
    const commit = () => runNow({ kind: 'commit', jobDir: jobDir() });
    expect(await messageOf(commit())).toMatch(/was left alone; move it elsewhere and run the commit again$/);
    renameSync(directory.path('out'), directory.path('mine'));
    expect((await commit()).output).toMatchObject({ records: 400, duplicates: undefined });
    rmSync(jobDir(), { recursive: true });
  });

  it('refuses damaged records, and those of another version', async () => {
    await planCluster();
    await scatterAll();
    await runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 0 });
    const change = (name: string, from: string, to: string) => {
      const path = directory.path('job', name);
      writeFileSync(path, readFileSync(path, 'latin1').replace(from, to), 'latin1');
    };
    change('shuffle-000000', '"task":0', '"task":1');
    const again = () => runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 0 });
    expect(await messageOf(again())).toContain(
      'shuffle-000000 is damaged: its bytes do not match their checksum; remove',
    );
    change('plan', 'cluster-plan 6', 'cluster-plan 7');
    expect(await messageOf(again())).toContain('plan is damaged');
    giveUp();
  });

  it('refuses a table of the plan that is damaged, of another plan, or missing', async () => {
    const scatter = async () => messageOf(runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0 }));
    const inJob = (name: string) => directory.path('job', name);
    await planCluster();
    const ofOther = readFileSync(inJob('slices'));
    giveUp();
    await planCluster();
    const inputs = readFileSync(inJob('inputs'));
    writeFileSync(inJob('inputs'), inputs.toString('latin1').replace('"first":0', '"first":1'), 'latin1');
    expect(await scatter()).toContain('inputs is damaged: its bytes do not match their checksum; remove');
    writeFileSync(inJob('inputs'), inputs.subarray(0, -1));
    expect(await scatter()).toMatch(/inputs is damaged: expected \d+ bytes after the first line, got \d+; remove/);
    writeFileSync(inJob('inputs'), inputs);
    writeFileSync(inJob('slices'), ofOther);
    expect(await scatter()).toMatch(/slices is damaged: expected row 0 of the plan \S+, got row 0 of \S+; remove/);
    rmSync(inJob('slices'));
    expect(await scatter()).toMatch(/^cannot open temp file \S+slices: no such file/);
    giveUp();
  });

  it('refuses a plan that needs more memory than there is', async () => {
    await planCluster({ memoryBytes: 2 ** 50 });
    const task = runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0 });
    expect(await messageOf(task)).toContain('the plan gives each task 1073741824 MiB of memory, and this task may use');
    giveUp();
  });

  it('does several tasks when the array is shorter', async () => {
    await planCluster();
    const kinds = ['scatter', 'shuffle'] as const;
    for (const kind of kinds) {
      const even = await runNow({ kind, jobDir: jobDir(), taskIndex: 0, stride: 2 });
      const odd = await runNow({ kind, jobDir: jobDir(), taskIndex: 1, stride: 2 });
      expect([even.done, odd.done]).toEqual([[0, 2], [1]]);
    }
    await runNow({ kind: 'commit', jobDir: jobDir() });
    await shuffle({ ...optionsOfLocal(), output: directory.path('local') });
    expect(contentOf(directory.path('out'))).toEqual(contentOf(directory.path('local')));
  });

  it('waits until a record of another machine is visible', async () => {
    await planCluster();
    await scatterAll();
    const index = directory.path('job', 'set-000000.index');
    renameSync(index, directory.path('hidden'));
    const task = runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 0, waitSeconds: 30 });
    await sleep(300);
    renameSync(directory.path('hidden'), index);
    expect((await task).done).toEqual([0]);
    giveUp();
  });
});

function optionsOfLocal() {
  const { inputs, seed } = options();
  return { inputs, seed, tempDirs: [directory.temp] };
}

describe('status', () => {
  it('tells what is done, what failed, and when all is committed', async () => {
    await planCluster();
    const early = await clusterStatus(jobDir());
    expect([early.state, early.scatter?.done, early.scatter?.unfinished]).toEqual(['scatter', 0, [0, 1, 2]]);
    await messageOf(runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 1 }));
    const failed = await clusterStatus(jobDir());
    expect(failed.failed).toMatchObject([{ kind: 'shuffle', index: 1, pid: process.pid }]);
    expect(failed.failed[0]?.error).toContain('scatter tasks 0, 1, 2');
    await scatterAll();
    for (const taskIndex of [0, 1, 2]) await runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex });
    const late = await clusterStatus(jobDir());
    expect([late.state, late.shuffle?.done, late.failed, late.running]).toEqual(['commit', 3, [], []]);
    await runNow({ kind: 'commit', jobDir: jobDir() });
    expect(await clusterStatus(jobDir())).toMatchObject({ state: 'committed', output: { records: 400, seed: 's' } });
  });
});
