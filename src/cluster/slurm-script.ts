/** The words of each call of sbatch, and the script that runs on a node. Pure functions. */
import { UsageError } from '../errors.js';
import { TASK_KINDS, type TaskKind } from './cluster-plan.js';

/** What Slurm runs for a job: the plan, where it has to wait for other jobs, and the tasks. */
export const SLURM_KINDS = ['plan', ...TASK_KINDS] as const;
export type SlurmKind = (typeof SLURM_KINDS)[number];

/** What Slurm is told of each task. Undefined: Slurm's own default. */
export interface SlurmRequest {
  readonly partition: string | undefined;
  /** As Slurm writes times: `2:00:00`, `1-12`. */
  readonly time: string | undefined;
  readonly account: string | undefined;
  readonly qos: string | undefined;
  readonly constraint: string | undefined;
  readonly jobName: string;
  /** Further words for sbatch, after those that a user may change. */
  readonly sbatchArgs: readonly string[];
  readonly cpusPerTask: number;
  /** 0: all that the node has. */
  readonly taskMemoryBytes: number;
  /** Undefined: as a task. */
  readonly commitMemoryBytes: number | undefined;
  readonly commitTime: string | undefined;
}

export interface SlurmJob {
  readonly kind: TaskKind;
  /** The indexes to run, of `0` to `stride - 1`. A commit is no array. */
  readonly array: { readonly indexes: readonly number[]; readonly stride: number } | undefined;
}

/** Where the tasks of all submissions of a job find things, all of it absolute. */
export interface SlurmPlace {
  readonly jobDirectory: string;
  readonly logDirectory: string;
  /** Undefined: `$SLURM_TMPDIR`, else `$TMPDIR`, else /tmp, on each node. */
  readonly scratchDir: string | undefined;
  readonly envCommand: string | undefined;
  /** Node and the script that it runs. */
  readonly program: readonly string[];
  /** Tells the submissions of this job from all others. */
  readonly token: string;
}

const MIB = 2 ** 20;
const INDEX_DIGITS = 6;
const PAUSE_SECONDS = 5;

/** What no further word for sbatch may be, because this program decides it. */
const OWN_OPTIONS =
  /^(--(array|chdir|comment|dependency|error|kill-on-invalid-dep|output|parsable|test-only|wait|wrap)(=.*)?|-[adeDoW].*)$/s;

export function requireFreeWords(sbatchArgs: readonly string[]): void {
  const own = sbatchArgs.find((word) => OWN_OPTIONS.test(word));
  if (own === undefined) return;
  throw new UsageError(`\`sbatchArgs\` has ${own}, which pileshuf decides itself; leave it out`);
}

/** Slurm replaces no pattern in a name with a backslash: all tasks would write to one file. */
export function requireLogDirectory(directory: string): void {
  if (!directory.includes('\\')) return;
  throw new UsageError(
    `the directory of logs ${directory} has a backslash, with which Slurm cannot name the logs of tasks; give \`logDir\` without`,
  );
}

/** The words that say what a task needs. Slurm can check them alone. */
export function requestWords(request: SlurmRequest, kind: SlurmKind): string[] {
  const { partition, account, qos, constraint, jobName, sbatchArgs, cpusPerTask } = request;
  const { time, memoryBytes } = limitsOf(request, kind);
  const given = { partition, time, account, qos, constraint };
  return [
    `--job-name=${jobName}-${kind}`,
    ...Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    '--nodes=1',
    '--ntasks=1',
    `--cpus-per-task=${cpusPerTask}`,
    `--mem=${Math.ceil(memoryBytes / MIB)}M`,
    '--requeue',
    ...sbatchArgs,
  ];
}

export function limitsOf(request: SlurmRequest, kind: SlurmKind) {
  const { time, taskMemoryBytes, commitTime = time, commitMemoryBytes = taskMemoryBytes } = request;
  return kind === 'commit'
    ? { time: commitTime, memoryBytes: commitMemoryBytes }
    : { time, memoryBytes: taskMemoryBytes };
}

