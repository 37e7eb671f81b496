/**
 * Does what tasks do with records: a scatter task turns its slices into pile sets, a measure task finds what stays of
 * its piles where one of equal records is kept, a shuffle task writes its share of the output. What an earlier attempt
 * has committed is left alone.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import { counted, InputError } from '../errors.js';
import type { GateNumber } from '../floor/job-control.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import { ensurePrivateDirectory, removeDirectory } from '../io/directories.js';
import { type FileVersion, versionOf, withFile } from '../io/files.js';
import { listNames } from '../io/paths.js';
import { syncPath } from '../io/rename-and-sync.js';
import { requireTempDirs, TempDisks } from '../job/temp-disks.js';
import { makeScratchDirectory, removeStaleTempDirectories } from '../job-directory/locked-directory.js';
import { type CheckpointNotes, type FoundNotes, type JobNotes, NOTES, SHUFFLED } from '../job-directory/notes.js';
import { contentRuleOf, isScatteredTwice, orderRuleOf } from '../keep/content-rule.js';
import { isDistinct } from '../keep/distinct.js';
import { takenOnce } from '../keep/mix.js';
import { totalsOfRange } from '../piles/pile-totals.js';
import { inputFactsOf, openInput, startFetching } from '../places/inputs/input-kinds.js';
import { openOutputPlaces } from '../places/outputs/output-kinds.js';
import type { OutputPlace } from '../places/outputs/output-place.js';
import { StagedOutput } from '../places/outputs/staged-output.js';
import { MOST_SHARDS } from '../plan/shard-cuts.js';
import { shareOfPiles } from '../plan/task-shares.js';
import type { OutputLayout } from '../sinks/output-layout.js';
import { recordBytesOf } from '../sinks/output-target.js';
import type { FileInput } from '../sources/input.js';
import type { ReadableInputs } from '../sources/input-part.js';
import { foundEnds } from '../stages/between-passes.js';
import {
  type ChainJob,
  decideOutput,
  type Executor,
  type OutputDecision,
  openScattered,
  type Scattered,
} from '../stages/chain.js';
import { readCommitted, sizeOfJob } from '../stages/committed-slices.js';
import { dropDuplicates, measureDistinct, textsOf } from '../stages/drop-duplicates.js';
import { type Pass1Facts, Pass1Results } from '../stages/pass1-results.js';
import { sampleSourceOf } from '../stages/sample-places.js';
import { gatherKept, type KeptWork, scatterKept } from '../stages/scatter-kept.js';
import { publishIfFirst, type SliceFate, scatterSlices } from '../stages/scatter-slices.js';
import { shareOfTask, shuffleShare } from '../stages/shuffle-share.js';
import { bytesOfPart, type PilesWork, type ScatteredPiles } from '../stages/shuffle-work.js';
import { scatterSettings } from '../stages/task-settings.js';
import {
  CLUSTER_REMEDY,
  type ClusterPart,
  type ClusterPlan,
  noteNameOf,
  taskCountOf,
  tasksOf,
} from './cluster-plan.js';
import {
  type ClusterJob,
  inputsOfSlices,
  notReadyError,
  rewriteCountOf,
  slicesLeft,
  startTaskThreads,
  unfinishedMessage,
  waitUntilDone,
} from './open-job.js';

interface GatheredPiles extends Scattered {
  readonly found: Pass1Facts;
}

/** Checks that the tasks read every byte of every input once. */
async function gatherScattered(job: ClusterJob): Promise<GatheredPiles> {
  const { plan, piling, inputs, keyOf, signal } = job;
  const { firstHeader, spec, inputIds } = plan;
  const weighing = weighingOfScatter(plan);
  const settings = { read: spec.read, content: contentRuleOf(spec) };
  const found = new Pass1Results({ inputs, firstHeader, weighing, settings }, piling.layout.pileCount);
  await waitUntilDone(job, 'scatter');
  for (let slice = 0; slice < plan.slices.length; slice++) {
    await yieldAndCheckAbortAt(slice, signal);
    found.add(slice, await readScatteredSlice(job, slice));
  }
  const order = {
    framing: spec.read.framing,
    ...orderRuleOf(spec, inputIds !== undefined),
    hashesOutput: true,
    rescatterTo: openScratchDirectory(job),
    isProfiled: plan.profile !== undefined,
  };
  const { recordEnds } = found;
  return {
    piles: found.piles(),
    found,
    storage: piling,
    order,
    threads: await startTaskThreads(job),
    ends: foundEnds(spec.read, found),
    samples: sampleSourceOf(spec, { inputs, recordEnds, keyOf, signal }),
  };
}

