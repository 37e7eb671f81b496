/**
 * What Slurm is told of a job, as text: the words of each call of sbatch, and the script that runs on a node. Nothing is
 * asked and nothing is written here.
 */
import { UsageError } from '../errors.js';
import type { TaskKind } from './task-arrays.js';

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
  readonly taskMemoryBytes: number;
}

/** One submission. */
export interface SlurmJob {
  readonly kind: TaskKind;
  /** Of an array: the indexes to run, of `0` to `stride - 1`. A commit has none. */
  readonly array: { readonly indexes: readonly number[]; readonly stride: number } | undefined;
}

/** Where the tasks of all submissions of a job find things, all of it absolute. */
export interface SlurmPlace {
  readonly jobDirectory: string;
  readonly logDirectory: string;
  /** Undefined: `$SLURM_TMPDIR`, else `$TMPDIR`, else /tmp, on each node. */
  readonly scratchDir: string | undefined;
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

/** @throws UsageError */
export function requireFreeWords(sbatchArgs: readonly string[]): void {
  const own = sbatchArgs.find((word) => OWN_OPTIONS.test(word));
  if (own === undefined) return;
  throw new UsageError(`\`sbatchArgs\` has ${own}, which pileshuf decides itself; leave it out`);
}

/** Slurm replaces no pattern in a name with a backslash: all tasks would write to one file. @throws UsageError */
export function requireLogDirectory(directory: string): void {
  if (!directory.includes('\\')) return;
  throw new UsageError(
    `the directory of logs ${directory} has a backslash, with which Slurm cannot name the logs of tasks; give \`logDir\` without`,
  );
}

/** The words that say what a task needs. Slurm can check them alone. */
export function requestWords(request: SlurmRequest, kind: TaskKind): string[] {
  const { partition, time, account, qos, constraint, jobName, sbatchArgs, cpusPerTask, taskMemoryBytes } = request;
  const given = { partition, time, account, qos, constraint };
  return [
    `--job-name=${jobName}-${kind}`,
    ...Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    '--nodes=1',
    '--ntasks=1',
    `--cpus-per-task=${cpusPerTask}`,
    `--mem=${Math.ceil(taskMemoryBytes / MIB)}M`,
    '--requeue',
    ...sbatchArgs,
  ];
}

/**
 * All words of a submission, the name of the program first.
 * @param after the job that must succeed before.
 * @param maxParallel how many tasks of the array may run at once.
 */
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

/** By it the submissions of a job are found again, whatever became of the answer to sbatch. */
export function commentOf(token: string, kind: TaskKind): string {
  return `pileshuf:${token}:${kind}`;
}

/** The log of a task. */
export function logNameOf(kind: TaskKind, index: number | undefined): string {
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
 * The script of a submission. A task gets few variables of the environment, so that what a user has set up on one machine
 * changes nothing. It is tried once more after a failure that may pass: a wrong call and a bad input stay what they are,
 * and a signal means that it must end.
 */
export function taskScript({ jobDirectory, scratchDir, program }: SlurmPlace, { kind, array }: SlurmJob): string {
  const files = program.map(quoteForShell).join(' ');
  const scratch = scratchDir === undefined ? `"\${SLURM_TMPDIR:-\${TMPDIR:-/tmp}}"` : quoteForShell(scratchDir);
  const which = array === undefined ? '' : ` --index "$SLURM_ARRAY_TASK_ID" --stride ${array.stride}`;
  const name = array === undefined ? kind : `${kind} $SLURM_ARRAY_TASK_ID`;
  return `#!/bin/sh
node=\${SLURMD_NODENAME:-$(uname -n)}
echo "pileshuf: ${name} on $node, Slurm job $SLURM_JOB_ID, restart \${SLURM_RESTART_COUNT:-0}"
for file in ${files}; do
  if [ ! -r "$file" ]; then
    echo "pileshuf: $node does not see $file; install pileshuf and Node where all nodes see them" >&2
    exit 2
  fi
done
attempt() {
  env -i PATH="\${PATH:-/usr/bin:/bin}" HOME="\${HOME:-/}" \\
    \${TMPDIR+"TMPDIR=$TMPDIR"} \${LD_LIBRARY_PATH+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"} \\
    ${files} cluster task ${kind} --job-dir ${quoteForShell(jobDirectory)} \\
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
`;
}

/** For a POSIX shell: any text but NUL. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
