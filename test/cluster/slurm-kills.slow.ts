/**
 * Small jobs on a real Slurm cluster while nodes, daemons, tasks and submissions are killed at drawn moments. Submitted again
 * until they are done, they have the right bytes, and nothing is left behind.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, it } from 'vitest';
import type { SlurmSubmission } from '#src/index.js';
import { drawsFor } from '../fixtures/draws.js';
import { hasSlurm, NODES, onSlurm, type SlurmCluster, useSlurmCluster } from '../fixtures/slurm-cluster.js';
import { type AskedOfSlurm, lines, SlurmJob } from '../fixtures/slurm-jobs.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const SCHEDULES = Array.from({ length: 50 }, (_, i) => String(i).padStart(2, '0'));
const ASKED: readonly AskedOfSlurm[] = [
  {},
  { shards: { by: 'count', shardCount: 4 } },
  { shards: { by: 'count', shardCount: 4 }, compress: { codec: 'gzip' } },
  { unique: true },
];
/** Some lines are in both. */
const INPUTS = [lines(0, 300), lines(200, 120, '')];
const KINDS = ['scatter', 'measure', 'shuffle', 'commit'];

interface Site {
  readonly cluster: SlurmCluster;
  readonly job: SlurmJob;
  readonly submission: SlurmSubmission;
  readonly draw: () => number;
}

const BLOWS: readonly ((site: Site) => Promise<void> | void)[] = [
  async ({ cluster, draw }) => {
    const node = one(NODES, draw);
    cluster.killNode(node);
    await sleep(6000 * draw());
    cluster.startNode(node);
  },
  async ({ cluster, draw }) => {
    const node = one(NODES, draw);
    cluster.killSlurmd(node);
    await sleep(25_000 * draw());
    // What still runs there dies.
    cluster.startNode(node);
  },
  ({ cluster }) => cluster.restartController(),
  ({ submission, draw }) => callSlurm('scancel', one(submission.jobs, draw).id),
  ({ submission, draw }) =>
    callSlurm('scontrol', 'requeue', `${one(submission.jobs, draw).id}_${Math.floor(3 * draw())}`),
  ({ job, draw }) => {
    const found = processesOf(job);
    if (found.length > 0) process.kill(one(found, draw), 'SIGKILL');
  },
];

function one<T>(items: readonly T[], draw: () => number): T {
  return items[Math.floor(items.length * draw())] as T;
}

/** The job may have ended. */
function callSlurm(...[name = '', ...words]: string[]): void {
  try {
    execFileSync(name, words, { stdio: 'ignore' });
  } catch {
    // Then the blow misses.
  }
}

/** The processes of all attempts at tasks of a job: they name its notes. */
function processesOf(job: SlurmJob): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return words[0] === process.execPath && words.includes(job.notes) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

describe.skipIf(!hasSlurm)(onSlurm('on a Slurm cluster'), () => {
  const cluster = useSlurmCluster();
  const directory = useMemoryDirectory();
  beforeEach(() => cluster.mend());

  it.each(SCHEDULES)('schedule %s of blows ends with the right bytes', async (schedule) => {
    const draw = drawsFor(`blows ${schedule}`);
    const job = new SlurmJob(directory, `blows-${schedule}`, INPUTS, one(ASKED, draw));
    for (const kind of KINDS) {
      for (let index = 0; index < (kind === 'commit' ? 1 : 3); index++)
        job.tellFirst(kind, index, Math.floor(4000 * draw()));
    }
    const submission = await job.submit();
    const blows = Array.from({ length: 1 + Math.floor(3 * draw()) }, () => one(BLOWS, draw));
    for (const blow of blows) {
      await sleep(5000 * draw());
      await blow({ cluster, job, submission, draw });
    }
    await job.finish(submission);
    while (processesOf(job).length > 0) await sleep(500);
    await job.expectLocalBytes();
  });

  it('1,500 tasks are folded into arrays of 1,001', async () => {
    const job = new SlurmJob(directory, 'many', [lines(0, 120_000)], { tasks: 1500 });
    const submission = await job.submit();
    if (submission.plan?.scatterTasks !== 1500) throw new RangeError(`${submission.plan?.scatterTasks} tasks`);
    await job.finish(submission);
    await job.expectLocalBytes();
  });
});
