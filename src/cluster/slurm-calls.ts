/**
 * All that this program asks of Slurm, through its commands: what these refuse comes back in their own words. Jobs that are
 * watched are asked for again and again.
 */
import { type ExecFileException, execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PileshufError, SystemError, UsageError } from '../errors.js';
import { isProgram } from '../machine/child-program.js';
import type { SlurmFollowOptions } from '../options/cluster-options.js';
import { nameSome } from '../values/format-numbers.js';
import { findPlan } from './open-job.js';
import { type Submission, submissionComment } from './slurm-script.js';
import { type NodeSize, readSlurmNote, SLURM_KINDS, type SlurmKind } from './slurm-settings.js';

/** Slurm's own default, where there is no Slurm to ask. */
export const USUAL_ARRAY_SIZE = 1001;

/** A task of an array, or a job that is none. */
export interface SlurmTask {
  readonly kind: SlurmKind;
  /** The id of the whole array. */
  readonly jobId: string;
  readonly index: number | undefined;
  readonly state: string;
  readonly node: string;
  readonly reason: string;
  /** The limit as Slurm writes times; empty: not known. */
  readonly timeLimit: string;
  /** Exit code and signal, as in `0:9`. Only the accounting tells them, and who cancelled a task. */
  readonly exit?: string;
  /** The number of a user. */
  readonly cancelledBy?: string | undefined;
}

export interface SlurmId {
  readonly kind: SlurmKind;
  readonly id: string;
}

/** Returns the id of a task as Slurm writes it: `12_3`. */
export function slurmIdOf({ jobId, index }: Pick<SlurmTask, 'jobId' | 'index'>): string {
  return index === undefined ? jobId : `${jobId}_${index}`;
}

export function requireSlurm(): void {
  if (isProgram('sbatch')) return;
  throw new UsageError(
    'there is no sbatch on PATH; run this on a machine from which jobs are submitted to Slurm, or see pileshuf cluster plan --help for other schedulers',
  );
}

/** How many indexes an array may have, counted from 0. */
export async function readArraySize(): Promise<number> {
  const config = await callSlurm(['scontrol', 'show', 'config']);
  const numbers = [/^MaxArraySize\s*=\s*(\d+)/m, /\bmax_array_tasks=(\d+)/].flatMap((pattern) => {
    const [, digits] = pattern.exec(config) ?? [];
    return digits === undefined ? [] : [Number(digits)];
  });
  return Math.max(1, Math.min(...numbers, numbers.length === 0 ? USUAL_ARRAY_SIZE : Number.POSITIVE_INFINITY));
}

/** Submits nothing. */
export async function testRequest(words: readonly string[]): Promise<void> {
  await callSlurm(['sbatch', '--test-only', ...words], '#!/bin/sh\n');
}

/** @returns the id of the job. */
export async function submit({ words, script }: Submission): Promise<string> {
  const answer = await callSlurm(words, script);
  // With several clusters, the name of one follows.
  const [id] = /^\d+/m.exec(answer) ?? [];
  if (id === undefined) throw slurmError(`sbatch answered ${JSON.stringify(answer)}; expected the id of a job`);
  return id;
}

/** All tasks of this token that Slurm still knows. */
export async function readQueue(token: string): Promise<SlurmTask[]> {
  const user = String(process.geteuid?.() ?? '');
  const answer = await callSlurm(['squeue', '-h', '-r', '-t', 'all', '-u', user, '-o', '%F|%K|%T|%N|%l|%k|%r']);
  return answer.split('\n').flatMap((line) => {
    const [jobId = '', index = '', state = '', node = '', timeLimit = '', comment = '', reason = ''] = line.split('|');
    const kind = SLURM_KINDS.find((each) => comment === submissionComment(token, each));
    return kind === undefined ? [] : [{ kind, jobId, index: wholeOf(index), state, node, reason, timeLimit }];
  });
}

/**
 * Returns what the accounting of Slurm, where it has one, says of all tasks of these jobs, those that squeue forgot as
 * well.
 */
export async function readAccounts(jobs: readonly SlurmId[]): Promise<SlurmTask[]> {
  const fields = 'JobID,JobName,State,NodeList,Timelimit,ExitCode';
  const words = ['sacct', '-n', '-P', '-X', '-j', jobs.map(({ id }) => id).join(','), '-o', fields];
  const answer = await callSlurm(words).catch(() => '');
  return answer.split('\n').flatMap((line) => {
    const [id = '', name = '', says = '', node = '', timeLimit = '', exit = ''] = line.split('|');
    const [jobId = '', index = ''] = id.split('_');
    // Slurm may have given the id again.
    const job = jobs.find((each) => each.id === jobId && name.endsWith(`-${each.kind}`));
    if (job === undefined) return [];
    const [, state = '', cancelledBy] = /^(\S*)(?: by (\d+))?/.exec(says) ?? [];
    const place = { kind: job.kind, jobId, index: wholeOf(index), node: /^None/.test(node) ? '' : node };
    return [{ ...place, state, reason: '', timeLimit, exit, cancelledBy }];
  });
}

