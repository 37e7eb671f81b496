/** Each call of sbatch, and the script that it hands to a node. Pure functions. */
import type { TaskKind } from './cluster-plan.js';
import { limitsOf, type SlurmKind, type SlurmNote } from './slurm-settings.js';

export interface SlurmJob {
  readonly kind: TaskKind;
  /** The indexes to run, of `0` to `stride - 1`. A commit is not an array. */
  readonly array: { readonly indexes: readonly number[]; readonly stride: number } | undefined;
}

/** A call of sbatch, which reads the script. */
export interface Submission {
  readonly words: readonly string[];
  readonly script: string;
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

/** Returns the comment by which the submissions of a job are found again, whatever became of the answer to sbatch. */
export function submissionComment(token: string, kind: SlurmKind): string {
  return `pileshuf:${token}:${kind}`;
}

export function logNameOf(kind: SlurmKind, index: number | undefined): string {
  return index === undefined ? `${kind}.log` : `${kind}-${String(index).padStart(INDEX_DIGITS, '0')}.log`;
}

/** Returns the line in the log of a task that names the job of Slurm that began it. */
export function startLineOf(id: string): string {
  return `Slurm job ${id}`;
}

/**
 * Returns the call of sbatch that submits tasks. Each task is tried once more after a failure that may pass: a wrong call and
 * a bad input stay what they are, and a signal means that it must end.
 * @param program Node and the script that it runs.
 * @param after the id of the job that must succeed before.
 */
export function taskSubmission(
  jobDirectory: string,
  note: SlurmNote,
  program: readonly string[],
  job: SlurmJob,
  after: string | undefined,
): Submission {
  const { kind, array } = job;
  const { logDir, scratchDir, envCommand } = note;
  const logName = array === undefined ? kind : `${kind}-%${INDEX_DIGITS}a`;
  const scratch = scratchDir === undefined ? `"\${SLURM_TMPDIR:-\${TMPDIR:-/tmp}}"` : commandLine([scratchDir]);
  const which = array === undefined ? '' : ` --index "$SLURM_ARRAY_TASK_ID" --stride ${array.stride}`;
  const place = { directory: '/', log: `${escapedForSlurm(logDir)}/${logName}.log` };
  return submissionOf(
    note,
    { ...job, ...place, dependency: after && `afterok:${after}` },
    `for file in ${commandLine(program)}; do
  if [ ! -r "$file" ]; then
    echo "pileshuf: $node does not see $file; install pileshuf and Node where all nodes see them" >&2
    exit 2
  fi
done
attempt() {
  ${envCommand === undefined ? FEW_VARIABLES : ''}${commandLine([...program, 'cluster', 'task', kind, '--job-dir', jobDirectory])} \
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
`,
  );
}

/** The call that drops what a user has set up on one machine. With `envCommand`, a task gets what that leaves. */
const FEW_VARIABLES = `env -i PATH="\${PATH:-/usr/bin:/bin}" HOME="\${HOME:-/}" \
    \${TMPDIR+"TMPDIR=$TMPDIR"} \${LD_LIBRARY_PATH+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"} \
    `;

/**
 * Returns the call of sbatch for a job that plans, and submits the tasks.
 * @param planPath Slurm runs a job again whose node was lost: then the plan may be there, and `resume` is called.
 */
export function planSubmission(
  note: SlurmNote,
  { log, dependency }: { readonly log: string; readonly dependency: string },
  planPath: string,
  { plan, resume }: Readonly<Record<'plan' | 'resume', readonly string[]>>,
): Submission {
  const job = {
    kind: 'plan',
    array: undefined,
    directory: process.cwd(),
    log: escapedForSlurm(log),
    dependency,
  } as const;
  return submissionOf(
    note,
    job,
    `if [ -e ${commandLine([planPath])} ]; then
  exec ${commandLine(resume)}
fi
exec ${commandLine(plan)}
`,
  );
}

interface SubmissionRequest {
  readonly kind: SlurmKind;
  readonly array: SlurmJob['array'];
  readonly directory: string;
  /** The path of the log as Slurm writes it: with patterns. */
  readonly log: string;
  readonly dependency: string | undefined;
}

/** Makes a submission. Only a login shell is sure to know the command `module`. */
function submissionOf(note: SlurmNote, asked: SubmissionRequest, body: string): Submission {
  const { token, envCommand, maxParallel } = note;
  const { kind, array, directory, log, dependency } = asked;
  const limit = maxParallel === undefined ? '' : `%${maxParallel}`;
  const [name, id] =
    array === undefined
      ? [kind, '$SLURM_JOB_ID']
      : [`${kind} $SLURM_ARRAY_TASK_ID`, `\${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID`];
  const preparation = `{
${envCommand}
} || {
  code=$?
  echo "pileshuf: the command of --env-command ended with exit code $code on $node" >&2
  exit $code
}
`;
  return {
    words: [
      'sbatch',
      '--parsable',
      ...requestWords(note, kind),
      `--comment=${submissionComment(token, kind)}`,
      `--chdir=${directory}`,
      '--open-mode=append',
      `--output=${log}`,
      ...(array === undefined ? [] : [`--array=${arrayRanges(array.indexes)}${limit}`]),
      ...(dependency === undefined ? [] : [`--dependency=${dependency}`, '--kill-on-invalid-dep=yes']),
    ],
    script: `${envCommand === undefined ? '#!/bin/sh' : '#!/bin/bash -l'}
node=\${SLURMD_NODENAME:-$(uname -n)}
echo "pileshuf: ${name} on $node, ${startLineOf(id)}, restart \${SLURM_RESTART_COUNT:-0}"
${envCommand === undefined ? '' : preparation}${body}`,
  };
}

/** A percent sign begins a pattern. */
function escapedForSlurm(path: string): string {
  return path.replaceAll('%', '%%');
}

/** Returns the text of a submission for people, and for a shell. */
export function submissionText({ words, script }: Submission): string {
  return `${commandLine(words)} <<'SCRIPT'\n${script}SCRIPT\n`;
}

/** `0-3,7,9-10`, of whole numbers in their order. */
export function arrayRanges(indexes: readonly number[]): string {
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

/** Returns a command line for a POSIX shell. Words may have any text but NUL. */
export function commandLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
