/** Before the output is published, reads back what the shuffle tasks wrote: days and machines lie between. */
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { counted, VerificationError } from '../errors.js';
import { openForRead, versionOf, withFile } from '../io/files.js';
import { nameExists, statPath } from '../io/paths.js';
import { DAMAGED, type DamagedRegion, type ShuffledNote, VERIFIED } from '../job-directory/notes.js';
import { hearSignalsAt } from '../pause.js';
import { nameSome } from '../quantity.js';
import type { WrittenRegion } from '../sinks/output-target.js';
import { findChanged } from '../stages/finished-output.js';
import { runTasks, tasksAtOnce } from '../stages/run-tasks.js';
import type { Threads } from '../stages/threads.js';
import { recordNameOf, taskCountOf } from './cluster-plan.js';
import { type ClusterJob, notReady, startTaskThreads } from './open-job.js';
import { commandLine } from './slurm-script.js';
import {
  lastDamage,
  pathsOfShards,
  readShuffled,
  requireDone,
  rewriteOf,
  unfinished,
  unfinishedTasks,
} from './task-arrays.js';

/**
 * If the output of the shuffle task of this index is damaged, that task is no longer done.
 * @returns the stored bytes that this attempt read; undefined if the task was done before.
 */
export async function verifyPart(job: ClusterJob): Promise<number | undefined> {
  const { directory, patience, index } = job;
  const rewrite = rewriteOf(directory, index);
  const name = recordNameOf('verify', index, rewrite);
  if (statPath(join(directory, name), 'temp') !== undefined) return undefined;
  const record = await patience.untilFound(directory, () => readShuffled(directory, index, rewrite));
  if (record === undefined) throw notWritten(job, [index]);
  const threads = await startTaskThreads(job);
  const bytes = await requireUndamaged(job, [record], threads);
  await VERIFIED.write(directory, name, {}, `verify task ${index}`);
  return bytes;
}

export function readShuffleRecords(job: ClusterJob): ShuffledNote[] {
  const { directory, plan } = job;
  return Array.from({ length: taskCountOf(plan, 'shuffle') }, (_, task) => {
    const record = readShuffled(directory, task, rewriteOf(directory, task));
    if (record === undefined) throw notWritten(job, [task]);
    return record;
  });
}

/** Throws a VerificationError if tasks are not done because what they wrote was damaged. */
export async function requireWritten(job: ClusterJob, isOver: () => boolean): Promise<void> {
  await requireDone(job, 'shuffle', isOver).catch((error: unknown) => {
    throw damageOf(job, unfinishedTasks(job, 'shuffle')) ?? error;
  });
}

function notWritten(job: ClusterJob, tasks: readonly number[]): Error {
  return damageOf(job, tasks) ?? notReady(unfinished('shuffle', tasks, job.directory));
}

/** A region of a staged file, and who wrote it. */
interface StagedRegion {
  readonly record: ShuffledNote;
  readonly path: string;
  readonly headerBytes: number;
  readonly region: WrittenRegion;
}

/**
 * Looks whether all that tasks wrote is there, and reads it back. If not, these tasks are not done any more.
 * @param threads undefined: verify tasks have read it, or nobody shall; then only the lengths of files are compared.
 * @returns the stored bytes of the regions.
 */
export async function requireUndamaged(
  job: ClusterJob,
  records: readonly ShuffledNote[],
  threads: Threads | undefined,
): Promise<number> {
  const { directory, control, log } = job;
  const { there, damaged } = await findRegions(job, records);
  const bytes = there.reduce((sum, { region }) => sum + region.end - region.start, 0);
  if (threads !== undefined) {
    const before = control.counted('shuffledBytes');
    log.count(bytes, () => control.counted('shuffledBytes') - before);
    damaged.push(...(await changedAmong(job, there, threads)));
  }
  if (damaged.length === 0) return bytes;
  const damage = new Map<number, DamagedRegion[]>();
  for (const { record, path, headerBytes, region } of damaged) {
    const ofTask = damage.get(record.task) ?? [];
    ofTask.push({ path, start: headerBytes + region.start, end: headerBytes + region.end });
    damage.set(record.task, ofTask);
  }
  for (const record of records) {
    const ofTask = damage.get(record.task);
    if (ofTask === undefined) continue;
    const name = recordNameOf('damaged', record.task, record.rewrite);
    await DAMAGED.write(directory, name, { regions: ofTask }, `shuffle task ${record.task}`);
  }
  throw damageError(job, damage);
}

