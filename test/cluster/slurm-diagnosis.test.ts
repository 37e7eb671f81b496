/** Why tasks on Slurm did not succeed: by what its programs print, and by the logs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { SlurmTask } from '#src/cluster/slurm-calls.js';
import { describeFailures } from '#src/cluster/slurm-diagnosis.js';
import type { SlurmNote } from '#src/cluster/slurm-settings.js';
import type { ClusterStatus } from '#src/index.js';
import { useFakeSlurm } from '../fixtures/fake-slurm.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const slurm = useFakeSlurm(directory);

const NOTE = { taskMemoryBytes: 2 ** 31, commitMemoryBytes: 0, time: '9:00', commitTime: '5:00' };
const STATUS = { state: 'scatter', scatter: { unfinished: [1] }, failed: [] } as unknown as ClusterStatus;
const MEMORY = '2G was asked for; give more with `taskMemoryBytes`';
const KILLED = `killed, as a node does when memory runs out: ${MEMORY}`;
const BEGUN = 'pileshuf: scatter 1 on n3, Slurm job 11_1, restart 0\n';
const OF_OTHER_JOB = 'pileshuf: scatter 1 on n3, Slurm job 7_1, restart 0\nKilled\npileshuf: exit code 137\n';

interface Case {
  /** As squeue shows it: STATE REASON. Absent: it has forgotten the task. */
  readonly queue?: string;
  /** Its line of sacct, after its names. */
  readonly accounts?: string;
  readonly log?: string;
}

const CASES: readonly (readonly [Case, string])[] = [
  [{ queue: 'OUT_OF_MEMORY OutOfMemory', log: `${BEGUN}Killed\n` }, `out of memory: ${MEMORY}`],
  [
    {
      queue: 'FAILED NonZeroExitCode',
      log: `${BEGUN}slurmstepd: error: Detected 1 oom_kill event in StepId=12.batch.\n`,
    },
    `out of memory: ${MEMORY}`,
  ],
  [
    { queue: 'FAILED NonZeroExitCode', log: `${BEGUN}FATAL ERROR: JavaScript heap out of memory\n` },
    `out of memory: ${MEMORY}`,
  ],
  [{ queue: 'FAILED JobLaunchFailure', log: BEGUN }, KILLED],
  [{ queue: 'FAILED NonZeroExitCode', log: `${BEGUN}Killed\npileshuf: exit code 137\n` }, KILLED],
  [{ queue: 'FAILED JobLaunchFailure', log: OF_OTHER_JOB }, 'Slurm could not start this; the node may not see LOGS'],
  [{ queue: 'FAILED JobLaunchFailure' }, 'Slurm could not start this; the node may not see LOGS'],
  [{ queue: 'TIMEOUT TimeLimit', log: BEGUN }, 'reached the time limit of 1:00; give more with `time`'],
  [{ queue: 'CANCELLED None', log: BEGUN }, 'cancelled'],
  [{ queue: 'CANCELLED None', accounts: 'CANCELLED by 77|n3|01:00:00|0:15' }, 'cancelled by user 77'],
  [{ queue: 'NODE_FAIL NodeDown' }, 'the node failed'],
  [{ queue: 'PREEMPTED Preempted' }, 'preempted'],
  [{ queue: 'FAILED NonZeroExitCode', log: `${BEGUN}why\npileshuf: exit code 1\n` }, 'FAILED (NonZeroExitCode), "why"'],
  [{ accounts: 'TIMEOUT|n3|02:00:00|0:0' }, 'reached the time limit of 02:00:00; give more with `time`'],
  [{ accounts: 'OUT_OF_MEMORY|n3|02:00:00|0:125' }, `out of memory: ${MEMORY}`],
  [{ accounts: 'FAILED|n3|02:00:00|0:9', log: BEGUN }, KILLED],
  [{ log: `${BEGUN}Killed\npileshuf: exit code 137\n` }, KILLED],
  [
    { log: `${BEGUN}slurmstepd: error: *** JOB 4 ON n3 CANCELLED AT 2026-11-25T15:28:27 DUE TO TIME LIMIT ***\n` },
    'reached the time limit of 9:00; give more with `time`',
  ],
  [{ log: `${BEGUN}slurmstepd: error: *** JOB 4 ON n3 CANCELLED AT 2026-11-25T15:28:27 ***\n` }, 'cancelled'],
];

async function causesOf({ queue, accounts, log }: Case): Promise<string[]> {
  const logDirectory = directory.path('logs');
  mkdirSync(logDirectory);
  if (log !== undefined) writeFileSync(directory.path('logs', 'scatter-000001.log'), log);
  // Slurm gives numbers again: the second job is another user's.
  const others = '12|other|TIMEOUT|n1|01:00:00|0:0\n';
  if (accounts !== undefined) slurm.tell('accounts', `11_1|pileshuf-scatter|${accounts}\n${others}`);
  const [state = '', reason = ''] = queue?.split(' ') ?? [];
  const place = { kind: 'scatter', jobId: '11', index: 1, node: 'n3', timeLimit: '1:00' } as const;
  const seen: readonly SlurmTask[] = queue === undefined ? [] : [{ ...place, state, reason }];
  const jobs = [{ kind: 'scatter', id: '11' } as const, { kind: 'commit', id: '12' } as const];
  const note = { ...NOTE, logDir: logDirectory } as unknown as SlurmNote;
  const told = await describeFailures(STATUS, seen, jobs, note);
  return told.map((line) => line.replace(logDirectory, 'LOGS'));
}

it.each(CASES)('%j: %s', async (given, cause) => {
  const where = given.queue === undefined && given.accounts === undefined ? '' : ' on n3';
  expect(await causesOf(given)).toEqual([`scatter task 1${where}: ${cause}`]);
});

it('the commit has options of its own', async () => {
  const note = { ...NOTE, logDir: directory.path() } as unknown as SlurmNote;
  const commit = { kind: 'commit', jobId: '12', index: undefined, node: 'n1', timeLimit: '' } as const;
  const told = (state: string) => describeFailures(STATUS, [{ ...commit, state, reason: '' }], [], note);
  expect(await told('TIMEOUT')).toEqual([
    'the commit on n1: reached the time limit of 5:00; give more with `commitTime`',
  ]);
  expect(await told('OUT_OF_MEMORY')).toEqual([
    'the commit on n1: out of memory: the task had all memory of its node; take larger nodes',
  ]);
});
