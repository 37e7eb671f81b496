/** What Slurm is told of tasks: what was asked for, what an earlier submission noted, else the defaults. */
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { requireWhole, UsageError } from '../errors.js';
import { findObstacle, statPath } from '../io/paths.js';
import { MOST_WORKERS } from '../jobs/request.js';
import type { OptionNames } from '../known-options.js';
import { formatBudget, formatPlural } from '../quantity.js';
import type { ClusterPlan } from './cluster-plan.js';
import type { NodeSize } from './slurm-calls.js';
import type { SlurmNote } from './slurm-note.js';
import { limitsOf, requireFreeWords, requireLogDirectory, type SlurmKind, type SlurmRequest } from './slurm-script.js';

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
  /** Memory of each task, the program included. 0: all that its node has. Default 2 GiB for each thread. */
  readonly taskMemoryBytes?: number | undefined;
  /** Memory of the commit. 0: all that its node has. Default: that of a task. */
  readonly commitMemoryBytes?: number | undefined;
  /** As `time`, for the commit. Default: that of a task. */
  readonly commitTime?: string | undefined;
  /** How many tasks of an array run at once, at most. Default: as many as Slurm allows. */
  readonly maxParallel?: number | undefined;
  /** Gets a log of each task. Default `logs` in the job directory, which stays. */
  readonly logDir?: string | undefined;
  /** A directory on each node for piles that exceed the memory. Default $SLURM_TMPDIR, else $TMPDIR, else /tmp. */
  readonly scratchDir?: string | undefined;
  /**
   * What the shell of each task does first, in a login bash: `module load node`. The task then gets the environment
   * that it leaves. Default: nothing; the task gets few variables.
   */
  readonly envCommand?: string | undefined;
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
  commitMemoryBytes: true,
  commitTime: true,
  maxParallel: true,
  logDir: true,
  scratchDir: true,
  envCommand: true,
  signal: true,
};

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const DEFAULT_CPUS = 4;
const DEFAULT_JOB_NAME = 'pileshuf';
const DEFAULT_MEMORY_OF_THREAD = 2 * GIB;
/** Node takes the first beside the records, and each thread the second. */
const PROGRAM_BYTES = 256 * MIB;
const PROGRAM_BYTES_OF_THREAD = 64 * MIB;
const LEAST_RECORD_BYTES = 64 * MIB;

export function plannedNeed({
  memory,
  memoryBytes,
}: ClusterPlan): Pick<SlurmTaskOptions, 'cpusPerTask' | 'taskMemoryBytes'> {
  const cpusPerTask = memory.workers;
  return { cpusPerTask, taskMemoryBytes: memoryBytes + programBytes(cpusPerTask) };
}

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
  requireWhole('`taskMemoryBytes`', taskMemoryBytes, 0);
  const commitMemoryBytes = asked.commitMemoryBytes ?? noted?.commitMemoryBytes;
  if (commitMemoryBytes !== undefined) requireWhole('`commitMemoryBytes`', commitMemoryBytes, 0);
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
    commitMemoryBytes,
    commitTime: asked.commitTime ?? noted?.commitTime,
    maxParallel,
    logDirectory,
    scratchDir: asked.scratchDir ?? noted?.scratchDir,
    envCommand: asked.envCommand ?? noted?.envCommand,
  };
}

/** Slurm never starts a task whose log it cannot open. */
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

export function asSlurmRequest(note: SlurmNote): SlurmRequest {
  const { partition, time, account, qos, constraint, commitMemoryBytes, commitTime, ...rest } = note;
  return { ...rest, partition, time, account, qos, constraint, commitMemoryBytes, commitTime };
}

function programBytes(cpusPerTask: number): number {
  return PROGRAM_BYTES + cpusPerTask * PROGRAM_BYTES_OF_THREAD;
}

/**
 * What the memory of a task leaves for records. Of all that a node has, a task takes three quarters: the system needs
 * some, and caches files in the rest.
 * @param smallest the node with the least memory of those that have the CPUs.
 */
export function recordMemoryOf({ taskMemoryBytes, cpusPerTask }: SlurmNote, smallest: NodeSize | undefined): number {
  const ofTask = taskMemoryBytes === 0 ? Math.floor((smallest?.memoryBytes ?? 0) * SHARE_OF_NODE) : taskMemoryBytes;
  const bytes = ofTask - programBytes(cpusPerTask);
  if (bytes >= LEAST_RECORD_BYTES) return bytes;
  const mib = (size: number) => Math.ceil(size / MIB);
  const threads = cpusPerTask === 1 ? '1 thread takes' : `${cpusPerTask} threads take`;
  const beside = programBytes(cpusPerTask);
  throw new UsageError(
    `\`taskMemoryBytes\` is ${mib(ofTask)} MiB, and ${threads} ${mib(beside)} MiB beside the records; give at least ${mib(beside + LEAST_RECORD_BYTES)} MiB`,
  );
}

const SHARE_OF_NODE = 3 / 4;

/** Why Slurm cannot have such a task run on any node. Undefined: for another reason. */
export function tooLargeFor(nodes: readonly NodeSize[], request: SlurmRequest, kind: SlurmKind): string | undefined {
  if (nodes.length === 0) return undefined;
  const { memoryBytes } = limitsOf(request, kind);
  const mostCpus = Math.max(...nodes.map(({ cpus }) => cpus));
  const mostBytes = Math.max(...nodes.map((node) => node.memoryBytes));
  const where = request.partition === undefined ? 'node' : `node of ${request.partition}`;
  if (request.cpusPerTask > mostCpus)
    return `\`cpusPerTask\` is ${request.cpusPerTask}, and the largest ${where} has ${formatPlural(mostCpus, 'CPU')}`;
  if (memoryBytes <= mostBytes) return undefined;
  const option = kind === 'commit' && request.commitMemoryBytes !== undefined ? 'commitMemoryBytes' : 'taskMemoryBytes';
  return `\`${option}\` is ${formatBudget(memoryBytes)}, and the largest ${where} has ${formatBudget(mostBytes)}`;
}
