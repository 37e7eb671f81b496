/**
 * The plan of a job whose tasks run on several machines, and the names of the other files in the job directory:
 *
 *     inputs, slices    its long tables, which tasks read by pages
 *     plan              this plan, written once, after its tables
 *     disk-0/           the data files of pile sets; each has the name of an attempt
 *     set-000012.index  slice 12 is scattered: the first attempt that is done gives its index this name
 *     shuffle-000003    task 3 of the shuffle pass is done; as all notes, see ../job-directory/notes.ts
 *     commit            the moves of the outputs, while they move
 *     committing        which process commits
 *     committed         the outputs have their names; all else goes
 *     attempts/         who works, or worked, on what; decides nothing
 *     slurm             what tasks ask of Slurm, if it runs them
 *     logs/             what they wrote there; stays
 *
 * The plan is sealed, and belongs to one version of pileshuf: every task must be of the version that planned.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { UsageError } from '../errors.js';
import type { PagedList } from '../floor/paged-list.js';
import type { FoundHeader } from '../formats/header.js';
import type { RowFacts } from '../formats/rows/row-format.js';
import { createDurably } from '../io/atomic-files.js';
import type { FileVersion } from '../io/files.js';
import { asSealed, object, type Shape, text } from '../io/json-shape.js';
import { lstatPath } from '../io/paths.js';
import { damagedFileError, type Remedy } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { ownVersion } from '../io/shipped-files.js';
import type { MachineRequest } from '../job/request.js';
import { CLUSTER_COMMITTED_FILE, CLUSTER_PLAN_FILE } from '../job-directory/job-paths.js';
import type { HeadPlan } from '../keep/head.js';
import type { Weighing } from '../keep/mix.js';
import type { Destination } from '../places/outputs/destination.js';
import type { SlicePart } from '../plan/slices.js';
import type { S3ServiceOptions } from '../remote/address.js';
import type { InputIds } from '../sources/ids.js';
import type { InputHeader } from '../sources/input.js';
import type { ShuffleSpec } from '../spec.js';
import type { StartState } from '../stages/start-states.js';
import type { MachinePlan } from '../stages/task-settings.js';
import { StoredTable, type TablePages, writeTable } from './plan-tables.js';

/**
 * The arrays of tasks, in the order in which they run. `measure` has tasks only if one of equal records is kept, `verify`
 * only for an output too large for the commit.
 */
export const ARRAY_KINDS = ['scatter', 'measure', 'shuffle', 'verify'] as const;
export const TASK_KINDS = [...ARRAY_KINDS, 'commit'] as const;

export type ArrayKind = (typeof ARRAY_KINDS)[number];
export type TaskKind = (typeof TASK_KINDS)[number];

export interface ClusterInput extends Pick<FileVersion, 'byteLength' | 'modifiedNanoseconds'> {
  /** Absolute. */
  readonly path: string;
  /** The name of the codec. Undefined: plain bytes. */
  readonly codec: string | undefined;
  readonly header: InputHeader;
  readonly rows: RowFacts | undefined;
  /** The file with values of its records. Absent: there is none. */
  readonly companion?: ClusterInput | undefined;
}

export interface ClusterPart extends SlicePart {
  /** The facts about the bytes before that its reader must know. Absent: none. */
  readonly before?: StartState | undefined;
}

/** The file into which the commit writes how the time was spent. */
export interface ProfilePlace {
  /** Absolute. */
  readonly path: string;
  readonly mayReplace: boolean;
}

export interface ClusterPlan extends MachinePlan {
  readonly spec: ShuffleSpec;
  readonly ioLimits: MachineRequest['ioLimits'];
  readonly tempZstdLevel: number | undefined;
  readonly inputs: PagedList<ClusterInput>;
  /** How services on other machines are asked. */
  readonly service: S3ServiceOptions;
  readonly inputIds: InputIds;
  readonly firstHeader: FoundHeader | undefined;
  readonly weighing: Weighing | undefined;
  readonly slices: PagedList<readonly ClusterPart[]>;
  readonly scatterTasks: readonly (readonly number[])[];
  /** 0: the job has no such array. */
  readonly otherTasks: Readonly<Record<Exclude<ArrayKind, 'scatter'>, number>>;
  /** Stored bytes of each slice. */
  readonly sliceBytes: readonly number[];
  /** The head of the order. Undefined: scatter tasks leave out no records of which the output has the first alone. */
  readonly head: Pick<HeadPlan, 'records' | 'zeroBits'> | undefined;
  /** Decoded; from samples where inputs are compressed. */
  readonly expectedBytes: number;
  /** The bytes before any records are found equal. */
  readonly expectedOutputBytes: number;
  /** The memory that each task may use for records. */
  readonly memoryBytes: number;
  /** The place of the profile. Undefined: tasks measure nothing. */
  readonly profile: ProfilePlace | undefined;
  readonly output: Destination;
  /** Lies beside the output, on storage that all tasks share. */
  readonly stagingDirectory: string;
  /** True if the commit, or verify tasks before it, read the output back. */
  readonly readsBack: boolean;
}

export function taskCountOf({ scatterTasks, otherTasks }: ClusterPlan, kind: TaskKind): number {
  return { scatter: scatterTasks.length, ...otherTasks, commit: 1 }[kind];
}

