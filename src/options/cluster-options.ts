/** The options of the calls that plan and run a shuffle as tasks for several machines, and of Slurm. */
import { path, trueOrFalse, whole } from '../values/known-options.js';
import { parseBytes, parseCount, parsePath, parseWhole, parseWord } from '../values/parse-values.js';
import { type OptionsOf, omit, option, optionGroup } from './option.js';
import { parseSbatchArgs, parseSlurmMemory } from './parse-options.js';
import { type CallbackOptions, SHUFFLE_OPTIONS, type ShuffleOptions } from './shuffle-options.js';
import { MOST_WORKERS } from './value-checks.js';

const MOST_TASKS = 100_000;
const MOST_WAIT_SECONDS = 86_400;

// biome-ignore format: a table, of few lines an entry
const PLACE = optionGroup('Output', {
  output: option<string>({
    check: path, name: 'output', short: 'o', value: 'PATH', parse: parsePath,
    help: 'output file, or directory for shards, on storage that all machines share',
  }),
});

// biome-ignore format: a table, of few lines an entry
const TASKS = optionGroup('Tasks', {
  jobDir: option<string>({
    check: path, isRequired: true, name: 'job-dir', value: 'DIR', parse: parsePath,
    help: 'the directory of the planned job, on storage that all machines share; new or empty for a plan',
  }),
  tasks: option<number>({
    check: whole(1, MOST_TASKS), isNeeded: true, name: 'tasks', value: 'N', parse: parseCount,
    help: 'at most N tasks of each kind; fewer if they would be too small',
  }),
  /** Threads of each task. Default 4. */
  cpusPerTask: option<number>({
    check: whole(1, MOST_WORKERS), name: 'cpus-per-task', value: 'N', parse: parseCount,
    help: 'threads of each task', default: '4',
  }),
  /** The memory that each task may use for records. Default 1 GiB for each thread. */
  memoryBytes: option<number>({
    check: whole(1), name: 'memory', short: 'S', value: 'SIZE', parse: parseBytes,
    help: 'memory for records of each task', default: '1GiB for each of its threads',
  }),
  /** True if the output is read back before it is published. Default true. */
  readBack: option<boolean>({
    check: trueOrFalse, name: 'no-read-back', constant: false,
    help: 'publish the output as the tasks wrote it, without reading it back',
  }),
});

// biome-ignore format: a table, of few lines an entry
const PROFILE = optionGroup('Progress', {
  /** The commit writes a `ClusterProfile` to this file, as JSON. Default: no profile. */
  profile: option<string>({
    check: path, name: 'profile', value: 'FILE', parse: parsePath,
    help: 'write to FILE where the time went, as JSON',
  }),
});

/** The options of a shuffle that tasks cannot have. */
const ONLY_LOCAL = [
  'workers',
  'resume',
  'keepTemp',
  'tempDirs',
  'repeat',
  'onProgress',
  'onProfile',
  'report',
] as const;

export const CLUSTER_PLAN_OPTIONS = { ...omit(SHUFFLE_OPTIONS, ...ONLY_LOCAL), ...PLACE, ...TASKS, ...PROFILE };

/** The options of a shuffle whose output is a file or a directory. */
export interface ClusterPlanOptions
  extends OptionsOf<typeof TASKS>,
    OptionsOf<typeof PROFILE>,
    Omit<ShuffleOptions, (typeof ONLY_LOCAL)[number]> {
  readonly output: string;
  /** New or empty, on storage that all tasks share. Temp data lies in it. */
  readonly jobDir: string;
  /** The most tasks of each kind. */
  readonly tasks: number;
}

// biome-ignore format: a table, of few lines an entry
const TASK = optionGroup('Tasks', {
  /** The index of the task, from 0 on. A commit has none; for other kinds there is no default. */
  taskIndex: option<number>({
    check: whole(0), name: 'index', value: 'I', parse: parseWhole, help: 'number of the task, from 0 on',
    default: 'the index that Slurm, Kubernetes or AWS Batch gives it',
  }),
  /** Does every `stride`th task from `taskIndex` on, for an array of fewer indexes. Default: that task alone. */
  stride: option<number>({
    check: whole(1), name: 'stride', value: 'W', parse: parseCount,
    help: 'do the tasks I, I + W, I + 2W and so on, for an array of W indexes', default: 'only task I',
  }),
  /** How long to wait for files of other machines to become visible. Default 60. */
  waitSeconds: option<number>({
    check: whole(0, MOST_WAIT_SECONDS), name: 'wait', value: 'SECONDS', parse: parseWhole,
    help: 'how long to wait for files of other machines', default: '60',
  }),
  /** A directory on this machine for piles that are too large for the memory. Default $TMPDIR or /tmp. */
  scratchDir: option<string>({
    name: 'scratch', value: 'DIR', parse: parsePath,
    help: 'directory on this machine, for piles that do not fit in memory', default: '$TMPDIR, or /tmp',
  }),
  signal: option<AbortSignal>({}),
  onWarning: option<(line: string) => void>({}),
});

export const CLUSTER_TASK_OPTIONS = { kind: option({}), jobDir: TASKS.jobDir, ...TASK };

export type TaskOptions = OptionsOf<typeof TASK>;

// biome-ignore format: a table, of few lines an entry
const SCRATCH = optionGroup('Tasks', {
  /** A directory on each node for piles that exceed the memory. Default $SLURM_TMPDIR, else $TMPDIR, else /tmp. */
  scratchDir: option<string>({
    name: 'scratch', value: 'DIR', parse: parsePath,
    help: 'directory on each node, for piles that do not fit in memory',
    default: '$SLURM_TMPDIR, $TMPDIR or /tmp of the node',
  }),
});