/** The regions by whether their files reach to their ends. Waits for files that may not be visible here yet. */
async function findRegions(job: ClusterJob, records: readonly ShuffledNote[]) {
  const { patience, signal } = job;
  const regions: StagedRegion[] = [];
  for (const record of records) {
    const pathOf = await pathsOfShards(job, record);
    for (const region of record.ranges.flatMap((range) => range.regions))
      regions.push({ record, path: pathOf(region.shard), headerBytes: record.headerBytes, region });
  }
  const endOf = new Map<string, number>();
  for (const { path, headerBytes, region } of regions)
    endOf.set(path, Math.max(endOf.get(path) ?? 0, headerBytes + region.end));
  const lengthOf = new Map<string, number>();
  for (const [path, end] of endOf) {
    await hearSignalsAt(lengthOf.size, signal);
    await patience.untilFound(dirname(path), () => lengthHere(path) >= end || undefined);
    lengthOf.set(path, lengthHere(path));
  }
  const there: StagedRegion[] = [];
  const damaged: StagedRegion[] = [];
  for (const each of regions) {
    const { path, headerBytes, region } = each;
    (headerBytes + region.end <= (lengthOf.get(path) ?? 0) ? there : damaged).push(each);
  }
  return { there, damaged };
}

/** Opens the file, so that this machine asks for its length. */
function lengthHere(path: string): number {
  return nameExists(path, 'output') ? withFile(openForRead(path, 'output'), versionOf).byteLength : 0;
}

/** Reads regions back, and once more those that seem to have changed. @returns those that have. */
async function changedAmong(
  { plan, control, gates, onWarning }: ClusterJob,
  regions: readonly StagedRegion[],
  threads: Threads,
): Promise<StagedRegion[]> {
  const { readBytes, pass1ArenaBytes: arenaBytes } = plan.memory;
  const settings = { jobName: threads.jobName, control: control.buffer, arenaBytes, readBytes };
  const place = {
    job: { ...settings, isProfiled: plan.profile !== undefined },
    gate: gates.gateOf(plan.stagingDirectory, 'output'),
  };
  const changed: StagedRegion[] = [];
  const compare = async ({ path, headerBytes, region }: StagedRegion) => {
    const task = { ...place, stagingDirectory: dirname(path), headerBytes, regions: [region] };
    const isSame = async () => (await findChanged(task, threads)) === undefined;
    if (await isSame()) return true;
    if (!(await isSame())) return false;
    onWarning(`${path} was read wrongly once; check the memory and the network of ${hostname()}`);
    return true;
  };
  const take = (isSame: boolean, each: StagedRegion) => {
    if (!isSame) changed.push(each);
  };
  await runTasks(regions, compare, take, tasksAtOnce(threads), threads.stop);
  return changed;
}

function damageOf(job: ClusterJob, tasks: readonly number[]): VerificationError | undefined {
  const found = tasks.map((task) => [task, lastDamage(job.directory, task)] as const);
  const damaged = found.filter(([, regions]) => regions.length > 0);
  return damaged.length === 0 ? undefined : damageError(job, new Map(damaged));
}

function damageError(
  { directory, plan }: ClusterJob,
  damage: ReadonlyMap<number, readonly DamagedRegion[]>,
): VerificationError {
  const tasks = [...damage.keys()].sort((a, b) => a - b);
  const [task = 0] = tasks;
  const first = damage.get(task)?.[0];
  const regionCount = [...damage.values()].reduce((sum, regions) => sum + regions.length, 0);
  const named = nameSome(tasks.map(String));
  const isOne = tasks.length === 1;
  const others =
    regionCount === 1
      ? ''
      : `, and ${counted(regionCount - 1, 'more region')} of ${isOne ? 'it' : `shuffle tasks ${named}`} ${regionCount === 2 ? 'is' : 'are'} damaged`;
  const index = isOne ? String(task) : 'I';
  const again = commandLine(['pileshuf', 'cluster', 'task', 'shuffle', '--job-dir', directory, '--index', index]);
  const which = isOne ? '' : ` for I of ${named}`;
  const verify = taskCountOf(plan, 'verify') > 0 ? ', then the same with verify' : '';
  return new VerificationError(
    `bytes ${first?.start} to ${first?.end} of ${first?.path} are not what shuffle task ${task} wrote there${others}; run ${again}${which}${verify}, then the commit`,
  );
}
