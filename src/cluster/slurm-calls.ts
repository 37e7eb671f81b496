/** All that this program asks of Slurm, through its commands. What they refuse comes back in their own words. */
import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SystemError, UsageError } from '../errors.js';
import { isProgram } from '../machine/child-program.js';
import { commentOf, type Submission } from './slurm-script.js';
import { type NodeSize, SLURM_KINDS, type SlurmKind } from './slurm-settings.js';

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
  /** As Slurm writes times; empty: not known. */
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

/** As Slurm names a task: `12_3`. */
export function idOf({ jobId, index }: Pick<SlurmTask, 'jobId' | 'index'>): string {
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
  if (id === undefined) throw refused(`sbatch answered ${JSON.stringify(answer)}; expected the id of a job`);
  return id;
}

/** All tasks of this token that Slurm still knows. */
export async function readQueue(token: string): Promise<SlurmTask[]> {
  const user = String(process.geteuid?.() ?? '');
  const answer = await callSlurm(['squeue', '-h', '-r', '-t', 'all', '-u', user, '-o', '%F|%K|%T|%N|%l|%k|%r']);
  return answer.split('\n').flatMap((line) => {
    const [jobId = '', index = '', state = '', node = '', timeLimit = '', comment = '', reason = ''] = line.split('|');
    const kind = SLURM_KINDS.find((each) => comment === commentOf(token, each));
    return kind === undefined ? [] : [{ kind, jobId, index: wholeOf(index), state, node, reason, timeLimit }];
  });
}

/** What the accounting of Slurm, where it has one, says of all tasks of these jobs, those that squeue forgot as well. */
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

/** Whether it waits or runs, or may do so again. */
export function isActive({ state }: SlurmTask): boolean {
  return !ENDED.test(state);
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
    if (typeof code === 'string') throw refused(`cannot start ${name}: ${message}`, error);
    const said = stderr
      .split('\n')
      .map((line) => line.replace(/^\w+: (error: )?/, '').trim())
      .filter((line) => line !== '');
    throw refused(`${name}: ${said.join('; ') || `ended with ${signal ?? `exit code ${code}`}`}`);
  }
}

function refused(message: string, cause?: unknown): SystemError {
  return new SystemError('ERR_SLURM', message, { cause });
}
