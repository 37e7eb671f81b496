/** The profile of a job of tasks: what its tasks leave, what the commit makes of it, and where it may not be written. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planCluster as plan } from '#src/cluster/plan-cluster.js';
import { runClusterTask } from '#src/cluster/run-cluster-task.js';
import type { ClusterPlanOptions, ClusterPlanReport, ClusterProfile, TaskKind } from '#src/index.js';
import { arraysOf, runNow } from '../fixtures/run-cluster.js';
import { messageOf, smallClusterJob, THREE_TASKS } from '../fixtures/small-cluster-job.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const { jobDir, options, giveUp } = smallClusterJob(directory);
const file = () => directory.path('profile');
const planCluster = (more: Partial<ClusterPlanOptions> = {}) => plan({ ...options(), ...more }, THREE_TASKS);

async function runTasks(report: ClusterPlanReport): Promise<void> {
  for (const [kind, count] of arraysOf(report))
    for (let taskIndex = 0; taskIndex < count; taskIndex++) await runNow({ kind, jobDir: jobDir(), taskIndex });
}

const attempts = () => readdirSync(directory.path('job', 'attempts'));
/** The record of the only attempt at a task. */
const recordOf = (task: string) =>
  directory.path('job', 'attempts', attempts().find((name) => name.startsWith(task)) ?? expect.fail(task));
const readProfile = (): ClusterProfile => JSON.parse(readFileSync(file(), 'utf8'));
const passOf = (kind: TaskKind) =>
  readProfile().passes.find((pass) => pass.kind === kind) ?? expect.fail(`no ${kind} pass`);

function secondsFromFirstToLast(tasks: ClusterProfile['tasks']): number {
  const begun = tasks.map((task) => task.beganMilliseconds / 1000);
  // The start of the process comes before.
  const ended = tasks.map(({ seconds: { prepare, work, finish } }, i) => (begun[i] ?? 0) + prepare + work + finish);
  return Math.max(...ended) - Math.min(...begun);
}