/** The nodes from which Slurm may choose. */
export async function readNodes(partition: string | undefined): Promise<NodeSize[]> {
  const where = partition === undefined ? [] : ['-p', partition];
  const answer = await callSlurm(['sinfo', '-h', '-N', ...where, '-o', '%c|%m|%P']);
  const lines = answer.split('\n').filter((line) => line.includes('|'));
  const nodes = lines.map((line) => {
    const [cpus = '', mebibytes = '', name = ''] = line.split('|');
    return { cpus: Number.parseInt(cpus, 10), memoryBytes: Number.parseInt(mebibytes, 10) * MIB, name };
  });
  // The name of the default partition ends in a star.
  const usual = nodes.filter(({ name }) => name.endsWith('*'));
  return partition === undefined && usual.length > 0 ? usual : nodes;
}

const MIB = 2 ** 20;

function wholeOf(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

const ENDED = /^(BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|REVOKED|TIMEOUT)$/;

/** Returns whether it waits or runs, or may do so again. */
export function isActive(task: SlurmTask): boolean {
  return !ENDED.test(task.state) && !isStuck(task);
}

/**
 * Returns whether a job waits for one that has failed. Slurm cancels such jobs, but may forget to when its controller
 * restarts.
 */
export function isStuck({ state, reason }: SlurmTask): boolean {
  return state === 'PENDING' && reason === 'DependencyNeverSatisfied';
}

export async function cancel(jobIds: readonly string[]): Promise<void> {
  if (jobIds.length > 0) await callSlurm(['scancel', ...jobIds]);
}

/** @returns what it wrote to standard output. */
async function callSlurm([name = '', ...words]: readonly string[], input = ''): Promise<string> {
  const call = promisify(execFile)(name, words, { maxBuffer: Number.POSITIVE_INFINITY });
  // It may end before it has read all of its input.
  call.child.stdin?.on('error', () => {}).end(input);
  try {
    return (await call).stdout;
  } catch (error) {
    const { code, signal, message, stderr = '' } = error as ExecFileException;
    if (typeof code === 'string') throw slurmError(`cannot start ${name}: ${message}`, error);
    const said = stderr
      .split('\n')
      .map((line) => line.replace(/^\w+: (error: )?/, '').trim())
      .filter((line) => line !== '');
    throw slurmError(`${name}: ${said.join('; ') || `ended with ${signal ?? `exit code ${code}`}`}`);
  }
}

function slurmError(message: string, cause?: unknown): SystemError {
  return new SystemError('ERR_SLURM', message, { cause });
}

/** Tasks of one job of Slurm that are in the same state for the same reason. */
export interface SlurmQueueEntry {
  readonly kind: SlurmKind;
  readonly jobId: string;
  readonly tasks: number;
  /** The index in the array, of one task alone. */
  readonly index: number | undefined;
  /** The state in Slurm's words: `PENDING`, `RUNNING`. */
  readonly state: string;
  /** The reason in Slurm's words why a task waits: `Priority`, `Resources`, `JobHeldUser`. Undefined: it gives none. */
  readonly reason: string | undefined;
  /** The command that lets tasks run that Slurm holds: `scontrol release 12 lets them run`. Undefined for others. */
  readonly advice: string | undefined;
}

/**
 * Says which tasks of a planned job Slurm has now. Empty for a job that is not on Slurm, and where there is no Slurm.
 * @throws UsageError if there is no planned job; SystemError ERR_SLURM if Slurm does not answer.
 */
export async function slurmQueue(jobDir: string): Promise<SlurmQueueEntry[]> {
  const found = await findPlan(jobDir);
  const note = found && readSlurmNote(found.directory);
  return note === undefined || !isProgram('squeue') ? [] : groupActive(await readQueue(note.token));
}

export function groupActive(tasks: readonly SlurmTask[]): SlurmQueueEntry[] {
  const groups = new Map<string, SlurmTask[]>();
  for (const task of tasks.filter(isActive)) {
    const key = [task.jobId, task.state, task.reason].join(' ');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [task]);
    else group.push(task);
  }
  const entries = [...groups.values()].flatMap((group) => group.slice(0, 1).map((task) => entryOf(task, group.length)));
  return entries.sort((a, b) => SLURM_KINDS.indexOf(a.kind) - SLURM_KINDS.indexOf(b.kind));
}

