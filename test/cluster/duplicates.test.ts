/** The list of dropped records that tasks make: where it may lie, what its lines name, and when it gets its name. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ClusterPlanOptions, planCluster, shuffle } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { FaultyFileCalls } from '../faults/faulty-file-calls.js';
import { arraysOf, runNow, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { messageOf, smallClusterJob } from '../fixtures/small-cluster-job.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const { jobDir, giveUp } = smallClusterJob(directory);

const list = () => directory.path('list');
const textOf = (name: string) => readFileSync(directory.path(name), 'utf8');

function job() {
  const lines = Array.from({ length: 200 }, (_, i) => `line ${i % 70}\n`);
  writeFileSync(directory.path('in'), lines.join(''));
  // As a user types it: lines have the names that were given.
  const inputs = [relative(process.cwd(), directory.path('in'))];
  return { inputs, seed: 'd', unique: true };
}

async function plan(more: Partial<ClusterPlanOptions> = {}) {
  const place = { output: directory.path('out'), duplicates: list(), jobDir: jobDir(), tasks: 3, cpusPerTask: 1 };
  return planCluster({ ...job(), ...place, ...more }, { ...SMALL_TASKS, sliceBytes: 700 });
}

async function runAllButCommit(): Promise<void> {
  await shuffle({ ...job(), output: directory.path('local'), duplicates: directory.path('local-list'), workers: 1 });
  for (const [kind, count] of arraysOf(await plan()))
    for (let taskIndex = 0; taskIndex < count; taskIndex++) await runNow({ kind, jobDir: jobDir(), taskIndex });
}

const commit = () => runNow({ kind: 'commit', jobDir: jobDir() });

describe('a plan refuses a list', () => {
  it.each([
    ['out', 'is the output; name another file'],
    ['in', 'is one of the inputs; name another file'],
    ['job/cuts', 'is the job directory or lies in it'],
  ])('in the place %s', async (name, reason) => {
    if (name.startsWith('job')) mkdirSync(jobDir());
    expect(await messageOf(plan({ duplicates: directory.path(name), force: true }))).toContain(reason);
    expect(readdirSync(directory.path('.')).filter((each) => each.startsWith('.'))).toEqual([]);
  });

  it.each([
    [{ unique: false }, '`duplicates` lists what `unique` or `uniqueBy` drops: give one of them'],
    [{ repeat: true, headCount: 9 }, '`duplicates` does not go with `repeat`'],
    [{ memoryBytes: 2 ** 21 }, 'is too small for `duplicates`: expected at least 8M'],
  ])('with %j', async (more, reason) => {
    expect(await messageOf(plan(more))).toContain(reason);
    expect(existsSync(jobDir())).toBe(false);
  });

  it('where a file is', async () => {
    writeFileSync(list(), 'former');
    expect(await messageOf(plan())).toContain('exists already; give `force` to replace it');
    expect(textOf('list')).toBe('former');
  });
});

describe('a list of tasks', () => {
  it('names inputs as they were given, and is made of what the first attempts left alone', async () => {
    await runAllButCommit();
    const made = readdirSync(directory.path('job', 'disk-0')).length;
    for (const taskIndex of [0, 1, 2]) {
      rmSync(directory.path('job', `measure-00000${taskIndex}`));
      await Promise.all([1, 2].map(() => runNow({ kind: 'measure', jobDir: jobDir(), taskIndex, waitSeconds: 20 })));
    }
    // Of each task, one more attempt has left files: the other one of the two has removed its own.
    const again = readdirSync(directory.path('job', 'disk-0')).length;
    const scattered = readdirSync(jobDir()).filter((name) => /^set-\d+\.index$/.test(name)).length;
    expect(again - made).toBe(made - scattered);
    await commit();
    expect(textOf('list')).toBe(textOf('local-list'));
    expect(textOf('list')).toContain(`{"dropped":{"input":"${job().inputs[0]}","byte":`);
  });

  it.runIf(fromCi).each(['out', 'list'])('and its output get no names where %s has appeared', async (name) => {
    await runAllButCommit();
    writeFileSync(directory.path(name), 'of another');
    expect(await messageOf(commit())).toContain(`${directory.path(name)} appeared during the job`);
    expect(textOf(name)).toBe('of another');
    expect(existsSync(directory.path(name === 'out' ? 'list' : 'out'))).toBe(false);
    rmSync(directory.path(name));
    await commit();
    expect([textOf('out'), textOf('list')]).toEqual([textOf('local'), textOf('local-list')]);
  });

  it.runIf(fromCi)('refuses a damaged pile set of lines in one line', async () => {
    await runAllButCommit();
    const [index = ''] = readdirSync(jobDir()).filter(
      (name) => /^set-\d+-\w+\.index$/.test(name) && !isScattered(name),
    );
    writeFileSync(directory.path('job', index), 'damaged');
    expect(await messageOf(commit())).toContain(index);
    expect([existsSync(list()), existsSync(directory.path('out'))]).toEqual([false, false]);
    giveUp();
  });

  it.runIf(fromCi)('is whole or not there, and there before its output, wherever the commit is killed', async () => {
    await runAllButCommit();
    const step = atScale(23, 7, 3);
    const watched = (path: string) => /\/(job|out|list|\.pileshuf-[^/]*)(\/|$)/.test(path);
    const seen = new Set<string>();
    for (let nth = 1; ; nth += step) {
      const faulty = new FaultyFileCalls({ kind: 'kills', part: 'nothing' }, nth, watched);
      const former = replaceFileCalls(faulty.calls);
      await commit().catch(() => {});
      await faulty.settle();
      replaceFileCalls(former);
      const [hasList, hasOutput] = [existsSync(list()), existsSync(directory.path('out'))];
      seen.add(`${hasList} ${hasOutput}`);
      if (hasList) expect(textOf('list')).toBe(textOf('local-list'));
      if (hasOutput) expect([hasList, textOf('out')]).toEqual([true, textOf('local')]);
      if (faulty.struck === undefined) break;
    }
    expect(seen).toContain('false false');
    await commit();
    expect([textOf('out'), textOf('list')]).toEqual([textOf('local'), textOf('local-list')]);
  });
});

/** Whether a pile set is that of a slice: its committed index is a second name of the same file. */
function isScattered(name: string): boolean {
  const slices = readdirSync(jobDir()).filter((each) => /^set-\d+\.index$/.test(each));
  const bytes = readFileSync(directory.path('job', name));
  return slices.some((slice) => readFileSync(directory.path('job', slice)).equals(bytes));
}
