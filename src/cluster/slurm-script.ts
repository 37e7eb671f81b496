/** The words of each call of sbatch, and the script that runs on a node. Pure functions. */
import type { TaskKind } from './cluster-plan.js';
import { limitsOf, type SlurmKind, type SlurmNote } from './slurm-settings.js';

export interface SlurmJob {
  readonly kind: TaskKind;
  /** The indexes to run, of `0` to `stride - 1`. A commit is no array. */
  readonly array: { readonly indexes: readonly number[]; readonly stride: number } | undefined;
}

const MIB = 2 ** 20;
const INDEX_DIGITS = 6;
const PAUSE_SECONDS = 5;

/** The words that say what a task needs. Slurm can check them alone. */
export function requestWords(note: SlurmNote, kind: SlurmKind): string[] {
  const { partition, account, qos, constraint, jobName, sbatchArgs, cpusPerTask } = note;
  const { time, memoryBytes } = limitsOf(note, kind);
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

/** @param after the id of the job that must succeed before. */
export function submissionWords(note: SlurmNote, { kind, array }: SlurmJob, after: string | undefined): string[] {
  const { maxParallel, logDir, token } = note;
  const limit = maxParallel === undefined ? '' : `%${maxParallel}`;
  const logName = array === undefined ? kind : `${kind}-%${INDEX_DIGITS}a`;
  return [
    'sbatch',
    '--parsable',
    ...requestWords(note, kind),
    `--comment=${commentOf(token, kind)}`,
    '--chdir=/',
    '--open-mode=append',
    `--output=${logDir.replaceAll('%', '%%')}/${logName}.log`,
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
 * @param program Node and the script that it runs.
 */
export function taskScript(
  jobDirectory: string,
  { scratchDir, envCommand }: Pick<SlurmNote, 'scratchDir' | 'envCommand'>,
  program: readonly string[],
  { kind, array }: SlurmJob,
): string {
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