/** The indexes of all tasks of a kind. */
export function tasksOf(plan: ClusterPlan, kind: ArrayKind): number[] {
  return Array.from({ length: taskCountOf(plan, kind) }, (_, task) => task);
}

/** The kinds of which the job has tasks. */
export function arrayKindsOf(plan: ClusterPlan): ArrayKind[] {
  return ARRAY_KINDS.filter((kind) => taskCountOf(plan, kind) > 0);
}

/** Returns the stored bytes that tasks read of inputs; of other kinds, the bytes of records that they read or write. */
export function expectedBytesOf(plan: ClusterPlan, kind: ArrayKind, tasks: readonly number[]): number {
  const { scatterTasks, sliceBytes, expectedBytes, expectedOutputBytes } = plan;
  const slices = tasks.flatMap((task) => scatterTasks[task] ?? []);
  if (kind === 'scatter') return slices.reduce((sum, slice) => sum + (sliceBytes[slice] ?? 0), 0);
  return ((kind === 'measure' ? expectedBytes : expectedOutputBytes) * tasks.length) / taskCountOf(plan, kind);
}

export type ReadBackBy = 'verify' | 'commit' | 'nobody';

export function readBackBy({ readsBack, otherTasks }: Pick<ClusterPlan, 'readsBack' | 'otherTasks'>): ReadBackBy {
  if (!readsBack) return 'nobody';
  return otherTasks.verify > 0 ? 'verify' : 'commit';
}

const VERSION = 6;
const MOST_BYTES = 2 ** 29 - 2 ** 24;
export const PLAN_NAME = CLUSTER_PLAN_FILE.name;
export const DATA_NAME = 'disk-0';
export const COMMITTED_NAME = CLUSTER_COMMITTED_FILE.name;
export const COMMITTING_NAME = 'committing';
export const ATTEMPTS_NAME = 'attempts';
export const SLURM_NAME = 'slurm';

/** @param rewrite how often the output of the shuffle task was found damaged before. */
export function noteNameOf(kind: keyof ClusterPlan['otherTasks'] | 'damaged', task: number, rewrite = 0): string {
  return `${kind}-${String(task).padStart(6, '0')}${rewrite === 0 ? '' : `-${rewrite}`}`;
}

export const CLUSTER_REMEDY: Remedy = {
  ifDamaged: 'remove the job directory and plan the job again',
  ifOtherVersion:
    'run all tasks with the version that planned the job, or remove the job directory and plan the job again',
  otherVersionCode: 'ERR_JOB_VERSION',
};

/** The format of a file of the job directory. */
export function clusterFileFormat<T extends object>(
  kind: string,
  version: number,
  mostBytes: number,
  shape: Shape<T>,
): SealedFormat<T> {
  return new SealedFormat({ kind, version, mostBytes, role: 'temp', shape, remedy: CLUSTER_REMEDY });
}

const TABLES = {
  inputs: { name: 'inputs', pageLength: 1024, remedy: CLUSTER_REMEDY },
  slices: { name: 'slices', pageLength: 16, remedy: CLUSTER_REMEDY },
} as const;

type TableName = keyof typeof TABLES;

/** The seal shows that these are the very bytes that this version wrote. */
const planFormat = clusterFileFormat(
  CLUSTER_PLAN_FILE.kind,
  VERSION,
  MOST_BYTES,
  object({
    program: text,
    /** Names the plan in the pages of its tables. */
    id: text,
    tables: asSealed<Readonly<Record<TableName, TablePages>>>(),
    plan: asSealed<Omit<ClusterPlan, TableName>>(),
  }),
);

export type PlanToWrite = Omit<ClusterPlan, TableName> & {
  readonly inputs: Iterable<ClusterInput>;
  readonly slices: Iterable<readonly ClusterPart[]>;
};

export async function writeClusterPlan(jobDirectory: string, { inputs, slices, ...plan }: PlanToWrite): Promise<void> {
  const id = randomBytes(16).toString('hex');
  const tables = {
    inputs: await writeTable(jobDirectory, TABLES.inputs, id, inputs),
    slices: await writeTable(jobDirectory, TABLES.slices, id, slices),
  };
  const bytes = planFormat.seal({ program: ownVersion(), id, tables, plan });
  if (bytes.byteLength > MOST_BYTES) {
    throw new UsageError(
      `the plan would have ${bytes.byteLength} bytes, more than ${MOST_BYTES}; give fewer inputs, each of them larger`,
    );
  }
  await createDurably(jobDirectory, PLAN_NAME, bytes);
}

export function readClusterPlan(jobDirectory: string): ClusterPlan | undefined {
  const path = join(jobDirectory, PLAN_NAME);
  if (lstatPath(path, 'temp')?.isFile() === false)
    throw damagedFileError(path, 'expected a regular file', CLUSTER_REMEDY);
  const sealed = planFormat.read(path);
  if (sealed === undefined) return undefined;
  if (sealed.program === ownVersion()) {
    const { id, tables, plan } = sealed;
    return {
      ...plan,
      inputs: new StoredTable<ClusterInput>(jobDirectory, TABLES.inputs, id, tables.inputs),
      slices: new StoredTable<readonly ClusterPart[]>(jobDirectory, TABLES.slices, id, tables.slices),
    };
  }
  throw new UsageError(
    `${path} was written by pileshuf ${sealed.program}, and this is ${ownVersion()}; ${CLUSTER_REMEDY.ifOtherVersion}`,
    'ERR_JOB_VERSION',
  );
}
