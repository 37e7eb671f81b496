/**
 * Opens a planned job on the machine of a task, checks that this machine can do the task, and finds which tasks are done. A
 * task is done when its note has its name in the job directory: of a scatter task the indexes of its slices, of another
 * task a file of its own. A shuffle task is done until its output is found damaged when it is read back: then it writes its
 * output once more. No note of damage is ever removed, so a late attempt changes nothing.
 */
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import type { JobControl } from '../floor/job-control.js';
import type { PagedList } from '../floor/paged-list.js';
import { codecNamed } from '../formats/codec-table.js';
import type { FileRole } from '../io/io-error.js';
import { listNames, nameExists, realPathOf, statPath } from '../io/paths.js';
import { VisibilityDeadline } from '../io/wait-until-visible.js';
import type { JobScope } from '../job/job.js';
import { TempDisks } from '../job/temp-disks.js';
import { createControl } from '../job/work-plan.js';
import { DAMAGED, type DamagedRegion, SHUFFLED, type ShuffledNote } from '../job-directory/notes.js';
import { committedIndexPath } from '../job-directory/pile-set-commits.js';
import { hasSecondKeys, isScatteredTwice } from '../keep/content-rule.js';
import { DeviceGates } from '../machine/devices.js';
import { readMemory } from '../machine/limits.js';
import { stagedPath } from '../sinks/output-target.js';
import { inputKeysOf } from '../sources/ids.js';
import type { FileInput } from '../sources/input.js';
import type { PileStorage } from '../stages/task-settings.js';
import { JobStop, startThreads, type Threads } from '../stages/threads.js';
import { nameSome } from '../values/format-numbers.js';
import type { AttemptLog } from './attempt-log.js';
import {
  type ArrayKind,
  type ClusterInput,
  type ClusterPlan,
  COMMITTED_NAME,
  DATA_NAME,
  noteNameOf,
  PLAN_NAME,
  readClusterPlan,
  type TaskKind,
  tasksOf,
} from './cluster-plan.js';

/** One attempt at a task. */
export interface TaskAttempt {
  readonly kind: TaskKind;
  /** 0 of a commit. */
  readonly index: number;
  /** A directory on this machine, for piles that are too large. */
  readonly scratchDir: string;
  readonly deadline: VisibilityDeadline;
  readonly log: AttemptLog;
  readonly scope: JobScope;
  readonly signal: AbortSignal | undefined;
  readonly onWarning: (line: string) => void;
}

/** A planned job, as the attempt at a task sees it. */
export interface ClusterJob extends TaskAttempt {
  readonly directory: string;
  readonly plan: ClusterPlan;
  readonly gates: DeviceGates;
  readonly control: JobControl;
  readonly stop: JobStop;
  readonly piling: PileStorage;
  /** The inputs as the plan has them; a task that reads some looks at these again. */
  readonly inputs: PagedList<FileInput>;
  /** The companion of each input. Undefined: they have none. */
  readonly companions: PagedList<FileInput> | undefined;
  readonly keyOf: (inputOrdinal: number) => bigint;
}

/** @returns undefined if the job is committed. */
export async function openClusterJob(jobDir: string, attempt: TaskAttempt): Promise<ClusterJob | undefined> {
  const { kind, deadline, signal, scope } = attempt;
  const found = await findPlan(jobDir, deadline);
  if (found === undefined) return undefined;
  const { directory, plan } = found;
  // A commit puts no records in order, so it may have less memory.
  if (kind !== 'commit') requireMemory(plan);
  const gates = new DeviceGates(ioLimitsHere(plan));
  const { pileCount, stripeCount } = plan.memory;
  const disks = new TempDisks([directory], gates).in([join(directory, DATA_NAME)]);
  const layout = {
    pileCount,
    stripeCount,
    disks,
    indexDirectory: directory,
    hasSecondKeys: hasSecondKeys(plan.spec),
  };
  makeGates(plan, attempt, gates);
  const control = createControl(plan, gates);
  const stop = new JobStop(control, signal, scope.releases);
  return {
    ...attempt,
    directory,
    plan,
    gates,
    control,
    stop,
    piling: { layout, ramPool: undefined, tempZstdLevel: plan.tempZstdLevel },
    inputs: plan.inputs.mapped((input) => inputOf(input, plan)),
    companions: companionsOf(plan),
    keyOf: inputKeysOf(plan.spec, plan.inputIds),
  };
}

