/** Why tasks on Slurm did not succeed: by its queue, its accounting if it has one, the errors of attempts, and logs. */
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { openForRead, readAt, versionOf, withFile } from '../io/files.js';
import { formatBudget, nameSome } from '../values/format-numbers.js';
import { ARRAY_KINDS, TASK_KINDS } from './cluster-plan.js';
import type { ClusterStatus, FailedTask } from './cluster-status.js';
import { isActive, nameTasks, readAccounts, type SlurmId, type SlurmTask, slurmIdOf } from './slurm-calls.js';
import { logNameOf, startLineOf } from './slurm-script.js';
import { limitsOf, type SlurmKind, type SlurmNote } from './slurm-settings.js';

/** Most logs of tasks that nobody knows of tell nothing. */
const MOST_LOGS = 20;
const LOG_TAIL_BYTES = 65_536;

type Failure = Pick<SlurmTask, 'kind' | 'index' | 'node'> & { readonly cause: string };

/**
 * @param seen tasks that are over, as the queue showed them last.
 * @returns a line for each cause, of the first kind of tasks that failed: the others only waited for it.
 */
export async function describeFailures(
  status: ClusterStatus,
  seen: readonly SlurmTask[],
  jobs: readonly SlurmId[],
  note: SlurmNote,
): Promise<string[]> {
  const tasks = await endedTasks(seen, jobs);
  for (const kind of TASK_KINDS) {
    const failed = tasks.filter((task) => task.kind === kind && hasFailed(task));
    const noted = status.failed.filter((each) => each.kind === kind);
    const isOf = (task: SlurmTask) => (each: FailedTask) => kind === 'commit' || each.index === task.index;
    const failures: Failure[] = [
      ...failed.map((task) => {
        const log = readLog(join(note.logDir, logNameOf(kind, task.index)), task);
        return { ...task, cause: causeOf(task, noted.find(isOf(task))?.error, log, note) };
      }),
      ...noted
        .filter((each) => !failed.some((task) => isOf(task)(each)))
        .map((each) => ({ ...each, node: each.host, cause: each.error })),
    ];
    if (failures.length > 0) return linesOf(failures);
  }
  return linesOf(failuresOfLogs(status, note));
}

/** @returns undefined if Slurm knows nothing of it any more. */
export async function describePlanFailure(
  seen: readonly SlurmTask[],
  job: SlurmId,
  logPath: string,
  note: SlurmNote,
): Promise<string | undefined> {
  const [task] = await endedTasks(seen, [job]);
  return task && linesOf([{ ...task, cause: causeOf(task, undefined, readLog(logPath, task), note) }])[0];
}

/** Returns ended tasks as the accounting knows them, and as the queue showed them last, which also has reasons. */
async function endedTasks(seen: readonly SlurmTask[], jobs: readonly SlurmId[]): Promise<SlurmTask[]> {
  const tasks = new Map<string, SlurmTask>();
  for (const task of [...(await readAccounts(jobs)), ...seen])
    tasks.set(slurmIdOf(task), { ...tasks.get(slurmIdOf(task)), ...task });
  return [...tasks.values()];
}

/** A task whose dependency failed is only its victim. */
function hasFailed(task: SlurmTask): boolean {
  return !isActive(task) && !['COMPLETED', 'REVOKED'].includes(task.state) && !/^Dependency/.test(task.reason);
}

/** @param error that the last attempt noted of itself. */
function causeOf(task: SlurmTask, error: string | undefined, log: string, note: SlurmNote): string {
  const { kind, state, reason, timeLimit, exit = '', cancelledBy } = task;
  const hasBegun = log !== '';
  if (/^DependencyNeverSatisfied/.test(reason)) return 'a job that it waits for has failed';
  if (state === 'TIMEOUT' || /^slurmstepd.*DUE TO TIME LIMIT/m.test(log)) {
    const { time = '', timeBy } = limitsOf(note, kind);
    const limit = timeLimit === '' ? time : timeLimit;
    return `reached the time limit${limit === '' ? '' : ` of ${limit}`}; give more with \`${timeBy}\``;
  }
  if (state === 'OUT_OF_MEMORY' || reason === 'OutOfMemory' || OUT_OF_MEMORY.test(log))
    return `out of memory: ${memoryAsked(kind, note)}`;
  if (state === 'CANCELLED') return `cancelled${cancelledBy === undefined ? '' : ` by ${userNamed(cancelledBy)}`}`;
  if (/^(NODE_FAIL|BOOT_FAIL)$/.test(state) || /^slurmstepd.*DUE TO NODE FAILURE/m.test(log)) return 'the node failed';
  if (state === 'PREEMPTED') return 'preempted';
  if (!hasBegun && reason === 'JobLaunchFailure')
    return `Slurm could not start this; the node may not see ${note.logDir}`;
  if (/:9$|^137:/.test(exit) || (exit === '' && reason === 'JobLaunchFailure') || ENDS_KILLED.test(log))
    return `killed, as a node does when memory runs out: ${memoryAsked(kind, note)}`;
  if (state === '' && /^slurmstepd.* CANCELLED AT /m.test(log)) return 'cancelled';
  if (error !== undefined) return error;
  const ended = [state, reason === '' || reason === 'None' ? '' : `(${reason})`].filter(Boolean).join(' ');
  return [ended, lastLine(log)].filter(Boolean).join(', ');
}

