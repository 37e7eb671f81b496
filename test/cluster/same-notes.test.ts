/**
 * A job of tasks and a local job of the same spec and division note the same: what each slice has on each pile, what was
 * decided between the passes, and what was written where.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ClusterPlanOptions } from '#src/index.js';
import { planCluster, shuffle } from '#src/index.js';
import { NOTES, readFinishedRanges, SHUFFLED } from '#src/job-directory/notes.js';
import { readPileSetDescription, readPileTotals } from '#src/piles/pile-set-index.js';
import { arraysOf, runNow, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
/** Piles on disk, in one data file of a slice, as tasks have them. */
const DIVISION = { ...SMALL_TASKS, keepInRam: false, stripeCount: 1 };
const LIMITS = { pileCount: 13, mostShards: 1000 };

const lines = Array.from({ length: 400 }, (_, i) => `record ${i % 170} ${'x'.repeat(i % 37)}\n`).join('');

type Asked = Partial<Omit<ClusterPlanOptions, 'output' | 'jobDir' | 'tasks'>>;

function optionsOf(asked: Asked, job: string) {
  mkdirSync(directory.path(job));
  writeFileSync(directory.path('in'), lines);
  return { inputs: [directory.path('in')], seed: 's', output: directory.path(job, 'out'), ...asked };
}

/** Stops when all is written, and before any output has its name. */
async function notesOfLocalJob(asked: Asked): Promise<string> {
  const jobDir = directory.path('local', 'job');
  const stop = new Error('stopped');
  const onProgress = ({ phase }: { readonly phase: string }) => {
    if (phase === 'commit') throw stop;
  };
  await expect(shuffle({ ...optionsOf(asked, 'local'), jobDir, onProgress }, DIVISION)).rejects.toBe(stop);
  return jobDir;
}

async function notesOfTasks(asked: Asked, tasks: number): Promise<string> {
  const jobDir = directory.path('tasks', 'job');
  const plan = await planCluster({ ...optionsOf(asked, 'tasks'), jobDir, tasks }, DIVISION);
  for (const [kind, count] of arraysOf(plan))
    for (let taskIndex = 0; taskIndex < count; taskIndex++) await runNow({ kind, jobDir, taskIndex });
  return jobDir;
}

/** By slice: what it read, and what each pile has of it. */
function slicesIn(jobDir: string) {
  const names = readdirSync(jobDir).filter((name) => /^set-\d+\.index$/.test(name));
  expect(names.length).toBeGreaterThan(2);
  return names.sort().map((name) => {
    const index = { path: join(jobDir, name) };
    return { name, report: readPileSetDescription(index).report, totals: readPileTotals(index) };
  });
}

function decidedIn(jobDir: string) {
  const { head, splits, cuts } = NOTES;
  return { head: head.read(jobDir, 'head'), splits: splits.read(jobDir, 'splits'), cuts: cuts.read(jobDir, 'cuts') };
}

const isOfTask = (start: string) => (name: string) => name.startsWith(`${start}-`);

/** What stays of each pile, whoever measured it. */
function distinctIn(jobDir: string) {
  const parts = readdirSync(jobDir).filter(isOfTask('measure')).sort();
  const names = parts.length === 0 ? ['distinct'] : parts;
  return names.flatMap((name) => NOTES.distinct.read(jobDir, name)?.piles ?? []);
}

/** Where the bytes of each pile are; of a local job, without what only its own output tells. */
function writtenIn(jobDir: string) {
  const notes = readdirSync(jobDir).filter(isOfTask('shuffle')).sort();
  const ranges =
    notes.length === 0
      ? readFinishedRanges(jobDir, LIMITS).ranges
      : notes.flatMap((name) => SHUFFLED.read(jobDir, name)?.ranges ?? []);
  return ranges.map(({ first, end, regions, ends }) => ({ first, end, regions, ends }));
}

const inOrder = { by: 'records', recordsPerShard: 30 } as const;

it.each<[string, Asked]>([
  ['one file', {}],
  ['shards by bytes', { shards: { by: 'bytes', maxShardBytes: 900 } }],
  ['the first records', { headCount: 390, shards: inOrder }],
  [
    'splits',
    {
      splits: [
        { name: 'test', records: 31 },
        { name: 'train', rest: true },
      ],
      shards: inOrder,
    },
  ],
  ['one of equal records', { unique: true, shards: inOrder }],
  ['one of equal records, the first of them', { unique: true, headCount: 100, shards: { by: 'count', shardCount: 3 } }],
])('tasks note what a local job does: %s', async (_, asked) => {
  const [local, tasks] = [await notesOfLocalJob(asked), await notesOfTasks(asked, 1)];
  expect(slicesIn(tasks)).toEqual(slicesIn(local));
  expect(decidedIn(tasks)).toEqual(decidedIn(local));
  expect(distinctIn(tasks)).toEqual(distinctIn(local));
  expect(writtenIn(tasks)).toEqual(writtenIn(local));
});

it('several tasks write where one does', async () => {
  const [local, tasks] = [await notesOfLocalJob({}), await notesOfTasks({}, 3)];
  expect(slicesIn(tasks)).toEqual(slicesIn(local));
  const written = writtenIn(tasks);
  expect(written).toHaveLength(3);
  const joined = written.flatMap(({ regions }) => regions).map(({ start, end }) => [start, end]);
  const [whole] = writtenIn(local).flatMap(({ regions }) => regions);
  expect(joined.map(([start]) => start)).toEqual([0, ...joined.slice(0, -1).map(([, end]) => end)]);
  expect(joined.at(-1)?.[1]).toBe(whole?.end);
});
