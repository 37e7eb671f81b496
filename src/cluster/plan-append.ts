/**
 * Plans an append to a pile store as tasks: scatter tasks make pile sets in the job directory, the commit adds them.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import { formatOf, nameOfFormat } from '../formats/record-format.js';
import { ensurePrivateDirectory, removeDirectory } from '../io/directories.js';
import { addNameInStore, syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { errnoOf } from '../io/io-error.js';
import { listNames } from '../io/paths.js';
import { createWhole, nameOfAttempt } from '../io/small-file.js';
import { HeldDirectory } from '../job-directory/held-directory.js';
import { looksLikeLock } from '../job-directory/job-lock.js';
import { requireNoTasks } from '../job-directory/job-paths.js';
import { type JobScope, runJob } from '../jobs/job.js';
import { APPEND_OPTIONS } from '../jobs/option-names.js';
import type { AppendOptions } from '../jobs/options.js';
import { type FoundInputs, prepareAppend } from '../jobs/prepare-append.js';
import { realPathOfJobDir } from '../jobs/site.js';
import { TempDisks } from '../jobs/temp-disks.js';
import { planAppend } from '../jobs/work-plan.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import { DeviceGates } from '../machine/device-gates.js';
import { requireOutside } from '../output/output-place.js';
import type { Tuning } from '../plan/memory-plan.js';
import { shareSlices } from '../plan/task-shares.js';
import { makeAttemptsDirectory } from './attempt-log.js';
import { type AppendPlan, DATA_NAME, PLAN_NAME, type ProfilePlace, writeClusterPlan } from './cluster-plan.js';
import {
  type ClusterPlanOptions,
  type ClusterPlanReport,
  completeTasks,
  countTasks,
  ENDLESS_SLICE_BYTES,
  inputOf,
  lookBefore,
  refuseGivenRecords,
  sliceBytesOf,
  sliceOf,
  storedBytesOf,
} from './make-plan.js';
import { placeOfProfile } from './profile-place.js';

/** The options of an append of files to a store. */
export interface ClusterAppendOptions
  extends Omit<AppendOptions, 'workers' | 'onProgress'>,
    Pick<ClusterPlanOptions, 'jobDir' | 'tasks' | 'cpusPerTask' | 'profile'> {
  /** The directory of the store; it is made if it does not exist. */
  readonly append: string;
}

const { workers: _workers, onProgress: _onProgress, ...SHARED_OPTIONS } = APPEND_OPTIONS;
export const CLUSTER_APPEND_OPTIONS: OptionNames<ClusterAppendOptions & { readonly header?: unknown }> = {
  ...SHARED_OPTIONS,
  append: true,
  jobDir: true,
  tasks: true,
  cpusPerTask: true,
  profile: true,
};

/** @throws PileshufError as `appendToStore` does before it starts; UsageError for what tasks cannot do. */
export async function planAppendTasks(
  options: ClusterAppendOptions,
  tuning: Partial<Tuning>,
): Promise<ClusterPlanReport> {
  requireKnownOptions('planCluster()', options, CLUSTER_APPEND_OPTIONS);
  const { value } = await runJob(options, (scope) => makePlan(options, tuning, scope));
  return value;
}

