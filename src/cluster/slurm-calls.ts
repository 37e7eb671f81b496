/** All that this program asks of Slurm, through its commands. What they refuse comes back in their own words. */
import { SystemError, UsageError } from '../errors.js';
import { ChildProgram, isProgram } from '../machine/child-program.js';
import { commentOf } from './slurm-script.js';
import { type NodeSize, SLURM_KINDS, type SlurmKind } from './slurm-settings.js';

/** Slurm's own default, where there is no Slurm to ask. */
export const USUAL_ARRAY_SIZE = 1001;

export interface SlurmTask {
  readonly kind: SlurmKind;
  /** The id of the whole array. */
  readonly jobId: string;
  /** Undefined: the job is no array. */
  readonly index: number | undefined;
  readonly state: string;
  readonly node: string;
  readonly reason: string;
  /** As Slurm writes times; empty: not known. */
  readonly timeLimit: string;
}

export interface SlurmId {
  readonly kind: SlurmKind;
  readonly id: string;
}

/** A task that is over, with what only its end tells. */
export interface EndedTask extends SlurmTask {
  readonly exit: { readonly code: number; readonly signal: number } | undefined;
  /** The number of the user who cancelled it. Undefined: nobody did, or it is not known. */
  readonly cancelledBy: string | undefined;
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
export async function submit(words: readonly string[], script: string): Promise<string> {
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
export async function readAccounts(jobs: readonly SlurmId[]): Promise<EndedTask[]> {
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
    return [{ ...place, state, reason: '', timeLimit, exit: exitOf(exit), cancelledBy }];
  });
}

/** How a task ended that Slurm has not forgotten. */
export async function readExit({ jobId, index }: SlurmTask): Promise<EndedTask['exit']> {
  const id = index === undefined ? jobId : `${jobId}_${index}`;
  const answer = await callSlurm(['scontrol', 'show', 'job', id]).catch(() => '');
  return exitOf(/\bExitCode=(\d+:\d+)/.exec(answer)?.[1] ?? '');
}

function exitOf(text: string): EndedTask['exit'] {
  const [, code, signal] = /^(\d+):(\d+)$/.exec(text) ?? [];
  return code === undefined ? undefined : { code: Number(code), signal: Number(signal) };
}

/** The nodes from which Slurm may choose. */
export async function readNodes(partition: string | undefined): Promise<NodeSize[]> {
  const where = partition === undefined ? [] : ['-p', partition];
  const answer = await callSlurm(['sinfo', '-h', '-N', ...where, '-o', '%c|%m|%P']);
  const nodes = answer.split('\n').flatMap((line) => {
    const [cpus = '', mebibytes = '', name = ''] = line.split('|');
    return name === ''
      ? []
      : [{ cpus: Number.parseInt(cpus, 10), memoryBytes: Number.parseInt(mebibytes, 10) * MIB, name }];
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
async function callSlurm(words: readonly string[], input = ''): Promise<string> {
  const [name = ''] = words;
  const program = await ChildProgram.start(words).catch((error: unknown) => {
    throw refused(`cannot start ${name}: ${error instanceof Error ? error.message : String(error)}`, error);
  });
  try {
    if (input !== '') await program.write(Buffer.from(input));
    program.endInput();
    const pieces: Buffer[] = [];
    for await (const piece of program.output) pieces.push(Buffer.from(piece));
    const { exitCode, signal } = await program.ended;
    if (exitCode === 0) return Buffer.concat(pieces).toString();
    const said = (await program.allErrorText())
      .split('\n')
      .map((line) => line.replace(/^\w+: (error: )?/, '').trim())
      .filter((line) => line !== '');
    throw refused(`${name}: ${said.join('; ') || `ended with ${signal ?? `exit code ${exitCode}`}`}`);
  } finally {
    await program.stop();
  }
}

function refused(message: string, cause?: unknown): SystemError {
  return new SystemError('ERR_SLURM', message, { cause });
}