/** A control has room only for the gates that are known when it is made: so a task names all of its devices before. */
function makeGates(plan: ClusterPlan, { kind, index, scratchDir }: TaskAttempt, gates: DeviceGates): void {
  // What is not there is refused where it is opened.
  const makeGate = (path: string, role: FileRole) => {
    if (statPath(path, role) !== undefined) gates.gateOf(path, role);
  };
  // The directory in it may be made on another machine, and not be visible here yet.
  makeGate(dirname(plan.stagingDirectory), 'output');
  if (kind !== 'scatter') makeGate(scratchDir, 'temp');
  else
    for (const input of inputsOfSlices(plan, plan.scatterTasks[index] ?? []))
      makeGate(plan.inputs.at(input)?.path ?? '', 'input');
}

/** Returns the ordinals of the inputs of some slices. */
export function inputsOfSlices({ slices }: ClusterPlan, some: readonly number[]): ReadonlySet<number> {
  return new Set(some.flatMap((slice) => slices.at(slice)?.map(({ inputOrdinal }) => inputOrdinal) ?? []));
}

/** @param deadline default: looks once. @returns undefined if the job is committed. */
export async function findPlan(
  jobDir: string,
  deadline = new VisibilityDeadline(0, undefined),
): Promise<{ readonly directory: string; readonly plan: ClusterPlan } | undefined> {
  const named = resolve(jobDir);
  const found = await deadline.waitUntilFound(named, () => {
    if (statPath(named, 'temp')?.isDirectory() !== true) return undefined;
    const directory = realPathOf(named, 'temp');
    if (isCommitted(directory)) return { directory, plan: undefined };
    const plan = readClusterPlan(directory);
    return plan && { directory, plan };
  });
  if (found !== undefined) return found.plan === undefined ? undefined : { ...found, plan: found.plan };
  const what =
    statPath(named, 'temp') === undefined
      ? `the job directory ${named} does not exist on ${hostname()}`
      : `${named} holds no plan on ${hostname()}`;
  throw new UsageError(
    `${what}; expected the file ${join(named, PLAN_NAME)} that pileshuf cluster plan wrote, on storage that all machines share`,
  );
}

export function isCommitted(directory: string): boolean {
  return statPath(join(directory, COMMITTED_NAME), 'temp') !== undefined;
}

function requireMemory({ memoryBytes }: ClusterPlan): void {
  const { totalBytes } = readMemory();
  if (memoryBytes <= totalBytes) return;
  const mib = (bytes: number) => Math.floor(bytes / 2 ** 20);
  throw new UsageError(
    `the plan gives each task ${mib(memoryBytes)} MiB of memory, and this task may use ${mib(totalBytes)} MiB on ${hostname()}; ask the scheduler for more, or plan again with less`,
    'ERR_MEMORY_BUDGET',
  );
}

/** A limit for a path that this machine lacks limits nothing here. */
function ioLimitsHere({ ioLimits }: ClusterPlan): Record<string, number> {
  return Object.fromEntries(Object.entries(ioLimits).filter(([path]) => statPath(path, 'temp') !== undefined));
}

function companionsOf(plan: ClusterPlan): PagedList<FileInput> | undefined {
  if (plan.spec.keep.weightBy?.beside === undefined) return undefined;
  return plan.inputs.mapped(({ path, companion }) => {
    if (companion === undefined) throw new RangeError(`${path} has no companion`);
    return inputOf(companion, plan);
  });
}

function inputOf(
  { path, byteLength, modifiedNanoseconds, codec, header, rows }: ClusterInput,
  { spec }: ClusterPlan,
): FileInput {
  return {
    kind: 'file',
    path,
    // The device has another number on each machine: a task that reads the input finds its own.
    version: { identity: '', byteLength, modifiedNanoseconds },
    codec: codec === undefined ? undefined : codecNamed(codec, spec.read.decompressProgram),
    finding: undefined,
    header,
    rows,
  };
}

export async function startTaskThreads({ plan, control, stop, log, scope }: ClusterJob): Promise<Threads> {
  const threadCount = plan.inline ? 0 : plan.memory.workers;
  const threads = await startThreads({ threadCount, startCount: 0 }, { control, stop }, log.add, scope.releases);
  log.useThreads(threads.pool.threadCount);
  return threads;
}