/** Returns the weights with which records are put on the first piles. */
function weighingOfScatter({ spec, weighing }: ClusterPlan): ClusterPlan['weighing'] {
  return isScatteredTwice(spec) ? takenOnce(weighing) : weighing;
}

async function readScatteredSlice(
  { directory, plan, piling, deadline }: ClusterJob,
  slice: number,
): Promise<ScatterResult> {
  const size = sizeOfJob(plan, isScatteredTwice(plan.spec) ? taskCountOf(plan, 'measure') : 0);
  return deadline.waitUntilWhole(directory, () =>
    readCommitted({ layout: piling.layout, size, isStripeDone: () => false }, slice),
  );
}

function fateOfSlices(job: ClusterJob): SliceFate {
  const giveName: SliceFate['giveName'] = (done) =>
    publishIfFirst(job.piling.layout, done, (slice) => readScatteredSlice(job, slice));
  return { giveName, warn: job.scope.warn };
}

/** Opens the place where piles that are too large are scattered again: on this machine alone. */
function openScratchDirectory({ scratchDir, gates, scope }: ClusterJob) {
  requireTempDirs([scratchDir], 'tempDirs');
  const disks = new TempDisks([scratchDir], gates);
  removeStaleTempDirectories(scratchDir);
  const directory = makeScratchDirectory(scratchDir, scope.releases);
  return { disks: disks.in([directory]), indexDirectory: directory };
}

/**
 * Does a task between the passes, which finds how much of its piles stays, or scatters that once more. All shuffle tasks need
 * that of all piles before they write, because it says where in the output each pile begins.
 * @returns the bytes of the records that this attempt looked at; undefined if the task was done before.
 */
export async function runMeasureTask(job: ClusterJob): Promise<number | undefined> {
  const { directory, plan, index, control, log } = job;
  const isTwice = isScatteredTwice(plan.spec);
  const left = isTwice ? slicesLeft(job, 'measure', index) : [];
  const name = noteNameOf('measure', index);
  if (isTwice ? left.length === 0 : NOTES.distinct.read(directory, name) !== undefined) return undefined;
  const { chain, executor } = chainOf(job);
  const { work, threads } = await openScattered(chain, executor);
  log.useThreads(threads.pool.threadCount);
  const { totals } = work.piles;
  const part = shareOfPiles(totals, index, taskCountOf(plan, 'measure'));
  const bytes = bytesOfPart(totals, part);
  log.count(bytes, () => control.counted('orderedBytes'));
  if (isTwice) {
    await scatterKept(keptWorkOf(job, work), threads, left, fateOfSlices(job));
    return bytes;
  }
  const distinct = await measureDistinct(work, threads, part);
  const note = { piles: textsOf(totalsOfRange(distinct, part.first, part.end)) };
  await NOTES.distinct.write(directory, name, note, `measure task ${index}`);
  return bytes;
}

function keptWorkOf({ plan }: ClusterJob, work: PilesWork): KeptWork {
  const { totals } = work.piles;
  const taskCount = taskCountOf(plan, 'measure');
  const parts = tasksOf(plan, 'measure').map((task) => shareOfPiles(totals, task, taskCount));
  return { ...work, spec: plan.spec, weighing: plan.weighing, parts, firstSlice: plan.slices.length };
}

/** Takes over what the measure tasks have scattered once more. */
async function gatherKeptSlices(job: ClusterJob, from: GatheredPiles, opened: PilesWork): Promise<GatheredPiles> {
  const work = keptWorkOf(job, opened);
  await waitUntilDone(job, 'measure');
  const results: ScatterResult[] = [];
  for (const part of work.parts.keys()) results.push(await readScatteredSlice(job, work.firstSlice + part));
  return gatherKept(work, from, results);
}