async function makePlan(options: ClusterAppendOptions, tuning: Tuning, scope: JobScope): Promise<ClusterPlanReport> {
  const {
    append: storeDirectory,
    jobDir,
    tasks: _,
    cpusPerTask: __,
    memoryBytes: ___,
    profile: file,
    ...rest
  } = options;
  const { tasks, cpusPerTask, memoryBytes } = completeTasks(options);
  refuseGivenRecords(options.inputs);
  const onDisk: Tuning = { ...tuning, keepInRam: false };
  const directory = new JobPlace(jobDir, scope);
  let profile: ProfilePlace | undefined;
  const prepared = await prepareAppend(
    storeDirectory,
    rest,
    { ...onDisk, sliceBytes: ENDLESS_SLICE_BYTES },
    (found, place) => {
      const own = { 'the pile store': storeDirectory, 'the job directory': jobDir };
      if (file !== undefined) profile = placeOfProfile(file, undefined, { ...found, output: undefined, own });
      directory.open(found, place);
    },
  );
  const { request, inputs, inputIds, firstHeader, snapshot, plan: whole } = prepared;
  const { seed, pileCount } = snapshot.settings;
  const expectedBytes = whole.memoryNeed.recordBytes;
  const taskCount = countTasks(tasks, expectedBytes, tuning);
  const plan = await planAppend(
    { ...request, seed, memoryBytes, workers: cpusPerTask },
    inputs,
    new TempDisks([directory.path], new DeviceGates({})),
    { pileCount, stripeCount: 1 },
    { ...onDisk, sliceBytes: sliceBytesOf(expectedBytes, taskCount * cpusPerTask, tuning) },
  );
  const before = await lookBefore(prepared, plan, scope);
  const sliceBytes = plan.slices.map((slice) => storedBytesOf(slice, inputs));
  const { decompressProgram, igzip, maxRecordBytes, ioLimits } = request;
  const read = { ...formatOf(request), decompressProgram, igzip, maxRecordBytes };
  const allRecords = { splitBy: undefined, unique: false, uniqueBy: undefined, repeat: false, keepsPlaces: false };
  const noOutput = { headCount: undefined, shards: undefined, splits: undefined, compression: undefined };
  const made: AppendPlan = {
    request: { ...read, ...allRecords, ...noOutput, keys: 'position', seed, ioLimits, tempZstdLevel: undefined },
    inputs: inputs.map(inputOf),
    inputIds,
    firstHeader,
    weighing: undefined,
    append: {
      store: { directory: snapshot.directory, settings: snapshot.settings },
      replace: request.replace,
      commit: {
        name: randomBytes(8).toString('hex'),
        generation: request.generation,
        format: nameOfFormat(request),
        inputIds,
      },
    },
    slices: plan.slices.map((parts) => sliceOf(parts, before)),
    scatterTasks: shareSlices(sliceBytes, Math.max(1, Math.min(taskCount, plan.slices.length))),
    otherTasks: { measure: 0, draw: 0, shuffle: 0, verify: 0 },
    sliceBytes,
    limitsHead: false,
    expectedBytes,
    expectedOutputBytes: 0,
    memoryBytes,
    profile,
    memory: plan.memory,
    memoryNeed: plan.memoryNeed,
    inline: plan.inline,
  };
  await directory.write(made);
  return {
    jobDir: directory.path,
    seed,
    inputCount: inputs.length,
    expectedBytes,
    scatterTasks: made.scatterTasks.length,
    measureTasks: 0,
    drawTasks: 0,
    shuffleTasks: 0,
    verifyTasks: 0,
    cpusPerTask,
    memoryBytes,
    piles: pileCount,
  };
}

/** The job directory of an append: new or empty, and where files can get names in the store, too. */
class JobPlace {
  readonly path: string;
  readonly #directory: HeldDirectory;
  readonly #warn: JobScope['warn'];
  #wasMade = false;
  #isWritten = false;

  constructor(jobDir: string, { releases, warn }: JobScope) {
    this.#warn = warn;
    this.path = realPathOfJobDir(jobDir);
    this.#directory = new HeldDirectory(this.path, 'anyone');
    releases.push(() => this.#end());
  }

  /** @throws UsageError, SystemError */
  open({ inputs, directories }: FoundInputs, place: string): void {
    // Refuses streams, before anything is made.
    for (const input of inputs) inputOf(input);
    requireOutside(this.path, 'the job directory', directories);
    if (!this.#directory.isHeld) {
      this.#directory.holdIfThere();
      this.#requireEmpty();
      this.#wasMade = this.#directory.makeIfMissing('job');
    }
    this.#requireLinks(place);
  }

  async write(plan: AppendPlan): Promise<void> {
    this.#isWritten = true;
    ensurePrivateDirectory(join(this.path, DATA_NAME), 'temp');
    await syncDirectory(join(this.path, '..'), 'temp');
    await writeClusterPlan(this.path, plan);
    makeAttemptsDirectory(this.path, this.#warn);
  }

  #requireEmpty(): void {
    if (!this.#directory.isHeld) return;
    requireNoTasks(this.path);
    const name = listNames(this.path, 'temp').find((each) => !looksLikeLock(each));
    if (name === undefined) return;
    throw new UsageError(
      `the job directory ${this.path} holds ${name}; name one with \`jobDir\` that is empty or does not exist`,
    );
  }

  /** The commit gives files of the job directory names in the store: it moves no bytes. */
  #requireLinks(place: string): void {
    const name = nameOfAttempt('link');
    const [from, to] = [join(this.path, name), join(place, name)];
    try {
      createWhole(from, new Uint8Array(0), 'temp');
      addNameInStore(from, to);
    } catch (error) {
      if (!(error instanceof SystemError) || errnoOf(error.cause) === 'ENOSPC') throw error;
      throw new UsageError(
        `the job directory ${this.path} must lie on the file system of the pile store, and that must have hard links: ${error.message}; name another place with \`jobDir\``,
      );
    } finally {
      removeFile(to, 'store');
      removeFile(from, 'temp');
    }
  }

  #end(): void {
    if (this.#isWritten && !listNames(this.path, 'temp').includes(PLAN_NAME))
      removeDirectory(join(this.path, DATA_NAME));
    this.#directory.release(!this.#wasMade);
  }
}
