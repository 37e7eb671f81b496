/** Reads back what the shuffle tasks wrote before the output is published: days and machines lie between. */
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { StagedRange } from '../../workers/tasks/checksum-output.js';
import { counted, VerificationError } from '../errors.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import { openForRead, versionOf, withFile } from '../io/files.js';
import { nameExists, statPath } from '../io/paths.js';
import { DAMAGED, type DamagedRegion, type ShuffledNote, VERIFIED } from '../job-directory/notes.js';
import { findChanged, rangesOf } from '../stages/finished-output.js';
import { runTasks, tasksAtOnce } from '../stages/run-tasks.js';
import type { Threads } from '../stages/threads.js';
import { nameSome } from '../values/format-numbers.js';
import { noteNameOf, taskCountOf, tasksOf } from './cluster-plan.js';
import {
  type ClusterJob,
  lastDamagedRegions,
  notReadyError,
  pathsOfShards,
  readShuffledNote,
  rewriteCountOf,
  startTaskThreads,
  unfinishedMessage,
  unfinishedTasks,
  waitUntilDone,
} from './open-job.js';
import { commandLine } from './slurm-script.js';

/**
 * Reads back the output of the shuffle task of this index. If it is damaged, that task is no longer done.
 * @returns the stored bytes that this attempt read; undefined if the task was done before.
 */
export async function runVerifyTask(job: ClusterJob): Promise<number | undefined> {
  const { directory, deadline, index } = job;
  const rewrite = rewriteCountOf(directory, index);
  const name = noteNameOf('verify', index, rewrite);
  if (statPath(join(directory, name), 'temp') !== undefined) return undefined;
  const record = await deadline.waitUntilFound(directory, () => readShuffledNote(directory, index, rewrite));
  if (record === undefined) throw notWrittenError(job, [index]);
  const threads = await startTaskThreads(job);
  const bytes = await requireUndamaged(job, [record], threads);
  await VERIFIED.write(directory, name, {}, `verify task ${index}`);
  return bytes;
}

export function readShuffleRecords(job: ClusterJob): ShuffledNote[] {
  const { directory, plan } = job;
  return tasksOf(plan, 'shuffle').map((task) => {
    const record = readShuffledNote(directory, task, rewriteCountOf(directory, task));
    if (record === undefined) throw notWrittenError(job, [task]);
    return record;
  });
}

/** Throws a VerificationError if tasks are not done because what they wrote was damaged. */
export async function requireWritten(job: ClusterJob, isOver: () => boolean): Promise<void> {
  await waitUntilDone(job, 'shuffle', isOver).catch((error: unknown) => {
    throw damagedOutputError(job, unfinishedTasks(job, 'shuffle')) ?? error;
  });
}

function notWrittenError(job: ClusterJob, tasks: readonly number[]): Error {
  return damagedOutputError(job, tasks) ?? notReadyError(unfinishedMessage('shuffle', tasks, job.directory));
}

/** Bytes of a staged file, and who wrote them. */
interface WrittenRange extends StagedRange {
  readonly record: ShuffledNote;
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
  const { there, damaged } = await findRanges(job, records);
  const bytes = there.reduce((sum, { start, end }) => sum + end - start, 0);
  if (threads !== undefined) {
    const before = control.counted('shuffledBytes');
    log.count(bytes, () => control.counted('shuffledBytes') - before);
    damaged.push(...(await changedAmong(job, there, threads)));
  }
  if (damaged.length === 0) return bytes;
  const damage = new Map<number, DamagedRegion[]>();
  for (const each of records) {
    const regions = damaged.flatMap(({ record, path, start, end }) => (record === each ? [{ path, start, end }] : []));
    if (regions.length === 0) continue;
    damage.set(each.task, regions);
    const name = noteNameOf('damaged', each.task, each.rewrite);
    await DAMAGED.write(directory, name, { regions }, `shuffle task ${each.task}`);
  }
  throw damageError(job, damage);
}

/** The ranges by whether their files reach to their ends. Waits for files that may not be visible here yet. */
async function findRanges(job: ClusterJob, records: readonly ShuffledNote[]) {
  const { deadline, signal } = job;
  const ranges: WrittenRange[] = [];
  const endOf = new Map<string, number>();
  for (const record of records) {
    const regions = record.ranges.flatMap((range) => range.regions);
    for (const range of rangesOf(regions, record.headerBytes, await pathsOfShards(job, record))) {
      ranges.push({ ...range, record });
      endOf.set(range.path, Math.max(endOf.get(range.path) ?? 0, range.end));
    }
  }
  const lengthOf = new Map<string, number>();
  for (const [path, end] of endOf) {
    await yieldAndCheckAbortAt(lengthOf.size, signal);
    await deadline.waitUntilFound(dirname(path), () => lengthHere(path) >= end || undefined);
    lengthOf.set(path, lengthHere(path));
  }
  const isThere = ({ path, end }: WrittenRange) => end <= (lengthOf.get(path) ?? 0);
  return { there: ranges.filter(isThere), damaged: ranges.filter((range) => !isThere(range)) };
}

/** Opens the file, so that this machine asks for its length. */
function lengthHere(path: string): number {
  return nameExists(path, 'output') ? withFile(openForRead(path, 'output'), versionOf).byteLength : 0;
}

/** Reads ranges back, and once more those that seem to have changed. @returns those that have. */
async function changedAmong(
  { plan, control, gates, onWarning }: ClusterJob,
  ranges: readonly WrittenRange[],
  threads: Threads,
): Promise<WrittenRange[]> {
  const { readBytes, pass1ArenaBytes: arenaBytes } = plan.memory;
  const { jobName } = threads;
  const job = { jobName, control: control.buffer, arenaBytes, readBytes, isProfiled: plan.profile !== undefined };
  const gate = gates.gateOf(plan.stagingDirectory, 'output');
  const changed: WrittenRange[] = [];
  const compare = async ({ path, start, end, checksum }: WrittenRange) => {
    const task = { job, gate, ranges: [{ path, start, end, checksum }] };
    const isSame = async () => (await findChanged(task, threads)) === undefined;
    if (await isSame()) return true;
    if (!(await isSame())) return false;
    onWarning(`${path} was read wrongly once; check the memory and the network of ${hostname()}`);
    return true;
  };
  const take = (isSame: boolean, each: WrittenRange) => {
    if (!isSame) changed.push(each);
  };
  await runTasks(ranges, compare, take, tasksAtOnce(threads), threads.stop);
  return changed;
}

function damagedOutputError(job: ClusterJob, tasks: readonly number[]): VerificationError | undefined {
  const found = tasks.map((task) => [task, lastDamagedRegions(job.directory, task)] as const);
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
