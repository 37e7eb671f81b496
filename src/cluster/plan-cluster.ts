/**
 * Plans a shuffle as tasks that run on several machines, which share storage and know nothing of each other. Decides tasks,
 * slices and piles, looks at the inputs before their cuts, and writes the plan. The work then takes these steps:
 *
 *     plan       this file: lists and checks everything once, writes the job directory   cluster-plan.ts
 *     scatter    an array of tasks, each of which turns its slices into pile sets        array-tasks.ts
 *     measure    if equal records go alone: an array that finds what stays of each pile  array-tasks.ts
 *     shuffle    an array of tasks, each of which writes a part of the output            array-tasks.ts
 *     verify     of a large output alone: an array that reads back what these wrote      read-back.ts
 *     commit     one task: verifies, moves the outputs into place, removes the rest      commit-job.ts
 *
 * The scheduler decides where tasks run, and when, and how often. A task may be killed at any moment, run again, and
 * run twice at the same time. So an attempt writes under names of its own, and is done when a hard link gives its
 * note the one name that the plan expects: the first wins. Others read from that note what was done; nobody lists a
 * directory to find out, compares clocks, or takes a lock, except for the commit (commit-lease.ts).
 *
 * The bytes are those of the local job. Where slices begin, how many piles there are and who writes which part decides
 * nothing about them.
 */

import { isAbsolute } from 'node:path';
import { UsageError } from '../errors.js';
import type { JobControl } from '../floor/job-control.js';
import type { LockedPlaces } from '../job/earlier-attempt.js';
import { type JobScope, runJob } from '../job/job.js';
import { type PreparedShuffle, prepareShuffle } from '../job/prepare-shuffle.js';
import type { MachineRequest, ShuffleRequest } from '../job/request.js';
import { TempDisks } from '../job/temp-disks.js';
import { planShuffle, type ScatterPlan } from '../job/work-plan.js';
import { isDistinct } from '../keep/distinct.js';
import { withoutHead } from '../keep/head.js';
import { recordsOfOutput } from '../keep/keep-spec.js';
import { DeviceGates } from '../machine/devices.js';
import { CLUSTER_PLAN_OPTIONS, type ClusterPlanOptions } from '../options/cluster-options.js';
import { inputFactsOf, loadInputPlaces } from '../places/inputs/input-kinds.js';
import { requireOutside } from '../places/outputs/output-files.js';
import type { OutputPlace } from '../places/outputs/output-place.js';
import type { Tuning } from '../plan/memory-plan.js';
import { MOST_SHARDS, type ShardRule } from '../plan/shard-cuts.js';
import type { SlicePart } from '../plan/slices.js';
import { shareSlices } from '../plan/task-shares.js';
import { requireWithoutSecrets } from '../remote/address.js';
import { memoryBesideTransfers } from '../remote/transfer-pool.js';
import { type Input, type Inputs, isFileInput, pathsOf } from '../sources/input.js';
import type { ReadableInputs } from '../sources/input-part.js';
import { isEncoded, type OutputSpec } from '../spec.js';
import { storedBytesOf } from '../stages/scatter-slices.js';
import { findStartStates, type StartState, type StartStateOf } from '../stages/start-states.js';
import { type MachinePlan, scatterSettings } from '../stages/task-settings.js';
import { JobStop, startThreads } from '../stages/threads.js';
import { requireKnownOptions } from '../values/known-options.js';
import { makeAttemptsDirectory, requireProfilePlace } from './attempt-log.js';
import {
  type ClusterInput,
  type ClusterPart,
  type PlanToWrite,
  type ProfilePlace,
  writeClusterPlan,
} from './cluster-plan.js';
import { ADVICE_OF_PLANS, adviseInError, adviseInWarnings } from './task-advice.js';