/** @returns what stays of all piles, as the measure tasks found it; undefined: equal records stay. */
async function gatherMeasured(job: ClusterJob, { totals }: ScatteredPiles): Promise<JobNotes['distinct'] | undefined> {
  const { directory, plan, deadline } = job;
  if (!isDistinct(plan.spec.keep)) return undefined;
  await waitUntilDone(job, 'measure');
  const taskCount = taskCountOf(plan, 'measure');
  const piles = [];
  for (let task = 0; task < taskCount; task++) {
    const { first, end } = shareOfPiles(totals, task, taskCount);
    const limits = { pileCount: end - first, mostShards: 0 };
    const read = () => NOTES.distinct.read(directory, noteNameOf('measure', task), limits);
    // It may not be visible here yet.
    const note = await deadline.waitUntilFound(directory, read);
    if (note === undefined) throw notReadyError(unfinishedMessage('measure', [task], directory));
    for (const pile of note.piles) piles.push(pile);
  }
  return { piles };
}

/** The chain of a job whose stages other tasks have done: it takes their notes. */
function chainOf(job: ClusterJob): { readonly chain: ChainJob; readonly executor: Executor<GatheredPiles> } {
  const { plan, directory, signal, onWarning, log, scope } = job;
  const limits = { pileCount: plan.memory.pileCount, mostShards: MOST_SHARDS };
  let noted: FoundNotes = {};
  // The first task that is done notes for the others what took reading piles.
  const notes: CheckpointNotes = {
    jobDirectory: directory,
    hasFinishedRanges: false,
    read: (name) => noted[name] ?? NOTES[name].read(directory, name, limits),
  };
  const { spec } = plan;
  const { attempt, add: onProfile } = log;
  const chain = { spec, plan, attempt, notes, signal, onWarning, onProfile, releases: scope.releases };
  const measure: Executor['measure'] = async (work, threads) => {
    noted = { distinct: await gatherMeasured(job, work.piles) };
    return dropDuplicates(spec, work, threads, notes);
  };
  const scatterKept = isScatteredTwice(spec)
    ? (from: GatheredPiles, work: PilesWork) => gatherKeptSlices(job, from, work)
    : undefined;
  return { chain, executor: { scatter: () => gatherScattered(job), scatterKept, measure } };
}

export type DecidedOutput = OutputDecision<GatheredPiles> & { readonly layout: OutputLayout };

export async function decideClusterOutput(job: ClusterJob): Promise<DecidedOutput> {
  const { chain, executor } = chainOf(job);
  const decided = await decideOutput(chain, executor);
  job.log.useThreads(decided.threads.pool.threadCount);
  const { layout } = await decided.output.cut();
  const { isOnDisk } = await openOutputPlace(job);
  // Of what leaves, each shard is of one task.
  return { ...decided, layout: { ...layout, kind: isOnDisk ? layout.kind : 'appended' } };
}

/** @returns the bytes of the slices that this attempt scattered, as stored; undefined if the task was done before. */
export async function runScatterTask(job: ClusterJob): Promise<number | undefined> {
  const { index, plan, control, piling, keyOf, log, onWarning } = job;
  const { spec, slices, head } = plan;
  const left = slicesLeft(job, 'scatter', index);
  if (left.length === 0) return undefined;
  const bytes = left.reduce((sum, slice) => sum + (plan.sliceBytes[slice] ?? 0), 0);
  const inputs = await openInputs(job, left);
  const threads = await startTaskThreads(job);
  const settings = scatterSettings(threads, plan, spec, piling, {
    commitsPileSets: true,
    isProfiled: plan.profile !== undefined,
  });
  const work = { ...inputs, slices, keys: spec.key.from, head, keyOf, settings, attempt: log.attempt, onWarning };
  log.count(bytes, () => control.counted('scatteredBytes'));
  const before = ({ before: known = NOTHING_BEFORE }: ClusterPart) => known;
  await scatterSlices(work, threads, left, before, fateOfSlices(job));
  return bytes;
}

const NOTHING_BEFORE = { count: 0, records: undefined };

/** The inputs of these slices on this machine, unchanged since the plan. */
async function openInputs(
  { inputs, companions, gates, plan, signal }: ClusterJob,
  slices: readonly number[],
): Promise<ReadableInputs> {
  const own = new Map<number, FileInput>();
  const besideOwn = new Map<number, FileInput>();
  const gateOf: GateNumber[] = [];
  const ofTask = [...inputsOfSlices(plan, slices)];
  await startFetching(
    ofTask.map((ordinal) => inputs.at(ordinal)?.path ?? ''),
    { memoryBytes: plan.memoryBytes, workers: plan.memory.workers, service: plan.service },
  );
  for (const [i, ordinal] of ofTask.entries()) {
    const input = inputs.at(ordinal);
    if (input === undefined) continue;
    await yieldAndCheckAbortAt(i, signal);
    own.set(ordinal, requireUnchanged(input));
    const companion = companions?.at(ordinal);
    if (companion !== undefined) besideOwn.set(ordinal, requireUnchanged(companion));
    if (inputFactsOf(input.path).isOnDisk) gateOf[ordinal] = gates.gateOf(input.path, 'input');
  }
  return {
    inputs: inputs.mapped((input, i) => own.get(i) ?? input),
    companions: companions?.mapped((companion, i) => besideOwn.get(i) ?? companion),
    gates: gateOf,
    firstHeader: plan.firstHeader,
    weighing: weighingOfScatter(plan),
  };
}