/** Matches what Slurm and Node write to the log of a task that ran out of memory. */
const OUT_OF_MEMORY = /^slurmstepd.*(oom[-_ ]kill|out-of-memory|memory limit)|JavaScript heap out of memory/im;

const ENDS_KILLED = /^pileshuf: exit code 137$/m;

function memoryAsked(kind: SlurmKind, note: SlurmNote): string {
  const { memoryBytes, memoryBy } = limitsOf(note, kind);
  if (memoryBytes === 0) return 'the task had all memory of its node; take larger nodes';
  return `${formatBudget(memoryBytes)} was asked for; give more with \`${memoryBy}\``;
}

function userNamed(uid: string): string {
  try {
    if (Number(uid) === process.getuid?.()) return userInfo().username;
  } catch {
    // A user of a container may have no entry in the system's list.
  }
  return `user ${uid}`;
}

/** Finds failures of tasks that Slurm has forgotten and that noted no error. */
function failuresOfLogs(status: ClusterStatus, note: SlurmNote): Failure[] {
  const kind = status.state === 'committed' ? 'commit' : status.state;
  const indexes = kind === 'commit' ? [undefined] : (status[kind]?.unfinished ?? []).slice(0, MOST_LOGS);
  return indexes.flatMap((index) => {
    const forgotten = { kind, jobId: '', index, state: '', node: '', reason: '', timeLimit: '' };
    const log = readLog(join(note.logDir, logNameOf(kind, index)), forgotten);
    const cause = causeOf(forgotten, undefined, log, note);
    return cause === '' ? [] : [{ kind, index, node: '', cause }];
  });
}

function linesOf(failures: readonly Failure[]): string[] {
  return [...new Set(failures.map(({ cause }) => cause))].flatMap((cause) => {
    const group = failures.filter((each) => each.cause === cause);
    const nodes = [...new Set(group.map(({ node }) => node).filter(Boolean))];
    const indexes = group.flatMap(({ index }) => (index === undefined ? [] : [String(index)]));
    const where = nodes.length === 0 ? '' : ` on ${nameSome(nodes)}`;
    return group.slice(0, 1).map(({ kind }) => `${nameTasks(kind, indexes)}${where}: ${cause}`);
  });
}

export function describeUnfinished(status: ClusterStatus): string {
  const passes = ARRAY_KINDS.flatMap((kind) => {
    const unfinished = status[kind]?.unfinished ?? [];
    return unfinished.length === 0 ? [] : [`${kind} tasks ${nameSome(unfinished.map(String))}`];
  });
  return passes.length === 0 ? 'the commit is not done' : `${passes.join(' and ')} are not done`;
}

/** Returns what the last attempt that Slurm started wrote. Empty: it has started none for this job. */
function readLog(path: string, task: SlurmTask): string {
  const { kind, jobId, index } = task;
  const text = tailOf(path);
  const begin = text.lastIndexOf(`\npileshuf: ${index === undefined ? kind : `${kind} ${index}`} on `);
  const own = begin < 0 ? text : text.slice(begin);
  const isOther = jobId !== '' && begin >= 0 && !own.includes(`${startLineOf(slurmIdOf(task))},`);
  return isOther ? '' : own.trim();
}

function tailOf(path: string): string {
  try {
    return withFile(openForRead(path, 'temp'), (file) => {
      const { byteLength } = versionOf(file);
      const bytes = Buffer.alloc(Math.min(byteLength, LOG_TAIL_BYTES));
      const read = readAt(file, bytes, 0, bytes.byteLength, byteLength - bytes.byteLength);
      return `\n${bytes.subarray(0, read).toString()}`;
    });
  } catch {
    // There may be none.
    return '';
  }
}

/** The last line that says why: the script and Slurm only add that it ended. */
function lastLine(log: string): string {
  const lines = log.split('\n').slice(1);
  const line = lines.findLast((each) => each.trim() !== '' && !/^\s*(pileshuf: exit code|slurmstepd)/.test(each));
  return line === undefined ? '' : JSON.stringify(line.trim());
}
