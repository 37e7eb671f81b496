/**
 * Chooses what Slurm is told of tasks: what was asked for, what an earlier submission noted, else the defaults. The
 * note lets a later submission ask for the same. It has no ids of jobs: these are lost or reused.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../errors.js';
import { replaceDurably } from '../io/atomic-files.js';
import { list, object, optional, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { findObstacle, statPath } from '../io/paths.js';
import type { SlurmTaskOptions } from '../options/cluster-options.js';
import { formatBudget, formatPlural } from '../values/format-numbers.js';
import { type ClusterPlan, clusterFileFormat, SLURM_NAME, TASK_KINDS } from './cluster-plan.js';

/** The jobs that Slurm runs for one shuffle: the plan, where it has to wait for other jobs, and the tasks. */
export const SLURM_KINDS = ['plan', ...TASK_KINDS] as const;
export type SlurmKind = (typeof SLURM_KINDS)[number];

/** Each option, as the note has it. */
const SHAPES = {
  partition: optional(text),
  time: optional(text),
  account: optional(text),
  qos: optional(text),
  constraint: optional(text),
  jobName: text,
  sbatchArgs: list(text),
  cpusPerTask: wholeNumber(1),
  taskMemoryBytes: wholeNumber(),
  commitMemoryBytes: optional(wholeNumber()),
  commitTime: optional(text),
  maxParallel: optional(wholeNumber(1)),
  logDir: text,
  scratchDir: optional(text),
  envCommand: optional(text),
};

/** The note of a job. Its token tells the submissions of this job from all others. */
const shape = object({ ...SHAPES, token: text });

export type SlurmNote = ValueOf<typeof shape>;

const format = clusterFileFormat('cluster-slurm', 2, 2 ** 20, shape);

export async function writeSlurmNote(jobDirectory: string, note: SlurmNote): Promise<void> {
  await replaceDurably(jobDirectory, SLURM_NAME, format.seal(note));
}

export function readSlurmNote(jobDirectory: string): SlurmNote | undefined {
  return format.read(join(jobDirectory, SLURM_NAME));
}

/** The options without those for Slurm alone. A plan knows the threads of its tasks, too. */
export function planOptionsOf<Options extends SlurmTaskOptions>(
  options: Options,
): Omit<Options, Exclude<keyof typeof SHAPES, 'cpusPerTask'>> {
  const isForPlan = (name: string) => name === 'cpusPerTask' || !Object.hasOwn(SHAPES, name);
  const part = Object.fromEntries(Object.entries(options).filter(([name]) => isForPlan(name)));
  return part as ReturnType<typeof planOptionsOf<Options>>;
}

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const DEFAULT_CPUS = 4;
const DEFAULT_MEMORY_OF_THREAD = 2 * GIB;
/** Node takes the first beside the records, and each thread the second. */
const PROGRAM_BYTES = 256 * MIB;
const PROGRAM_BYTES_OF_THREAD = 64 * MIB;
const LEAST_RECORD_BYTES = 64 * MIB;

function programBytes(cpusPerTask: number): number {
  return PROGRAM_BYTES + cpusPerTask * PROGRAM_BYTES_OF_THREAD;
}

/** Returns the resources that the tasks of a plan need, unless more is asked for. */
export function neededResources({ memory, memoryBytes }: ClusterPlan): SlurmTaskOptions {
  const cpusPerTask = memory.workers;
  return { cpusPerTask, taskMemoryBytes: memoryBytes + programBytes(cpusPerTask) };
}

export function completeSlurmSettings(
  asked: SlurmTaskOptions,
  noted: SlurmNote | undefined,
  planned: SlurmTaskOptions,
  jobDirectory: string,
): SlurmNote {
  const names = Object.keys(SHAPES) as (keyof typeof SHAPES)[];
  const known = Object.fromEntries(
    names.map((name) => [name, asked[name] ?? noted?.[name] ?? planned[name]]),
  ) as Required<Omit<SlurmTaskOptions, 'signal'>>;
  const { cpusPerTask = DEFAULT_CPUS, jobName = 'pileshuf', sbatchArgs = [] } = known;
  const { taskMemoryBytes = cpusPerTask * DEFAULT_MEMORY_OF_THREAD } = known;
  const own = sbatchArgs.find((word) => OWN_OPTIONS.test(word));
  if (own !== undefined) throw new UsageError(`\`sbatchArgs\` has ${own}, which pileshuf decides itself; leave it out`);
  const logDir = logDirectoryOf(known, jobDirectory);
  requireLogDirectory(logDir, jobDirectory);
  const token = noted?.token ?? randomBytes(8).toString('hex');
  return { ...known, token, jobName, sbatchArgs, cpusPerTask, taskMemoryBytes, logDir };
}

