/**
 * What Slurm is told of the tasks of a job: what was asked for, what an earlier submission noted, else the defaults.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { requireWhole, UsageError } from '../errors.js';
import { findObstacle, statPath } from '../io/paths.js';
import { MOST_WORKERS } from '../jobs/request.js';
import type { OptionNames } from '../known-options.js';
import type { ClusterPlan } from './cluster-plan.js';
import type { SlurmNote } from './slurm-note.js';
import { requireFreeWords, requireLogDirectory } from './slurm-script.js';

/** What Slurm is told of each task. */
export interface SlurmTaskOptions {
  /** Default: that of Slurm. */
  readonly partition?: string | undefined;
  /** As Slurm writes times: `2:00:00`, `1-12`. Default: that of the partition. */
  readonly time?: string | undefined;
  /** Default: that of the user. */
  readonly account?: string | undefined;
  /** Quality of service. Default: that of Slurm. */
  readonly qos?: string | undefined;
  /** Features that a node must have. Default: none. */
  readonly constraint?: string | undefined;
  /** Default `pileshuf`; the kind of the tasks is added. */
  readonly jobName?: string | undefined;
  /** Further words for sbatch. Default: none. */
  readonly sbatchArgs?: readonly string[] | undefined;
  /** Threads of each task. Default 4. */
  readonly cpusPerTask?: number | undefined;
  /** Memory of each task, the program included. Default 2 GiB for each thread. */
  readonly taskMemoryBytes?: number | undefined;
  /** How many tasks of an array run at once, at most. Default: as many as Slurm allows. */
  readonly maxParallel?: number | undefined;
  /** Gets a log of each task. Default `logs` in the job directory, which stays. */
  readonly logDir?: string | undefined;
  /**
   * A directory on each node for piles that are too large for the memory. Default $SLURM_TMPDIR, else $TMPDIR, else
   * /tmp.
   */
  readonly scratchDir?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const SLURM_TASK_OPTIONS: OptionNames<SlurmTaskOptions> = {
  partition: true,
  time: true,
  account: true,
  qos: true,
  constraint: true,
  jobName: true,
  sbatchArgs: true,
  cpusPerTask: true,
  taskMemoryBytes: true,
  maxParallel: true,
  logDir: true,
  scratchDir: true,
  signal: true,
};

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const DEFAULT_CPUS = 4;
const DEFAULT_JOB_NAME = 'pileshuf';
const DEFAULT_MEMORY_OF_THREAD = 2 * GIB;
/** What Node takes beside the records, and what each thread takes beside its own. */
const PROGRAM_BYTES = 256 * MIB;
const PROGRAM_BYTES_OF_THREAD = 64 * MIB;
const LEAST_RECORD_BYTES = 64 * MIB;

/** What a task needs, by its plan. */
export function plannedNeed({
  memory,
  memoryBytes,
}: ClusterPlan): Pick<SlurmTaskOptions, 'cpusPerTask' | 'taskMemoryBytes'> {
  const cpusPerTask = memory.workers;
  return { cpusPerTask, taskMemoryBytes: memoryBytes + programBytes(cpusPerTask) };
}

/**
 * @param noted by an earlier submission.
 * @throws UsageError
 */
export function settle(
  asked: SlurmTaskOptions,
  noted: SlurmNote | undefined,
  planned: Pick<SlurmTaskOptions, 'cpusPerTask' | 'taskMemoryBytes'>,
  jobDirectory: string,
): SlurmNote {
  const cpusPerTask = asked.cpusPerTask ?? noted?.cpusPerTask ?? planned.cpusPerTask ?? DEFAULT_CPUS;
  requireWhole('`cpusPerTask`', cpusPerTask, 1, MOST_WORKERS);
  const taskMemoryBytes =
    asked.taskMemoryBytes ??
    noted?.taskMemoryBytes ??
    planned.taskMemoryBytes ??
    cpusPerTask * DEFAULT_MEMORY_OF_THREAD;
  requireWhole('`taskMemoryBytes`', taskMemoryBytes, 1);
  const maxParallel = asked.maxParallel ?? noted?.maxParallel;
  if (maxParallel !== undefined) requireWhole('`maxParallel`', maxParallel, 1);
  const sbatchArgs = asked.sbatchArgs ?? noted?.sbatchArgs ?? [];
  requireFreeWords(sbatchArgs);
  const logDirectory =
    asked.logDir === undefined ? (noted?.logDirectory ?? logDirectoryOf(asked, jobDirectory)) : resolve(asked.logDir);
  requireLogDirectory(logDirectory);
  requireLogPlace(logDirectory, jobDirectory);
  return {
    token: noted?.token ?? randomBytes(8).toString('hex'),
    partition: asked.partition ?? noted?.partition,
    time: asked.time ?? noted?.time,
    account: asked.account ?? noted?.account,
    qos: asked.qos ?? noted?.qos,
    constraint: asked.constraint ?? noted?.constraint,
    jobName: asked.jobName ?? noted?.jobName ?? DEFAULT_JOB_NAME,
    sbatchArgs,
    cpusPerTask,
    taskMemoryBytes,
    maxParallel,
    logDirectory,
    scratchDir: asked.scratchDir ?? noted?.scratchDir,
  };
}

/** Slurm never starts a task whose log it cannot open. @throws UsageError */
function requireLogPlace(directory: string, jobDirectory: string): void {
  const refuse = (problem: string) => new UsageError(`\`logDir\` ${directory}: ${problem}; name another directory`);
  const found = statPath(directory, 'temp');
  const holder = found === undefined ? dirname(directory) : directory;
  // The plan makes it.
  if (holder === jobDirectory) return;
  const stat = statPath(holder, 'temp');
  if (stat === undefined) throw refuse(`${holder} does not exist`);
  if (!stat.isDirectory()) throw refuse(`${holder} is not a directory`);
  const obstacle = findObstacle(holder, 'write', 'temp');
  if (obstacle !== undefined) throw refuse(`cannot write to ${holder}: ${obstacle}`);
}

export function logDirectoryOf({ logDir }: SlurmTaskOptions, jobDirectory: string): string {
  return logDir === undefined ? join(jobDirectory, 'logs') : resolve(logDir);
}

export function asSlurmRequest({ partition, time, account, qos, constraint, ...rest }: SlurmNote) {
  return { ...rest, partition, time, account, qos, constraint };
}

function programBytes(cpusPerTask: number): number {
  return PROGRAM_BYTES + cpusPerTask * PROGRAM_BYTES_OF_THREAD;
}

/** What the memory of a task leaves for records. @throws UsageError */
export function recordMemoryOf({ taskMemoryBytes, cpusPerTask }: SlurmNote): number {
  const bytes = taskMemoryBytes - programBytes(cpusPerTask);
  if (bytes >= LEAST_RECORD_BYTES) return bytes;
  const mib = (size: number) => Math.ceil(size / MIB);
  const threads = cpusPerTask === 1 ? '1 thread takes' : `${cpusPerTask} threads take`;
  const beside = programBytes(cpusPerTask);
  throw new UsageError(
    `\`taskMemoryBytes\` is ${mib(taskMemoryBytes)} MiB, and ${threads} ${mib(beside)} MiB beside the records; give at least ${mib(beside + LEAST_RECORD_BYTES)} MiB`,
  );
}
