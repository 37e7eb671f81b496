/**
 * Plans a shuffle of a pile store as tasks: shuffle tasks read the piles of the store, the commit puts the output into
 * place.
 */
import { UsageError } from '../errors.js';
import { needsAtSite, requireSpace } from '../jobs/disk-space.js';
import { gatherStoredPiles } from '../jobs/gather-stored-piles.js';
import { type JobScope, runJob } from '../jobs/job.js';
import { SHUFFLE_STORE_OPTIONS } from '../jobs/option-names.js';
import type { ShuffleStoreOptions } from '../jobs/options.js';
import { prepareStoreShuffle, warnOfUnowned } from '../jobs/shuffle-store.js';
import { TempDisks } from '../jobs/temp-disks.js';
import { planStoreShuffle, storeShuffleNeeds } from '../jobs/work-plan.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import { DeviceGates } from '../machine/device-gates.js';
import type { Tuning } from '../plan/memory-plan.js';
import { explainedByExpiry, openSnapshot, type StoreSnapshot } from '../store/store-snapshot.js';
import type { OutputPlan } from './cluster-plan.js';
import {
  type ClusterPlanOptions,
  type ClusterPlanReport,
  completeTasks,
  countTasks,
  mostShuffleTasks,
  tasksOfOutput,
  writeAtSite,
} from './make-plan.js';
import { placeOfProfile } from './profile-place.js';

/** The options of a shuffle of a store whose output is a file or a directory. */
export interface ClusterStoreShuffleOptions
  extends Omit<ShuffleStoreOptions, 'output' | 'workers' | 'tempDirs' | 'onProgress' | 'onProfile'>,
    Pick<ClusterPlanOptions, 'output' | 'jobDir' | 'tasks' | 'cpusPerTask' | 'readBack' | 'profile'> {
  /** The directory of the store. */
  readonly shuffleStore: string;
}

const {
  workers: _workers,
  tempDirs: _tempDirs,
  onProgress: _onProgress,
  onProfile: _onProfile,
  ...SHARED_OPTIONS
} = SHUFFLE_STORE_OPTIONS;
export const CLUSTER_STORE_SHUFFLE_OPTIONS: OptionNames<ClusterStoreShuffleOptions> = {
  ...SHARED_OPTIONS,
  shuffleStore: true,
  jobDir: true,
  tasks: true,
  cpusPerTask: true,
  readBack: true,
  profile: true,
};

/** @throws PileshufError as `shuffleStore` does before it writes; UsageError for what tasks cannot do. */
export async function planStoreShuffleTasks(
  options: ClusterStoreShuffleOptions,
  tuning: Partial<Tuning>,
): Promise<ClusterPlanReport> {
  requireKnownOptions('planCluster()', options, CLUSTER_STORE_SHUFFLE_OPTIONS);
  const snapshot = openSnapshot(options.shuffleStore);
  const { value } = await runJob(options, (scope) => makePlan(snapshot, options, tuning, scope)).catch(
    (error: unknown) => {
      throw explainedByExpiry(error, snapshot);
    },
  );
  return value;
}

async function makePlan(
  snapshot: StoreSnapshot,
  options: ClusterStoreShuffleOptions,
  tuning: Tuning,
  scope: JobScope,
): Promise<ClusterPlanReport> {
  const { shuffleStore, jobDir, tasks: _, cpusPerTask: __, memoryBytes: ___, profile: file, ...others } = options;
  const { readBack: readsBack = true, ...rest } = others;
  const { tasks, cpusPerTask, memoryBytes } = completeTasks(options);
  // Callers without types may pass anything.
  if (rest.output === undefined || rest.output === '-')
    throw new UsageError('tasks cannot share standard output: name a file or directory with `output`');
  const inJobDirectory = { resume: false, jobDir, keepTemp: false, mustBeResumable: true };
  const prepared = await prepareStoreShuffle(snapshot, rest, tuning, scope, inJobDirectory);
  const { request, site, layout, control, gates } = prepared;
  if (site.kind === 'stream')
    throw new UsageError(`the output ${site.output.path} is a stream; expected a file or a directory that tasks share`);
  const places = {
    ...{ inputs: [], directories: [], output: site.output },
    own: { 'the pile store': shuffleStore, 'the job directory': jobDir },
  };
  const profile = file === undefined ? undefined : placeOfProfile(file, options.force ?? false, places);
  await warnOfUnowned(snapshot, request);
  const piles = await gatherStoredPiles(snapshot, layout, control);
  const { compression, shards, splits, headCount, tempZstdLevel, ioLimits } = request;
  const { seed, pileCount } = snapshot.settings;
  const disks = new TempDisks(site.tempDirs, new DeviceGates({}));
  const isCompressed = compression !== undefined;
  const stored = { records: piles.records, bytes: piles.bytes, pileCount };
  const plan = planStoreShuffle({ memoryBytes, workers: cpusPerTask, ioLimits }, stored, disks, isCompressed, tuning);
  // What does not fit in memory is scattered again on the machines of the tasks.
  const needs = storeShuffleNeeds(plan, piles, request);
  requireSpace(needs, (need) => needsAtSite({ ...need, tempBytes: 0 }, site), 1, gates, request.onWarning);
  const shuffleTaskCount = Math.min(countTasks(tasks, piles.bytes, tuning), mostShuffleTasks(request), pileCount);
  const ofOutput = tasksOfOutput(shuffleTaskCount, piles.bytes, readsBack, tuning);
  const noInputs = {
    framing: undefined,
    header: undefined,
    linesAssumed: false,
    decompressProgram: undefined,
    igzip: false,
    maxRecordBytes: piles.longestRecordBytes,
    splitBy: undefined,
    keys: 'position',
    unique: false,
    uniqueBy: undefined,
    keepsPlaces: false,
    repeat: false,
  } as const;
  const made: OutputPlan = {
    request: { ...noInputs, seed, ioLimits, tempZstdLevel, headCount, shards, splits, compression },
    inputs: [],
    inputIds: undefined,
    firstHeader: undefined,
    weighing: undefined,
    stored: snapshot,
    output: site.output,
    list: undefined,
    stagingDirectory: site.paths.stagingDirectory,
    readsBack,
    slices: [],
    scatterTasks: [],
    otherTasks: { measure: 0, draw: 0, ...ofOutput },
    copies: undefined,
    sliceBytes: [],
    limitsHead: false,
    expectedBytes: piles.bytes,
    expectedOutputBytes: Math.min(
      piles.bytes,
      (headCount ?? Number.POSITIVE_INFINITY) * plan.memoryNeed.meanRecordBytes,
    ),
    memoryBytes,
    profile,
    memory: plan.memory,
    memoryNeed: plan.memoryNeed,
    inline: plan.inline,
  };
  await writeAtSite(site, made, scope);
  return {
    jobDir: site.paths.jobDirectory,
    seed,
    inputCount: snapshot.manifest.commits.reduce((sum, { inputIds }) => sum + inputIds.length, 0),
    expectedBytes: piles.bytes,
    scatterTasks: 0,
    measureTasks: 0,
    drawTasks: 0,
    shuffleTasks: shuffleTaskCount,
    verifyTasks: ofOutput.verify,
    cpusPerTask,
    memoryBytes,
    piles: pileCount,
  };
}