/** Matches further words for sbatch that are refused, because this program decides them. */
const OWN_OPTIONS =
  /^(--(array|chdir|comment|dependency|error|kill-on-invalid-dep|output|parsable|test-only|wait|wrap)(=.*)?|-[adeDoW].*)$/s;

export function logDirectoryOf({ logDir }: SlurmTaskOptions, jobDirectory: string): string {
  return logDir === undefined ? join(jobDirectory, 'logs') : resolve(logDir);
}

/** Slurm never starts a task whose log it cannot open. */
function requireLogDirectory(directory: string, jobDirectory: string): void {
  // Slurm replaces no pattern in a name with a backslash: all tasks would write to one file.
  if (directory.includes('\\'))
    throw new UsageError(
      `the directory of logs ${directory} has a backslash, which Slurm cannot take in the names of logs; name another with \`logDir\``,
    );
  const refuse = (problem: string) => new UsageError(`\`logDir\` ${directory}: ${problem}; name another directory`);
  const holder = statPath(directory, 'temp') === undefined ? dirname(directory) : directory;
  // The plan makes it.
  if (holder === jobDirectory) return;
  const stat = statPath(holder, 'temp');
  if (stat === undefined) throw refuse(`${holder} does not exist`);
  if (!stat.isDirectory()) throw refuse(`${holder} is not a directory`);
  const obstacle = findObstacle(holder, 'write', 'temp');
  if (obstacle !== undefined) throw refuse(`cannot write to ${holder}: ${obstacle}`);
}

/** Returns what a job asks for, and the options that decide it. */
export function limitsOf(note: SlurmNote, kind: SlurmKind) {
  const { time, taskMemoryBytes, commitTime = time, commitMemoryBytes = taskMemoryBytes } = note;
  return kind === 'commit'
    ? { time: commitTime, timeBy: 'commitTime', memoryBytes: commitMemoryBytes, memoryBy: 'commitMemoryBytes' }
    : { time, timeBy: 'time', memoryBytes: taskMemoryBytes, memoryBy: 'taskMemoryBytes' };
}

/** A node from which Slurm may choose. */
export interface NodeSize {
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** The share of a node's memory that a task takes: the system needs some, and caches files in the rest. */
const SHARE_OF_NODE = 3 / 4;

/**
 * Returns what the memory of a task leaves for records.
 * @param smallest the node with the least memory of those that have the CPUs.
 */
export function recordMemoryOf({ taskMemoryBytes, cpusPerTask }: SlurmNote, smallest: NodeSize | undefined): number {
  const ofTask = taskMemoryBytes === 0 ? Math.floor((smallest?.memoryBytes ?? 0) * SHARE_OF_NODE) : taskMemoryBytes;
  const beside = programBytes(cpusPerTask);
  if (ofTask - beside >= LEAST_RECORD_BYTES) return ofTask - beside;
  const mib = (size: number) => Math.ceil(size / MIB);
  const threads = cpusPerTask === 1 ? '1 thread takes' : `${cpusPerTask} threads take`;
  throw new UsageError(
    `\`taskMemoryBytes\` is ${mib(ofTask)} MiB, and ${threads} ${mib(beside)} MiB beside the records; give at least ${mib(beside + LEAST_RECORD_BYTES)} MiB`,
  );
}

/** Why Slurm cannot have such a task run on any node. Undefined: for another reason. */
export function explainTooLarge(nodes: readonly NodeSize[], note: SlurmNote, kind: SlurmKind): string | undefined {
  if (nodes.length === 0) return undefined;
  const { memoryBytes, memoryBy } = limitsOf(note, kind);
  const mostCpus = Math.max(...nodes.map(({ cpus }) => cpus));
  const mostBytes = Math.max(...nodes.map((node) => node.memoryBytes));
  const where = note.partition === undefined ? 'node' : `node of ${note.partition}`;
  if (note.cpusPerTask > mostCpus)
    return `\`cpusPerTask\` is ${note.cpusPerTask}, and the largest ${where} has ${formatPlural(mostCpus, 'CPU')}`;
  if (memoryBytes <= mostBytes) return undefined;
  return `\`${memoryBy}\` is ${formatBudget(memoryBytes)}, and the largest ${where} has ${formatBudget(mostBytes)}`;
}
