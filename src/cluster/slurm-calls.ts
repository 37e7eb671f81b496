/**
 * All that this program asks of Slurm, through its commands: sbatch, squeue, scancel and scontrol. What they refuse comes
 * back in their own words. Nothing here believes that a submitted job still exists.
 */
import { SystemError, UsageError } from '../errors.js';
import { ChildProgram, isProgram } from '../machine/child-program.js';
import { commentOf } from './slurm-script.js';
import { TASK_KINDS, type TaskKind } from './task-arrays.js';

/** Slurm's own default, for who asks without Slurm. */
export const USUAL_ARRAY_SIZE = 1001;

/** A job, or tasks of an array, as squeue shows it. */
export interface QueuedTask {
  readonly kind: TaskKind;
  /** That of the whole array. */
  readonly jobId: string;
  /** Undefined: no array, or tasks that wait together. */
  readonly index: number | undefined;
  readonly state: string;
  readonly node: string;
  readonly reason: string;
}

/** @throws UsageError */
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

/** Has Slurm check a request, without a job. @throws SystemError ERR_SLURM */
export async function testRequest(words: readonly string[]): Promise<void> {
  await callSlurm(['sbatch', '--test-only', ...words], '#!/bin/sh\n');
}

/** @returns the id of the job. @throws SystemError ERR_SLURM */
export async function submit(words: readonly string[], script: string): Promise<string> {
  const answer = await callSlurm(words, script);
  // With several clusters, the name of one follows.
  const [id] = /^\d+/m.exec(answer) ?? [];
  if (id === undefined) throw refused(`sbatch answered ${JSON.stringify(answer)}; expected the id of a job`);
  return id;
}

/** All jobs of this token that Slurm still knows. @throws SystemError ERR_SLURM */
export async function readQueue(token: string): Promise<QueuedTask[]> {
  const user = String(process.geteuid?.() ?? '');
  const answer = await callSlurm(['squeue', '-h', '-t', 'all', '-u', user, '-o', '%F|%K|%T|%N|%k|%r']);
  return answer.split('\n').flatMap((line) => {
    const [jobId = '', index = '', state = '', node = '', comment = '', reason = ''] = line.split('|');
    const kind = TASK_KINDS.find((each) => comment === commentOf(token, each));
    if (kind === undefined) return [];
    return [{ kind, jobId, index: /^\d+$/.test(index) ? Number(index) : undefined, state, node, reason }];
  });
}

const ENDED = /^(BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|REVOKED|TIMEOUT)$/;

/** Whether it waits or runs, or may do so again. */
export function isActive({ state }: QueuedTask): boolean {
  return !ENDED.test(state);
}

export async function cancel(jobIds: readonly string[]): Promise<void> {
  if (jobIds.length > 0) await callSlurm(['scancel', ...jobIds]);
}

/** @returns what it wrote to standard output. @throws SystemError ERR_SLURM */
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