function versionOnThisMachine(path: string): FileVersion {
  try {
    return withFile(openInput(path), versionOf);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { code, message } = error;
    const isMissing = code === 'ERR_INPUT_MISSING';
    const advice = `it was there when the job was planned: put it back, or ${CLUSTER_REMEDY.ifDamaged}`;
    throw isMissing ? new InputError(code, `${message} on ${hostname()}; ${advice}`, { cause: error }) : error;
  }
}

/** @returns the input with its version on this machine. */
function requireUnchanged(input: FileInput): FileInput {
  const { path, version } = input;
  const now = versionOnThisMachine(path);
  if (now.byteLength === version.byteLength && now.modifiedNanoseconds === version.modifiedNanoseconds)
    return { ...input, version: now };
  const change =
    now.byteLength === version.byteLength
      ? 'it was written to or replaced'
      : `its size was ${counted(version.byteLength, 'byte')} and is ${now.byteLength}`;
  throw new InputError(
    'ERR_INPUT_CHANGED',
    `${path}: the input changed since the job was planned (${change}); ${CLUSTER_REMEDY.ifDamaged}`,
  );
}

export async function openOutputPlace({ plan }: ClusterJob): Promise<OutputPlace> {
  const { output, memoryBytes, memory, service } = plan;
  const places = await openOutputPlaces(output.path, { memoryBytes, workers: memory.workers, service });
  return places.reopen(output);
}

/**
 * Writes the share of a task. Whole shards go into a directory of this attempt: the commit takes them from the first attempt
 * that is done.
 * @returns the bytes of the records that this attempt put into the output; undefined if the task was done before.
 */
export async function runShuffleTask(job: ClusterJob): Promise<number | undefined> {
  const { directory, plan, gates, control, index, log, scope } = job;
  // Another machine may have found a moment ago that the output of the task is damaged.
  listNames(directory, 'temp');
  const rewrite = rewriteCountOf(directory, index);
  const name = noteNameOf('shuffle', index, rewrite);
  if (SHUFFLED.read(directory, name) !== undefined) return undefined;
  const { output, layout, threads } = await decideClusterOutput(job);
  const { work } = output;
  const share = shareOfTask(layout, work, index, taskCountOf(plan, 'shuffle'));
  log.count(bytesOfPart(work.piles.totals, share.part), () => control.counted('shuffledBytes'));
  const { stagingDirectory } = plan;
  const own = share.shards === undefined ? null : `task-${index}-${log.attempt}`;
  const directoryOfOwn = join(stagingDirectory, own ?? '');
  const place = await openOutputPlace(job);
  const removeOwn = async () => {
    if (own === null) return;
    await place.discardStaged?.(directoryOfOwn);
    removeDirectory(directoryOfOwn);
  };
  let mayHaveNote = false;
  try {
    const gate = gates.gateOf(stagingDirectory, 'output');
    if (own !== null) ensurePrivateDirectory(directoryOfOwn, 'output');
    const directories = { stagingDirectory: directoryOfOwn, jobDirectory: directory };
    const staged = new StagedOutput(place, directories, gate);
    const ranges = await shuffleShare(work, share, layout, staged, threads);
    if (own !== null) await syncPath(stagingDirectory);
    mayHaveNote = true;
    const note = { task: index, rewrite, own, headerBytes: layout.ends.headerBytes, ranges };
    if (!(await SHUFFLED.write(directory, name, note, `shuffle task ${index}`))) await removeOwn();
    return recordBytesOf(ranges.flatMap(({ regions }) => regions));
  } catch (error) {
    // No thread may make a file of this attempt after the removal.
    await threads.pool.destroy();
    try {
      // A link that fails may have been made all the same: then the commit takes these files.
      if (!mayHaveNote) await removeOwn();
    } catch (failure) {
      scope.warn(failure);
    }
    throw error;
  }
}