/** The tasks of a planned job. */
export interface ClusterPlanReport {
  readonly jobDir: string;
  readonly seed: string;
  readonly inputCount: number;
  /** The decoded bytes of the inputs; from samples where they are compressed. */
  readonly expectedBytes: number;
  /** The indexes of the tasks of each kind go from 0 to one less. 0: the job has no such tasks. */
  readonly scatterTasks: number;
  /** 0: equal records stay. */
  readonly measureTasks: number;
  readonly shuffleTasks: number;
  /** 0 if the commit reads the output back, or nobody does. */
  readonly verifyTasks: number;
  readonly cpusPerTask: number;
  readonly memoryBytes: number;
  readonly piles: number;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** A smaller task takes longer to start than to be done. */
const LEAST_TASK_BYTES = 64 * MIB;
/** Enough that the threads of a task end together, few enough that the files are large. */
const SLICES_A_THREAD = 2;
/** Shuffle tasks then get equal parts, to about a tenth. */
const PILES_A_THREAD = 8;
/** The most of an output that the commit reads back itself: one machine reads it in a few minutes. */
const MOST_COMMIT_READ_BYTES = 100e9;
/** Smaller buffers write pieces that no disk likes. */
const SMALLEST_BUFFER_BYTES = 64 * 1024;
/** A slice of the first plan, which only tells how much there is. */
const ENDLESS_SLICE_BYTES = 2 ** 50;

/**
 * Plans a shuffle as tasks for several machines, and writes the plan to the job directory.
 * @throws PileshufError as `shuffle` does before it starts; UsageError for what tasks cannot do.
 */
export async function planCluster(
  options: ClusterPlanOptions,
  tuning: Partial<Tuning> = {},
): Promise<ClusterPlanReport> {
  requireKnownOptions('planCluster()', options, CLUSTER_PLAN_OPTIONS);
  const advised = adviseInWarnings(options, ADVICE_OF_PLANS);
  try {
    const { value } = await runJob(advised, (scope) => planTasks(advised, tuning, scope));
    return value;
  } catch (error) {
    adviseInError(error, ADVICE_OF_PLANS);
    throw error;
  }
}

async function planTasks(options: ClusterPlanOptions, tuning: Tuning, scope: JobScope): Promise<ClusterPlanReport> {
  const { tasks, cpusPerTask = 4, memoryBytes: given, readBack = true, profile: file, ...rest } = options;
  const memoryBytes = given ?? cpusPerTask * GIB;
  refuseUnplannable(options);
  // One data file for a slice: on shared storage the number of files costs, and the piles go together at the commit.
  const onDisk: Tuning = { ...tuning, mayUseRamPool: false, stripeCount: 1 };
  const onlySizes: Tuning = { ...onDisk, sliceBytes: ENDLESS_SLICE_BYTES };
  let profile: ProfilePlace | undefined;
  const prepared = await prepareShuffle(rest, onlySizes, scope, {
    checkPlaces(listed, { output, paths }) {
      if (paths === undefined) return;
      // A listing of inputs leaves out the directory of a local job, and not that of tasks.
      requireOutside(paths.jobDirectory, 'the job directory', listed.directories);
      if (file === undefined) return;
      profile = requireProfilePlace(file, options.force ?? false, { ...listed, output }, options.jobDir);
    },
  });
  const { places, inputsToRead, inputs } = prepared;
  if (places.kind === 'stream')
    throw new UsageError(
      `the output ${places.output.path} is a stream; expected a file or a directory that tasks share`,
    );

  requireFiles(inputsToRead);
  // Elsewhere the service verifies what it gets, and nobody can read it back before the commit.
  const readsBack = readBack && places.place.isOnDisk;
  const machine = { memoryBytes, workers: cpusPerTask };
  const division = await divideAmongTasks(prepared, { places, machine, tasks, readsBack }, onDisk);
  const { plan, taskCount, otherTasks, expectedBytes, expectedOutputBytes } = division;
  const { spec, service, ioLimits, tempZstdLevel } = prepared.request;
  const before = await readBeforeSlices({ ...prepared, inputs: inputsToRead }, plan, scope);
  const sliceBytes = plan.slices.map((slice) => storedBytesOf(slice, inputs));
  const planToWrite: PlanToWrite = {
    spec,
    ioLimits,
    tempZstdLevel,
    inputs: rowsFrom(inputsToRead.entries(), ([ordinal, input]) => inputOf(input, prepared.companions?.at(ordinal))),
    service,
    inputIds: prepared.inputIds,
    firstHeader: prepared.firstHeader,
    weighing: prepared.weighing,
    output: places.output,
    stagingDirectory: places.paths.stagingDirectory,
    readsBack,
    slices: rowsFrom(plan.slices, (parts) => parts.map((part) => withBefore(part, before(part)))),
    scatterTasks: shareSlices(sliceBytes, Math.max(1, Math.min(taskCount, plan.slices.length))),
    otherTasks,
    sliceBytes,
    head: prepared.plan.head && { ...prepared.plan.head, zeroBits: 0 },
    expectedBytes,
    expectedOutputBytes,
    memoryBytes,
    profile,
    memory: plan.memory,
    memoryNeed: plan.memoryNeed,
    inline: plan.inline,
  };
  await writePlan(planToWrite, places, scope.warn);
  return { jobDir: places.paths.jobDirectory, inputCount: inputs.length, cpusPerTask, ...reportOf(planToWrite) };
}

function reportOf({ spec, expectedBytes, scatterTasks, otherTasks, memoryBytes, memory }: PlanToWrite) {
  return {
    seed: spec.key.seed,
    expectedBytes,
    scatterTasks: scatterTasks.length,
    measureTasks: otherTasks.measure,
    shuffleTasks: otherTasks.shuffle,
    verifyTasks: otherTasks.verify,
    memoryBytes,
    piles: memory.pileCount,
  };
}

interface TasksToPlan {
  readonly places: LockedPlaces;
  /** The machine of each task. */
  readonly machine: Pick<MachineRequest, 'memoryBytes' | 'transfers' | 'workers'>;
  readonly tasks: number;
  readonly readsBack: boolean;
}

/** Decides how many tasks there are of each kind, and the slices and piles that give the threads of all tasks equal work. */
async function divideAmongTasks(
  { request: asked, inputs, inputsToRead, companions, estimate, weighing }: PreparedShuffle,
  { places, machine, tasks, readsBack }: TasksToPlan,
  onDisk: Tuning,
) {
  const { spec } = asked;
  // Each task leaves out by itself what cannot be among the first records: the piles have all keys.
  const allKeys = { ...spec, keep: withoutHead(spec.keep) };
  const ofTask = await withoutTransfers(machine, inputs, places.place);
  const request = { ...asked, ...ofTask, spec: allKeys, weighing };
  const disks = new TempDisks(places.tempDirs, new DeviceGates({}));
  const work = { request, inputs: inputsToRead, companions, estimate, disks, hasFiles: true, manifest: undefined };
  const planWith = (tuning: Tuning) => planShuffle({ ...work, tuning });
  const whole = await planWith({ ...onDisk, sliceBytes: ENDLESS_SLICE_BYTES });
  const expectedBytes = whole.inputBytes === 0 ? 0 : (whole.memoryNeed.mostReadBytes ?? whole.memoryNeed.recordBytes);
  const expectedOutputBytes = recordsOfOutput(spec.keep, expectedBytes, whole.memoryNeed.meanRecordBytes);
  const taskCount = countTasks(tasks, expectedBytes, onDisk);
  const { isOnDisk } = places.place;
  const shuffle = Math.min(taskCount, !isOnDisk || isEncoded(spec.write) ? mostShards(spec.cut) : taskCount);
  const { commitReadBytes = MOST_COMMIT_READ_BYTES } = onDisk;
  const otherTasks = {
    measure: isDistinct(spec.keep) ? taskCount : 0,
    shuffle,
    // A verify task reads what the shuffle task of its index wrote.
    verify: readsBack && expectedOutputBytes > commitReadBytes ? shuffle : 0,
  };
  const plan = await planWith({
    ...onDisk,
    ...morePiles(whole, shuffle * machine.workers, onDisk),
    sliceBytes: sliceBytesOf(expectedBytes, taskCount * machine.workers, onDisk),
  });
  return { plan, taskCount, otherTasks, expectedBytes, expectedOutputBytes };
}

/** Returns the machine of a task without the memory that holds its transfers. */
async function withoutTransfers(
  task: TasksToPlan['machine'],
  inputs: Inputs,
  place: OutputPlace,
): Promise<TasksToPlan['machine']> {
  const places = await loadInputPlaces(pathsOf(inputs));
  const fetchBytes = places.reduce((bytes, { poolBytesOf }) => bytes + (poolBytesOf?.(task) ?? 0), 0);
  return { ...task, ...memoryBesideTransfers(task, fetchBytes, place.poolBytesOf?.(task)) };
}

/** Makes the directory of the job, with the plan in it. */
async function writePlan(
  plan: PlanToWrite,
  { directory, paths: { jobDirectory } }: LockedPlaces,
  warn: JobScope['warn'],
): Promise<void> {
  try {
    if (directory.existedBefore) await directory.clear();
    await directory.makeDirectories(true);
    await writeClusterPlan(jobDirectory, plan);
  } catch (error) {
    await directory.end('discarded').catch(warn);
    throw error;
  }
  makeAttemptsDirectory(jobDirectory, warn);
}

function countTasks(tasks: number, bytes: number, { sliceBytes }: Tuning): number {
  return Math.max(1, Math.min(tasks, Math.ceil(bytes / (sliceBytes ?? LEAST_TASK_BYTES))));
}

/** @param threads of all tasks. */
function sliceBytesOf(expectedBytes: number, threads: number, { sliceBytes }: Tuning): number {
  return sliceBytes ?? Math.max(MIB, Math.ceil(expectedBytes / (threads * SLICES_A_THREAD)));
}

function refuseUnplannable({ output, inputs }: ClusterPlanOptions): void {
  // Callers without types may pass anything.
  if (output === undefined || output === '-')
    throw new UsageError('tasks cannot share standard output: name a file or directory with `output`');
  const isGiven = (input: unknown) =>
    input === '-' || (typeof input === 'object' && input !== null && 'records' in input);
  if (Array.isArray(inputs) && inputs.some(isGiven))
    throw new UsageError('tasks cannot share standard input, or records in memory: name files as inputs');
  if (!Array.isArray(inputs)) return;
  for (const input of inputs) requireWithoutSecrets(typeof input === 'string' ? input : Object(input).path);
}

/** Each shard that is encoded or leaves this machine is written by one task: nobody knows where its bytes will lie. */
function mostShards({ shards, splits }: OutputSpec['cut']): number {
  const rules = splits?.map((split) => split.shards) ?? [shards];
  return rules.reduce((sum, rule) => sum + mostShardsBy(rule), 0);
}

function mostShardsBy(rule: ShardRule | undefined): number {
  if (rule === undefined) return 1;
  return rule.by === 'count' ? rule.shardCount : MOST_SHARDS;
}

/** Returns as many piles as give the threads of all tasks equal work, if their buffers stay large. */
function morePiles({ memory, inline }: MachinePlan, threads: number, tuning: Tuning): Tuning {
  if (inline || tuning.pileCount !== undefined) return {};
  const wanted = PILES_A_THREAD * threads;
  const most = Math.floor((memory.pileCount * memory.bufferBytes) / SMALLEST_BUFFER_BYTES);
  const pileCount = Math.min(wanted, most);
  if (pileCount <= memory.pileCount) return {};
  const bufferBytes = Math.floor((memory.pileCount * memory.bufferBytes) / pileCount / 4096) * 4096;
  return { pileCount, bufferBytes: tuning.bufferBytes ?? Math.max(SMALLEST_BUFFER_BYTES, bufferBytes) };
}

interface PreparedReading {
  readonly request: Pick<ShuffleRequest, 'spec' | 'signal'>;
  readonly plan: MachinePlan;
  readonly control: JobControl;
}

/** Reads, once for all tasks, what readers in the middle of inputs must know of the bytes before. */
async function readBeforeSlices(
  prepared: ReadableInputs & PreparedReading,
  { slices }: Pick<ScatterPlan, 'slices'>,
  scope: JobScope,
): Promise<StartStateOf> {
  const { request, plan, control } = prepared;
  const stop = new JobStop(control, request.signal, scope.releases);
  const size = { threadCount: plan.inline ? 0 : plan.memory.workers, startCount: 0 };
  const threads = await startThreads(size, { control, stop }, () => {}, scope.releases);
  const layout = { pileCount: 1, stripeCount: 1, disks: [], indexDirectory: '' };
  const piling = { layout, ramPool: undefined, tempZstdLevel: undefined };
  const settings = scatterSettings(threads, plan, request.spec, piling, { commitsPileSets: false });
  return findStartStates({ ...prepared, slices, settings, keys: request.spec.key.from }, threads, () => false);
}

function withBefore(part: SlicePart, before: StartState): ClusterPart {
  return before.count > 0 || before.records !== undefined ? { ...part, before } : part;
}

/** Makes the rows of a table when they are written. */
function* rowsFrom<Each, Row>(all: Iterable<Each>, toRow: (each: Each) => Row): Generator<Row, void> {
  for (const each of all) yield toRow(each);
}

function requireFiles(inputs: Inputs): void {
  const stream = inputs.find((input) => !isFileInput(input));
  if (stream === undefined) return;
  throw new UsageError(`${stream.path} is a stream, which tasks cannot share; expected a file that all tasks can read`);
}

function inputOf(input: Input, companion?: Input): ClusterInput {
  if (!isFileInput(input)) throw new RangeError(`${input.path} is not a file`);
  const { path, version, codec, header, rows } = input;
  const { byteLength, modifiedNanoseconds } = version;
  return {
    path: isAbsolute(path) ? path : inputFactsOf(path).fullName(path),
    byteLength,
    modifiedNanoseconds,
    codec: codec?.name,
    header,
    rows,
    companion: companion && inputOf(companion),
  };
}
