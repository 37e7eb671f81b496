/** The tasks of a job in Slurm's queue: those that wait or run, alike ones together; and jobs that are watched. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PileshufError } from '../errors.js';
import { isProgram } from '../machine/child-program.js';
import { nameSome } from '../quantity.js';
import { findPlan } from './open-job.js';
import { idOf, isActive, readQueue, type SlurmId, type SlurmTask } from './slurm-calls.js';
import { readSlurmNote, SLURM_KINDS, type SlurmKind } from './slurm-settings.js';
import { Patience } from './until-visible.js';

/** Tasks of one job of Slurm that are in the same state for the same reason. */
export interface SlurmQueueEntry {
  readonly kind: SlurmKind;
  readonly jobId: string;
  readonly tasks: number;
  /** The index in the array, of one task alone. */
  readonly index: number | undefined;
  /** In Slurm's words: `PENDING`, `RUNNING`. */
  readonly state: string;
  /** In Slurm's words, of tasks that wait: `Priority`, `Resources`, `JobHeldUser`. Undefined: it gives none. */
  readonly reason: string | undefined;
  /** What lets tasks run that Slurm holds: `scontrol release 12 lets them run`. Undefined for others. */
  readonly advice: string | undefined;
}

/**
 * Says which tasks of a planned job Slurm has now. Empty for a job that is not on Slurm, and where there is no Slurm.
 * @throws UsageError if there is no planned job; SystemError ERR_SLURM if Slurm does not answer.
 */
export async function slurmQueue(jobDir: string): Promise<SlurmQueueEntry[]> {
  const found = await findPlan(jobDir, new Patience(0, undefined));
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
    ? `scontrol release ${idOf({ jobId, index })} lets ${tasks === 1 ? 'it' : 'them'} run`
    : undefined;
  return { kind, jobId, tasks, index, state, reason: /^(None)?$/.test(reason) ? undefined : reason, advice };
}

/** @param indexes in the array. Empty: all that wait together. */
export function nameTasks(kind: SlurmKind, indexes: readonly string[]): string {
  if (kind === 'commit' || kind === 'plan') return `the ${kind}`;
  if (indexes.length === 0) return `${kind} tasks`;
  return `${kind} task${indexes.length === 1 ? '' : 's'} ${nameSome(indexes)}`;
}

/** What another machine has done shows after this time at the latest. */
export const VISIBLE_SECONDS = 60;
/** A job may leave the queue and come back between two looks. */
const LOOKS_WITHOUT_JOBS = 2;

const FIRST_PAUSE_MILLISECONDS = 1000;
const LONGEST_PAUSE_MILLISECONDS = 10_000;
/** Looking takes at most this part of the time. */
const PAUSES_A_LOOK = 10;

interface Watcher {
  readonly signal?: AbortSignal | undefined;
  readonly onWarning?: ((line: string) => void) | undefined;
}

/**
 * Looks at jobs again and again, until Slurm has none of them any more, or `look` finds what it waits for.
 * @param look gets the tasks of the jobs; none if Slurm does not answer now.
 * @returns what `look` has found, and the tasks that are over, as Slurm showed them last.
 * @throws PileshufError ABORT_ERR with the ids of the jobs, which go on.
 */
export async function watchJobs<T>(
  token: string,
  jobs: readonly SlurmId[],
  { signal, onWarning = () => {} }: Watcher,
  look: (tasks: readonly SlurmTask[]) => Promise<T | undefined> = async () => undefined,
): Promise<{ readonly found: T | undefined; readonly ended: readonly SlurmTask[] }> {
  const ids = jobs.map(({ id }) => id);
  const told = new Set<string>();
  const tellOnce = (line: string) => {
    if (!told.has(line)) onWarning(line);
    told.add(line);
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
      if (isActive(task)) ended.delete(idOf(task));
      else ended.set(idOf(task), task);
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
    if (signal?.aborted === true) throw stillRunning(jobs);
  }
}

function stillRunning(jobs: readonly SlurmId[]): PileshufError {
  const ids = jobs.map(({ id }) => id);
  const stay = jobs.some(({ kind }) => kind === 'plan')
    ? `job ${ids} stays in Slurm and submits the others, and scancel ${ids} ends it`
    : `jobs ${ids.join(', ')} stay in Slurm, and scancel ${ids.join(' ')} ends them`;
  return new PileshufError('aborted', 'ABORT_ERR', `no longer waiting; ${stay}`);
}
