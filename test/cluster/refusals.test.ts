/** What a task refuses, each in one clear line, and what status tells. */
import { mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { planCluster as plan } from '#src/cluster/plan-job.js';
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

describe('a plan', () => {
  it.each([
    ['a sample without end', { repeat: true }, 'an output without end must be a stream: give `headCount`'],
    ['weights of unique records', { unique: true, weights: [{ glob: '*', factor: 2 }] }, '`weights` does not go with'],
    ['standard input', { inputs: ['-'] }, 'tasks cannot share standard input'],
    ['records in memory', { inputs: [{ records: ['a'] }] }, 'records in memory'],
    ['standard output', { output: '-' }, 'tasks cannot share standard output'],
    ['no tasks', { tasks: 0 }, '`tasks` is 0'],
    ['a missing input', { inputs: ['/nowhere/at/all'] }, '/nowhere/at/all'],
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
    expect(await messageOf(planCluster({ jobDir: directory.path('other') }))).toContain('an unfinished job of');
    giveUp();
  });

  it('makes one task of each kind for a tiny job', async () => {
    const report = await plan({ ...options(), tasks: 50 });
    expect([report.scatterTasks, report.shuffleTasks]).toEqual([1, 1]);
    giveUp();
  });

  it('makes one shuffle task for one compressed file', async () => {
    const report = await planCluster({ output: directory.path('out.gz') });
    expect([report.scatterTasks, report.shuffleTasks]).toEqual([3, 1]);
    giveUp();
  });

  it('has tasks between the passes only where they have something to do', async () => {
    const tasksOf = async (more: Partial<ClusterPlanOptions>) => {
      const { measureTasks, drawTasks } = await planCluster(more);
      giveUp();
      return [measureTasks, drawTasks];
    };
    expect(await tasksOf({})).toEqual([0, 0]);
    expect(await tasksOf({ unique: true })).toEqual([3, 0]);
    expect(await tasksOf({ repeat: true, headCount: 9 })).toEqual([0, 3]);
  });

  it('of empty inputs expects nothing', async () => {
    writeFileSync(directory.path('empty'), '');
    expect((await planCluster({ inputs: [directory.path('empty')] })).expectedBytes).toBe(0);
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

  it('refuses an index beyond the plan, and a missing one', async () => {
    await planCluster();
    const task = runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 3 });
    expect(await messageOf(task)).toContain('has 3 shuffle tasks, and `taskIndex` is 3; expected 0 to 2');
    expect(await messageOf(runNow({ kind: 'scatter', jobDir: jobDir() }))).toContain('which scatter task?');
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

  it('between the passes waits for those before, and is needed by those behind', async () => {
    await planCluster({ unique: true, repeat: true, headCount: 9 });
    const kinds = ['measure', 'draw', 'shuffle'] as const;
    const early = async (before: 'scatter' | (typeof kinds)[number]) => {
      for (const kind of kinds.slice(['scatter', ...kinds].indexOf(before))) {
        const task = runNow({ kind, jobDir: jobDir(), taskIndex: 0 });
        expect(await messageOf(task)).toMatch(new RegExp(`^${before} tasks 0, 1, 2 of \\S+ are not done`));
      }
    };
    await early('scatter');
    await scatterAll();
    for (const kind of kinds.slice(0, 2)) {
      await early(kind);
      expect((await clusterStatus(jobDir())).state).toBe(kind);
      for (const taskIndex of [0, 1, 2]) await runNow({ kind, jobDir: jobDir(), taskIndex });
    }
    expect(await clusterStatus(jobDir())).toMatchObject({ state: 'shuffle', measure: { done: 3 }, draw: { done: 3 } });
    giveUp();
  });

  it('that the job does not have says so', async () => {
    await planCluster();
    const task = runNow({ kind: 'measure', jobDir: jobDir(), taskIndex: 0 });
    expect(await messageOf(task)).toMatch(/^the job in \S+ has no measure tasks: leave them out$/);
    giveUp();
  });

  it('finds no record to draw', async () => {
    writeFileSync(directory.path('empty'), '');
    const inputs = [directory.path('empty')];
    const { scatterTasks } = await planCluster({ inputs, repeat: true, headCount: 9 });
    expect(scatterTasks).toBe(1);
    await runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0 });
    const task = runNow({ kind: 'draw', jobDir: jobDir(), taskIndex: 0 });
    expect(await messageOf(task)).toBe('the inputs have no record to repeat; expected at least one');
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
    change('plan', 'cluster-plan 1', 'cluster-plan 2');
    expect(await messageOf(again())).toContain('plan is damaged');
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