/** @param after the id of the job that must succeed before. */
export function submissionWords(
  request: SlurmRequest,
  { logDirectory, token }: SlurmPlace,
  { kind, array }: SlurmJob,
  after: string | undefined,
  maxParallel: number | undefined,
): string[] {
  const limit = maxParallel === undefined ? '' : `%${maxParallel}`;
  const logName = array === undefined ? kind : `${kind}-%${INDEX_DIGITS}a`;
  return [
    'sbatch',
    '--parsable',
    ...requestWords(request, kind),
    `--comment=${commentOf(token, kind)}`,
    '--chdir=/',
    '--open-mode=append',
    `--output=${logDirectory.replaceAll('%', '%%')}/${logName}.log`,
    ...(array === undefined ? [] : [`--array=${rangesOf(array.indexes)}${limit}`]),
    ...(after === undefined ? [] : [`--dependency=afterok:${after}`, '--kill-on-invalid-dep=yes']),
  ];
}

/** By this comment the submissions of a job are found again, whatever became of the answer to sbatch. */
export function commentOf(token: string, kind: SlurmKind): string {
  return `pileshuf:${token}:${kind}`;
}

export function logNameOf(kind: SlurmKind, index: number | undefined): string {
  return index === undefined ? `${kind}.log` : `${kind}-${String(index).padStart(INDEX_DIGITS, '0')}.log`;
}

/** `0-3,7,9-10`, of whole numbers in their order. */
export function rangesOf(indexes: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const index of indexes) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] === index - 1) range[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',');
}

/** The indexes of an array of at most `mostIndexes` in which each task is done by the index of its remainder. */
export function foldTasks(unfinished: readonly number[], taskCount: number, mostIndexes: number): SlurmJob['array'] {
  const stride = Math.max(1, Math.min(taskCount, mostIndexes));
  const indexes = new Set(unfinished.map((task) => task % stride));
  return { indexes: [...indexes].sort((a, b) => a - b), stride };
}

/**
 * A task gets few variables of the environment, so that what a user has set up on one machine changes nothing; with
 * `envCommand` it gets what that leaves. It is tried once more after a failure that may pass: a wrong call and a bad
 * input stay what they are, and a signal means that it must end.
 */
export function taskScript(place: SlurmPlace, { kind, array }: SlurmJob): string {
  const { jobDirectory, scratchDir, envCommand, program } = place;
  const scratch = scratchDir === undefined ? `"\${SLURM_TMPDIR:-\${TMPDIR:-/tmp}}"` : quoteForShell(scratchDir);
  const name = array === undefined ? kind : `${kind} $SLURM_ARRAY_TASK_ID`;
  const id = array === undefined ? '$SLURM_JOB_ID' : `\${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID`;
  const which = array === undefined ? '' : ` --index "$SLURM_ARRAY_TASK_ID" --stride ${array.stride}`;
  const few = `env -i PATH="\${PATH:-/usr/bin:/bin}" HOME="\${HOME:-/}" \\
    \${TMPDIR+"TMPDIR=$TMPDIR"} \${LD_LIBRARY_PATH+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"} \\
    `;
  return `${shellFor(envCommand)}
node=\${SLURMD_NODENAME:-$(uname -n)}
echo "pileshuf: ${name} on $node, ${begunAs(id)}, restart \${SLURM_RESTART_COUNT:-0}"
${preparation(envCommand)}for file in ${program.map(quoteForShell).join(' ')}; do
  if [ ! -r "$file" ]; then
    echo "pileshuf: $node does not see $file; install pileshuf and Node where all nodes see them" >&2
    exit 2
  fi
done
attempt() {
  ${envCommand === undefined ? few : ''}${program.map(quoteForShell).join(' ')} cluster task ${kind} --job-dir ${quoteForShell(jobDirectory)} \\
    --scratch ${scratch}${which}
}
attempt
code=$?
case $code in
  0|2|3|129|130|143) exit $code ;;
esac
echo "pileshuf: exit code $code; one more attempt in ${PAUSE_SECONDS} s" >&2
sleep ${PAUSE_SECONDS}
attempt
code=$?
[ $code = 0 ] || echo "pileshuf: exit code $code" >&2
exit $code
`;
}

/** What the log of a task says of the job of Slurm that began it. */
export function begunAs(id: string): string {
  return `Slurm job ${id}`;
}

/** Only a login shell is sure to know the command module. */
export function shellFor(envCommand: string | undefined): string {
  return envCommand === undefined ? '#!/bin/sh' : '#!/bin/bash -l';
}

export function preparation(envCommand: string | undefined): string {
  if (envCommand === undefined) return '';
  return `{
${envCommand}
} || {
  code=$?
  echo "pileshuf: the command of --env-command ended with exit code $code on $node" >&2
  exit $code
}
`;
}

/** For a POSIX shell: any text but NUL. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