function entryOf({ kind, jobId, state, reason, ...task }: SlurmTask, tasks: number): SlurmQueueEntry {
  const index = tasks === 1 ? task.index : undefined;
  const advice = /held/i.test(reason)
    ? `scontrol release ${slurmIdOf({ jobId, index })} lets ${tasks === 1 ? 'it' : 'them'} run`
    : undefined;
  return { kind, jobId, tasks, index, state, reason: /^(None)?$/.test(reason) ? undefined : reason, advice };
}

/** @param indexes in the array. Empty: all that wait together. */
export function nameTasks(kind: SlurmKind, indexes: readonly string[]): string {
  if (kind === 'commit' || kind === 'plan') return `the ${kind}`;
  if (indexes.length === 0) return `${kind} tasks`;
  return `${kind} task${indexes.length === 1 ? '' : 's'} ${nameSome(indexes)}`;
}

/** The time after which a machine sees what another has done, at the latest. */
export const VISIBLE_SECONDS = 60;
/** A job may leave the queue and come back between two looks. */
const LOOKS_WITHOUT_JOBS = 2;

const FIRST_PAUSE_MILLISECONDS = 1000;
const LONGEST_PAUSE_MILLISECONDS = 10_000;
/** Looking takes at most this part of the time. */
const PAUSES_A_LOOK = 10;

/**
 * Looks at jobs again and again, until Slurm has none of them any more, or `look` finds what it waits for.
 * @param look gets the tasks of the jobs; none if Slurm does not answer now.
 * @returns what `look` has found, and the tasks that are over, as Slurm showed them last.
 * @throws PileshufError ABORT_ERR with the ids of the jobs, which go on.
 */
export async function watchJobs<T>(
  token: string,
  jobs: readonly SlurmId[],
  { signal, onWarning = () => {} }: Pick<SlurmFollowOptions, 'signal' | 'onWarning'>,
  look: (tasks: readonly SlurmTask[]) => Promise<T | undefined> = async () => undefined,
): Promise<{ readonly found: T | undefined; readonly ended: readonly SlurmTask[] }> {
  const ids = jobs.map(({ id }) => id);
  const reported = new Set<string>();
  const tellOnce = (line: string) => {
    if (!reported.has(line)) onWarning(line);
    reported.add(line);
  };
  /** Slurm forgets tasks some minutes after their end, and a job may last for days. */
  const ended = new Map<string, SlurmTask>();
  let looksWithoutJobs = 0;
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(pause * 1.2, LONGEST_PAUSE_MILLISECONDS)) {
    const began = performance.now();
    const queue = await readQueue(token).catch((error: unknown) => {
      tellOnce(`${error instanceof Error ? error.message : String(error)}; the jobs may go on, and this waits`);
      return undefined;
    });
    const tasks = queue?.filter(({ jobId }) => ids.includes(jobId)) ?? [];
    for (const task of tasks) {
      if (isActive(task)) ended.delete(slurmIdOf(task));
      else ended.set(slurmIdOf(task), task);
    }
    for (const { kind, index, reason, advice } of groupActive(tasks)) {
      const indexes = index === undefined ? [] : [String(index)];
      if (advice !== undefined) tellOnce(`Slurm holds ${nameTasks(kind, indexes)} (${reason}); ${advice}`);
    }
    if (queue !== undefined) looksWithoutJobs = tasks.some(isActive) ? 0 : looksWithoutJobs + 1;
    // After the queue: what ended before that look is seen now.
    const found = await look(tasks);
    if (found !== undefined || looksWithoutJobs >= LOOKS_WITHOUT_JOBS) return { found, ended: [...ended.values()] };
    const milliseconds = Math.max(pause, PAUSES_A_LOOK * (performance.now() - began));
    await sleep(milliseconds, undefined, { signal }).catch(() => {});
    if (signal?.aborted === true) throw stillRunningError(jobs);
  }
}

function stillRunningError(jobs: readonly SlurmId[]): PileshufError {
  const ids = jobs.map(({ id }) => id);
  const stay = jobs.some(({ kind }) => kind === 'plan')
    ? `job ${ids} stays in Slurm and submits the others, and scancel ${ids} ends it`
    : `jobs ${ids.join(', ')} stay in Slurm, and scancel ${ids.join(' ')} ends them`;
  return new PileshufError('aborted', 'ABORT_ERR', `no longer waiting; ${stay}`);
}