describe('the profile of a job of tasks', () => {
  it('has each task, and the sums of each pass', async () => {
    const report = await planCluster({ profile: file(), unique: true });
    await runTasks(report);
    await runNow({ kind: 'commit', jobDir: jobDir() });
    const { records, bytes, elapsedSeconds, passes, tasks } = readProfile();
    expect(readdirSync(jobDir())).toEqual(['committed']);
    expect([records, bytes > 0, elapsedSeconds > 0]).toEqual([400, true, true]);
    const kinds = ['scatter', 'measure', 'shuffle'] as const;
    expect(passes.map(({ kind, tasks: count, missing }) => [kind, count, missing])).toEqual([
      ...kinds.map((kind) => [kind, 3, []]),
      ['commit', 1, []],
    ]);
    const indexes = kinds.flatMap((kind) => [0, 1, 2].map((index) => [kind, index]));
    expect(tasks.map(({ kind, index }) => [kind, index])).toEqual([...indexes, ['commit', 0]]);
    for (const task of tasks) {
      expect(task).toMatchObject({ threads: 1, host: expect.stringMatching(/./) });
      const { work } = task.seconds;
      const busy = Object.values(task.phases).reduce((sum, seconds) => sum + seconds, 0);
      expect(busy).toBeCloseTo(work, 6);
      if (task.kind !== 'commit') expect(work).toBeGreaterThan(0);
    }
    for (const { kind, bytes: sum, elapsedSeconds: ofPass, seconds, phases } of passes) {
      const own = tasks.filter((task) => task.kind === kind);
      expect(ofPass).toBeCloseTo(secondsFromFirstToLast(own), 6);
      expect(sum).toBe(own.reduce((total, task) => total + task.bytes, 0));
      expect(seconds.work).toBeCloseTo(own.reduce((total, task) => total + task.seconds.work, 0));
      expect(phases.sort).toBeCloseTo(own.reduce((total, task) => total + task.phases.sort, 0));
    }
    expect(elapsedSeconds).toBeCloseTo(secondsFromFirstToLast(tasks), 6);
    expect(passOf('scatter').phases.scan).toBeGreaterThan(0);
    for (const kind of ['measure', 'shuffle'] as const) expect(passOf(kind).phases.load).toBeGreaterThan(0);
  });

  it('names the tasks that left none, and takes the first attempt at a task', async () => {
    const report = await planCluster({ profile: file() });
    await runTasks(report);
    rmSync(recordOf('scatter-000001'));
    writeFileSync(recordOf('shuffle-000002'), 'damaged');
    const first = readFileSync(recordOf('shuffle-000000'), 'utf8');
    // An attempt that does not see that another one is done.
    rmSync(directory.path('job', 'shuffle-000000'));
    expect((await runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 0 })).done).toEqual([0]);
    expect(attempts().filter((name) => name.endsWith('.attempt'))).toEqual([]);
    await runNow({ kind: 'commit', jobDir: jobDir() });
    expect([passOf('scatter').missing, passOf('shuffle').missing]).toEqual([[1], [2]]);
    const counted = readProfile().tasks.find(({ kind }) => kind === 'shuffle');
    expect(first).toContain(`"startedAt":${counted?.beganMilliseconds},`);
  });

  it('never costs the output: a file that appeared meanwhile stays', async () => {
    const report = await planCluster({ profile: file() });
    await runTasks(report);
    writeFileSync(file(), 'mine');
    const warnings: string[] = [];
    const onWarning = (line: string) => warnings.push(line);
    const { output } = await runNow({ kind: 'commit', jobDir: jobDir(), onWarning });
    expect(output?.records).toBe(400);
    expect(warnings).toEqual([expect.stringMatching(/^`profile` \S+profile: cannot write it: .*; the output is/)]);
    expect(readFileSync(file(), 'utf8')).toBe('mine');
  });

  it('counts the start of a process for its first task alone', async () => {
    await planCluster({ profile: file() });
    await runClusterTask({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0, stride: 2 }, 1.5);
    const startOf = (task: string): unknown => /"start":([0-9.]+)/.exec(readFileSync(recordOf(task), 'utf8'))?.[1];
    expect(['scatter-000000', 'scatter-000002'].map(startOf)).toEqual(['1.5', '0']);
    giveUp();
  });

  it.each([
    ['a missing directory', 'none/profile', {}, /none is not a directory; name a file in one$/],
    ['a directory', 'temp', {}, /it is not a regular file/],
    ['a file that is there', 'there', {}, /the file exists already; give `force` to replace it$/],
    ['the input', 'in', { force: true }, /it is one of the inputs; name another file$/],
    ['the output', 'out', { force: true }, /it is the output; name another file$/],
    ['a file in an input directory', 'folder/profile', { isFolder: true }, /lies inside the input directory/],
    ['the job directory', 'job', {}, /it is the job directory; name a file elsewhere$/],
    ['a file in the job directory', 'job/plan', {}, /it lies in the job directory; name a file elsewhere$/],
    ['a file among shards', 'out/x', { isSharded: true }, /it lies in the directory of the shards/],
  ] as const)('refuses %s', async (_, name, more, message) => {
    const { force, isFolder, isSharded } = { force: false, isFolder: false, isSharded: false, ...more };
    writeFileSync(directory.path('there'), '');
    mkdirSync(directory.path('folder'));
    writeFileSync(directory.path('folder', 'data'), 'a\n');
    if (name.startsWith('job/')) mkdirSync(jobDir());
    if (isSharded) mkdirSync(directory.path('out'));
    const asked = {
      profile: directory.path(name),
      force,
      ...(isFolder && { inputs: [directory.path('folder')] }),
      ...(isSharded && { shards: { by: 'count', shardCount: 2 } as const }),
    };
    const before = readdirSync(directory.path('.'));
    expect(await messageOf(planCluster(asked))).toMatch(message);
    expect(readdirSync(directory.path('.'))).toEqual(['in', ...before.filter((each) => each !== 'in')].toSorted());
  });
});