export function notReadyError(message: string): SystemError {
  return new SystemError('ERR_NOT_READY', message);
}

export type FoundJob = Pick<ClusterJob, 'directory' | 'plan'>;

/** The tasks that are not done, as far as this machine sees. */
export function unfinishedTasks({ directory, plan }: FoundJob, kind: ArrayKind): number[] {
  const isNoted = (name: string) => statPath(join(directory, name), 'temp') !== undefined;
  const isDone = (task: number) => {
    if (kind === 'scatter' || (kind === 'measure' && isScatteredTwice(plan.spec)))
      return slicesLeft({ directory, plan }, kind, task).length === 0;
    return isNoted(noteNameOf(kind, task, kind === 'measure' ? 0 : rewriteCountOf(directory, task)));
  };
  return tasksOf(plan, kind).filter((task) => !isDone(task));
}

/** Returns the slices of a task that are not scattered: those of inputs, or the one of piles, which follows these. */
export function slicesLeft({ directory, plan }: FoundJob, kind: 'scatter' | 'measure', task: number): number[] {
  const slices = kind === 'scatter' ? (plan.scatterTasks[task] ?? []) : [plan.slices.length + task];
  return slices.filter((slice) => statPath(committedIndexPath(directory, slice), 'temp') === undefined);
}

/** Waits until all tasks of a kind are done. @param isOver whether the job needs them no more. */
export async function waitUntilDone(
  job: Pick<ClusterJob, 'directory' | 'plan' | 'deadline'>,
  kind: ArrayKind,
  isOver: () => boolean = () => false,
): Promise<void> {
  const { directory, deadline } = job;
  const isReady = () => unfinishedTasks(job, kind).length === 0 || isOver() || undefined;
  if ((await deadline.waitUntilFound(directory, isReady)) === true) return;
  throw notReadyError(unfinishedMessage(kind, unfinishedTasks(job, kind), directory));
}

export function unfinishedMessage(kind: ArrayKind, tasks: readonly number[], directory: string): string {
  const one = tasks.length === 1;
  return `${kind} task${one ? '' : 's'} ${nameSome(tasks.map(String))} of ${directory} ${one ? 'is' : 'are'} not done; run ${one ? 'it' : 'them'} first`;
}

export function readShuffledNote(jobDirectory: string, task: number, rewrite: number): ShuffledNote | undefined {
  return SHUFFLED.read(jobDirectory, noteNameOf('shuffle', task, rewrite));
}

/**
 * Returns where the shards of a task lie: in the directory of its attempt, or where a commit that was killed has moved
 * them. A shard of an earlier attempt may lie there as well.
 */
export async function pathsOfShards(
  { plan: { stagingDirectory }, deadline }: ClusterJob,
  { own, ranges }: ShuffledNote,
): Promise<(shard: number) => string> {
  const isEmpty = ranges.every(({ regions }) => regions.length === 0);
  if (own === null || isEmpty) return (shard) => stagedPath(stagingDirectory, shard);
  const directory = join(stagingDirectory, own);
  const names = await deadline.waitUntilFound(stagingDirectory, () =>
    nameExists(directory, 'output') ? new Set(listNames(directory, 'output')) : undefined,
  );
  return (shard) => {
    const inOwn = stagedPath(directory, shard);
    const moved = stagedPath(stagingDirectory, shard);
    return names !== undefined && !names.has(basename(inOwn)) && nameExists(moved, 'output') ? moved : inOwn;
  };
}

/** How often the output of a shuffle task was found damaged. */
export function rewriteCountOf(jobDirectory: string, task: number): number {
  let rewrite = 0;
  while (statPath(join(jobDirectory, noteNameOf('damaged', task, rewrite)), 'temp') !== undefined) rewrite += 1;
  return rewrite;
}

/** Returns the regions that were damaged when the output of a task was last verified. */
export function lastDamagedRegions(jobDirectory: string, task: number): readonly DamagedRegion[] {
  const rewrite = rewriteCountOf(jobDirectory, task) - 1;
  if (rewrite < 0) return [];
  return DAMAGED.read(jobDirectory, noteNameOf('damaged', task, rewrite))?.regions ?? [];
}
