/** The tasks of a job in Slurm's queue: those that wait or run, alike ones together; and a queue that is watched. */
import { isProgram } from '../machine/child-program.js';
import { nameSome } from '../quantity.js';
import { findPlan } from './open-job.js';
import { isActive, readQueue, type SlurmId, type SlurmTask } from './slurm-calls.js';
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
  const id = index === undefined ? jobId : `${jobId}_${index}`;
  const advice = /held/i.test(reason) ? `scontrol release ${id} lets ${tasks === 1 ? 'it' : 'them'} run` : undefined;
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

/** The jobs of a submission, look by look. */
export class WatchedQueue {
  readonly #token: string;
  readonly #ids: ReadonlySet<string>;
  readonly #onWarning: (line: string) => void;
  readonly #told = new Set<string>();
  /** Slurm forgets tasks some minutes after their end, and a job may last for days. */
  readonly #ended = new Map<string, SlurmTask>();
  #looksWithoutJobs = 0;

  constructor(token: string, jobs: readonly SlurmId[], onWarning: (line: string) => void) {
    this.#token = token;
    this.#ids = new Set(jobs.map(({ id }) => id));
    this.#onWarning = onWarning;
  }

  get hasEnded(): boolean {
    return this.#looksWithoutJobs >= LOOKS_WITHOUT_JOBS;
  }

  /** As Slurm showed them last. */
  get ended(): readonly SlurmTask[] {
    return [...this.#ended.values()];
  }

  /** @returns none if Slurm does not answer now. */
  async read(): Promise<readonly SlurmTask[]> {
    try {
      const tasks = (await readQueue(this.#token)).filter(({ jobId }) => this.#ids.has(jobId));
      this.#looksWithoutJobs = tasks.some(isActive) ? 0 : this.#looksWithoutJobs + 1;
      for (const task of tasks) {
        const id = `${task.jobId}_${task.index}`;
        if (isActive(task)) this.#ended.delete(id);
        else this.#ended.set(id, task);
      }
      for (const { kind, index, reason, advice } of groupActive(tasks)) {
        const indexes = index === undefined ? [] : [String(index)];
        if (advice !== undefined) this.#tellOnce(`Slurm holds ${nameTasks(kind, indexes)} (${reason}); ${advice}`);
      }
      return tasks;
    } catch (error) {
      this.#tellOnce(`${error instanceof Error ? error.message : String(error)}; the jobs may go on, and this waits`);
      return [];
    }
  }

  #tellOnce(line: string): void {
    if (this.#told.has(line)) return;
    this.#told.add(line);
    this.#onWarning(line);
  }
}