// biome-ignore format: a table, of few lines an entry
const SLURM = optionGroup('Slurm', {
  /** Default: that of Slurm. */
  partition: option<string>({
    name: 'partition', value: 'NAME', parse: parseWord,
    help: 'where Slurm runs the tasks', default: "Slurm's default",
  }),
  /** The time limit as Slurm writes times: `2:00:00`, `1-12`. Default: that of the partition. */
  time: option<string>({
    name: 'time', value: 'TIME', parse: parseWord,
    help: 'time limit of a task, as Slurm writes it: 30, 2:00:00, 1-12', default: "Slurm's default",
  }),
  /** Memory of each task, the program included. 0: all that its node has. Default 2 GiB for each thread. */
  taskMemoryBytes: option<number>({
    check: whole(0), name: 'mem', value: 'SIZE', parse: parseSlurmMemory,
    help: 'memory of a task, as Slurm writes it: 16G, 900M; a bare number counts MiB, and 0 is all of a node',
    default: '2G for each of its CPUs',
  }),
  /** The time limit of the commit, as `time`. Default: that of a task. */
  commitTime: option<string>({
    name: 'commit-time', value: 'TIME', parse: parseWord,
    help: 'time limit of the commit', default: 'that of a task',
  }),
  /** Memory of the commit. 0: all that its node has. Default: that of a task. */
  commitMemoryBytes: option<number>({
    check: whole(0), name: 'commit-mem', value: 'SIZE', parse: parseSlurmMemory,
    help: 'memory of the commit', default: 'that of a task',
  }),
  dependency: option<string>({
    name: 'dependency', value: 'JOBS', parse: parseWord,
    help: 'plan and begin after other jobs, as sbatch writes it: afterok:123', default: 'plan and begin at once',
  }),
  /**
   * The command that the shell of each task runs first, in a login bash: `module load node`. The task then gets the
   * environment that it leaves. Default: nothing; the task gets few variables.
   */
  envCommand: option<string>({
    name: 'env-command', value: 'COMMAND', parse: parseWord,
    help: 'command that the shell of each task runs first', default: 'nothing',
  }),
  /** Default: that of the user. */
  account: option<string>({
    name: 'account', value: 'NAME', parse: parseWord,
    help: 'whom Slurm charges', default: "Slurm's default",
  }),
  /** Quality of service. Default: that of Slurm. */
  qos: option<string>({
    name: 'qos', value: 'NAME', parse: parseWord,
    help: 'quality of service', default: "Slurm's default",
  }),
  /** Features that a node must have. Default: none. */
  constraint: option<string>({
    name: 'constraint', value: 'FEATURES', parse: parseWord,
    help: 'what nodes must have', default: 'nothing',
  }),
  /** Default `pileshuf`; the kind of the tasks is added. */
  jobName: option<string>({
    name: 'job-name', value: 'NAME', parse: parseWord,
    help: 'name of the jobs; the kind of the tasks is added', default: 'pileshuf',
  }),
  /** How many tasks of an array run at once, at most. Default: as many as Slurm allows. */
  maxParallel: option<number>({
    check: whole(1), name: 'max-parallel', value: 'W', parse: parseCount,
    help: 'at most W tasks at once', default: 'as many as Slurm allows',
  }),
  /** Further words for sbatch. Default: none. */
  sbatchArgs: option<readonly string[]>({
    name: 'sbatch-args', value: 'WORDS', parse: parseSbatchArgs, isRepeatable: true,
    help: "further options of sbatch, as in --sbatch-args='--exclude=n7 --nice'; repeat it for more",
  }),
  /** Gets a log of each task. Default `logs` in the job directory, which stays. */
  logDir: option<string>({
    name: 'log-dir', value: 'DIR', parse: parsePath,
    help: 'directory for a log of each task', default: 'logs in the job directory; it stays',
  }),
  signal: option<AbortSignal>({}),
});

const { jobDir, cpusPerTask } = TASKS;
export const SLURM_LATER_OPTIONS = { jobDir, cpusPerTask, ...SCRATCH, ...SLURM };
export const SLURM_RESUME_OPTIONS = omit(SLURM_LATER_OPTIONS, 'dependency');
export const SLURM_OPTIONS = { ...omit(CLUSTER_PLAN_OPTIONS, 'memoryBytes'), ...SLURM_RESUME_OPTIONS };

/** The options of each task that Slurm is told. */
export interface SlurmTaskOptions
  extends OptionsOf<typeof SCRATCH>,
    OptionsOf<Omit<typeof SLURM, 'dependency'>>,
    Pick<ClusterPlanOptions, 'cpusPerTask'> {}

/** The plan of a job, and what Slurm is told. */
export type SlurmOptions = Omit<ClusterPlanOptions, 'memoryBytes'> & SlurmTaskOptions;

/** A job that is planned; what is left out stays as in the earlier submission. */
export interface SlurmResumeOptions extends SlurmTaskOptions {
  readonly jobDir: string;
}

/** A job that is to be planned after others. */
export interface SlurmLaterOptions extends SlurmTaskOptions {
  /** New or empty, on storage that all nodes share. */
  readonly jobDir: string;
  /** The jobs for which the plan waits, as sbatch writes them: `afterok:123`. */
  readonly dependency: string;
}

export type SlurmFollowOptions = CallbackOptions;
