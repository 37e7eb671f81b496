/** Jobs on a real Slurm cluster: the bytes of the local job, whatever becomes of tasks, nodes and the controller. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ClusterProfile, clusterStatus, followSlurm } from '#src/index.js';
import { column, parquetOf } from '../fixtures/parquet/parquet-file.js';
import { SMALL_TASKS } from '../fixtures/run-cluster.js';
import { sampled } from '../fixtures/scale.js';
import { begunTasks, hasSlurm, onSlurm, untilBegun, useSlurmCluster } from '../fixtures/slurm-cluster.js';
import { type AskedOfSlurm, lines, SlurmJob } from '../fixtures/slurm-jobs.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { npyHeaderOf } from '../formats/any-headers.js';
import { tarEntry } from '../formats/plain-tar.js';

const ORPHAN_MILLISECONDS = 30_000;
const KILLED_MILLISECONDS = 15_000;
const PASSES = ['scatter', 'shuffle'] as const;
const LINES = [lines(0, 300), lines(1000, 5), lines(2000, 120, '')];
const CSV = [3, 200].map((count, j) => {
  const rows = Array.from({ length: count }, (_, i) => `${j}${i},"a ""quoted""\nfield ${i}"`);
  return `id,text\n${rows.join('\n')}\n`;
});
const TAR = Buffer.concat([
  ...Array.from({ length: 40 }, (_, i) =>
    Buffer.concat(['txt', 'cls'].map((ending) => tarEntry({ name: `s${i}.${ending}`, data: Buffer.from(`${i}`) }))),
  ),
  Buffer.alloc(1024),
]);
const NPY = Buffer.concat([
  npyHeaderOf('<u4', 900, [2]),
  Buffer.from(Uint32Array.from({ length: 1800 }, (_, i) => i).buffer),
]);
const TABLE = parquetOf({
  rows: 300,
  rowsPerGroup: 70,
  columns: [
    column('id', 'INT32', (i) => i),
    column('text', 'BYTE_ARRAY', (i) => `text ${i} ${'x'.repeat((7 * i) % 40)}`),
  ],
});

const KINDS: readonly {
  readonly name: string;
  readonly inputs?: readonly (string | Buffer)[];
  readonly asked: AskedOfSlurm;
}[] = [
  { name: 'lines', asked: {} },
  { name: 'gz', inputs: LINES.map((text) => gzipSync(text)), asked: {} },
  { name: 'csv', inputs: CSV, asked: { records: { by: 'csv' }, header: { lines: 1 } } },
  { name: 'tar', inputs: [TAR], asked: { records: { by: 'webdataset' }, shards: { by: 'count', shardCount: 2 } } },
  { name: 'npy', inputs: [NPY, NPY], asked: { records: { by: 'npy' } } },
  {
    name: 'tables',
    inputs: [TABLE, TABLE],
    asked: { shards: { by: 'count', shardCount: 5 }, rowGroupRows: 40 },
  },
  { name: 'shards', asked: { shards: { by: 'count', shardCount: 5 }, maxParallel: 2 } },
  { name: 'unique', inputs: [...LINES, ...LINES], asked: { unique: true } },
  { name: 'gzip shards', asked: { shards: { by: 'records', recordsPerShard: 90 }, compress: { codec: 'gzip' } } },
  {
    name: "splits 'of' $it\nall 100%a",
    asked: {
      splits: [
        { name: 'train', share: 0.9 },
        { name: 'test', rest: true },
      ],
    },
  },
];

describe.skipIf(!hasSlurm)(onSlurm('on a Slurm cluster'), () => {
  const cluster = useSlurmCluster();
  const directory = useMemoryDirectory();
  const jobOf = (name: string, asked: AskedOfSlurm = {}, inputs: readonly (string | Buffer)[] = LINES) =>
    new SlurmJob(directory, name, inputs, asked);

  it('jobs side by side write the bytes of local jobs', async () => {
    const jobs = KINDS.map(({ name, asked, inputs }) => jobOf(name, asked, inputs));
    const submissions = [];
    // Verify tasks read the output of the first one back, the commit those of the others.
    const tuningOf = (job: SlurmJob) => (job === jobs[0] ? { ...SMALL_TASKS, commitReadBytes: 0 } : SMALL_TASKS);
    for (const job of jobs) submissions.push(await job.submit({ profile: job.path('profile') }, tuningOf(job)));
    for (const [i, job] of jobs.entries()) {
      const submission = submissions[i] ?? expect.fail('not submitted');
      const between = KINDS[i]?.asked.unique === true ? ['measure'] : [];
      const passes = ['scatter', ...between, 'shuffle', ...(i === 0 ? ['verify'] : [])];
      expect(submission.jobs.map(({ kind }) => kind)).toEqual([...passes, 'commit']);
      await followSlurm(submission);
      await job.expectLocalBytes();
      const profile: ClusterProfile = JSON.parse(readFileSync(job.path('profile'), 'utf8'));
      expect(profile.passes.map(({ kind, missing }) => [kind, missing])).toEqual(
        submission.jobs.map(({ kind }) => [kind, []]),
      );
    }
  });

  it('a task that fails is tried once more', async () => {
    const job = jobOf('once');
    job.tellFirst('scatter', 1, 'fail');
    job.tellFirst('commit', 0, 'fail');
    expect(await job.finish(await job.submit())).toBe(0);
    expect(job.logOf('scatter-000001.log')).toContain('this attempt fails\npileshuf: exit code 1; one more attempt');
    await job.expectLocalBytes();
  });

  it('jobs that somebody holds are named, with the call that lets them run', async () => {
    const job = jobOf('held');
    const submission = await job.submit({ sbatchArgs: ['--hold'] });
    const calls: string[] = [];
    const onWarning = (line: string) => {
      const [, call = ''] =
        /^Slurm holds .* \(JobHeldUser\); (scontrol release \d+) lets (?:it|them) run$/.exec(line) ?? [];
      calls.push(call);
      execFileSync('sh', ['-c', call]);
    };
    await followSlurm(submission, { onWarning });
    expect(calls.toSorted()).toEqual(submission.jobs.map(({ id }) => `scontrol release ${id}`).toSorted());
    await job.expectLocalBytes();
  });

  it('an input that is bad ends the job, with the reason in the error', async () => {
    const job = jobOf('bad');
    const submission = await job.submit({ sbatchArgs: ['--hold'] });
    rmSync(job.path('in-1'));
    execFileSync('scontrol', ['release', ...submission.jobs.map(({ id }) => id)]);
    await expect(followSlurm(submission)).rejects.toThrow(
      /scatter task \d on n\d: .*in-1.*; logs are in .*; pileshuf cluster slurm --resume --job-dir \S+ submits what is not done/,
    );
    rmSync(job.jobDir, { recursive: true });
    for (const name of ['out']) expect(existsSync(job.path(name))).toBe(false);
    execFileSync('sh', ['-c', `rm -rf ${job.path('.pileshuf-*')}`]);
  });

  it('a job directory that no node sees is named', async () => {
    const job = jobOf('unseen', { tasks: 1 });
    const submission = await job.submit({ sbatchArgs: ['--hold'] });
    const showAgain = cluster.hide(job.jobDir);
    execFileSync('scontrol', ['release', ...submission.jobs.map(({ id }) => id)]);
    await expect(followSlurm(submission)).rejects.toThrow(
      /^scatter task 0 on n\d: FAILED \(NonZeroExitCode\), "pileshuf: \S+job holds no plan on n\d; expected the file .*"; logs/,
    );
    showAgain();
    await job.finish(await job.resume());
    await job.expectLocalBytes();
  });

  it.each(sampled(PASSES, 1, 0, 2))('a node is lost in the %s pass', async (kind) => {
    const job = jobOf(`lost-${kind}`);
    job.tellFirst(kind, 1, 60_000);
    const submission = await job.submit();
    const { node } = await untilBegun(job.notes, kind, 1);
    cluster.killNode(node);
    expect(await job.finish(submission)).toBe(0);
    const again = begunTasks(job.notes).filter((each) => each.kind === kind && each.index === 1);
    expect(again.map(({ attempt }) => attempt)).toEqual([0, 1]);
    cluster.startNode(node);
    await job.expectLocalBytes();
  });

  it.each(sampled(PASSES, 1, 1, 2))(
    'a %s task works on behind the back of Slurm, beside its second attempt',
    async (kind) => {
      const job = jobOf(`orphan-${kind}`);
      // Slurm gives the node up after about 20 s.
      job.tellFirst(kind, 0, ORPHAN_MILLISECONDS);
      const submission = await job.submit();
      const { node } = await untilBegun(job.notes, kind, 0);
      cluster.killSlurmd(node);
      const began = performance.now();
      await untilBegun(job.notes, kind, 0, 1);
      expect(await job.finish(submission)).toBe(0);
      // The first attempt ends later.
      await sleep(ORPHAN_MILLISECONDS + 3000 - (performance.now() - began));
      cluster.startNode(node);
      await job.expectLocalBytes();
    },
  );

  it('the controller is killed and started again', async () => {
    const job = jobOf('controller');
    job.tellFirst('scatter', 0, 3000);
    const submission = await job.submit();
    cluster.restartController();
    await job.finish(submission);
    await job.expectLocalBytes();
  });

  it('a job that was cancelled is resumed: only the rest is submitted', async () => {
    const job = jobOf('cancelled');
    job.tellFirst('scatter', 2, 60_000);
    const submission = await job.submit();
    await untilBegun(job.notes, 'scatter', 2);
    while ((await clusterStatus(job.jobDir)).scatter?.done !== 2) await sleep(200);
    expect((await job.resume()).wereQueued).toBe(true);
    execFileSync(
      'scancel',
      submission.jobs.map(({ id }) => id),
    );
    await expect(followSlurm(submission)).rejects.toThrow(/^scatter task 2 on n\d: cancelled; logs/);
    const again = await job.resume();
    expect(again.jobs.map(({ kind, tasks }) => `${kind} ${tasks}`)).toEqual(['scatter 1', 'shuffle 3', 'commit 1']);
    await followSlurm(again);
    await job.expectLocalBytes();
    expect((await job.resume()).jobs).toEqual([]);
  });

  it('a task that is killed is told with its memory, and not as one that a node could not start', async () => {
    const job = jobOf('killed');
    job.tellFirst('scatter', 1, KILLED_MILLISECONDS);
    const submission = await job.submit();
    await untilBegun(job.notes, 'scatter', 1);
    const began = performance.now();
    // Of the shell alone: the first attempt works on.
    execFileSync('scancel', ['--batch', '--signal=KILL', `${submission.jobs[0]?.id}_1`]);
    await expect(followSlurm(submission)).rejects.toThrow(
      /^scatter task 1 on n\d: killed, as a node does when memory runs out: 1G was asked for; give more with `taskMemoryBytes`; logs/,
    );
    await job.finish(await job.resume());
    await sleep(KILLED_MILLISECONDS + 3000 - (performance.now() - began));
    await job.expectLocalBytes();
  });

  it('what Slurm refuses is said in its words, and leaves nothing', async () => {
    const job = jobOf('refused');
    await expect(job.submit({ partition: 'nope' })).rejects.toThrow(/^sbatch: .*Invalid partition name specified$/);
    await expect(job.submit({ taskMemoryBytes: 2 ** 43 })).rejects.toThrow(
      'Requested node configuration is not available',
    );
    await expect(job.submit({ cpusPerTask: 3 })).rejects.toThrow('`cpusPerTask` is 3, and the largest node has 2 CPUs');
    await expect(job.submit({ time: 'soon' })).rejects.toThrow('Invalid --time specification');
    expect(existsSync(job.jobDir)).toBe(false);
  });

  it('an array that Slurm allows no longer is folded', async () => {
    const job = jobOf('folded', { tasks: 20 }, [lines(0, 2000)]);
    execFileSync('sed', ['-i', 's/^SchedulerParameters=/&max_array_tasks=6,/', `${cluster.directory}/slurm.conf`]);
    execFileSync('scontrol', ['reconfigure']);
    const submission = await job.submit();
    expect(submission.plan?.scatterTasks).toBe(20);
    expect(submission.jobs.map(({ tasks }) => tasks)).toEqual([6, 6, 1]);
    await followSlurm(submission);
    await job.expectLocalBytes();
  });
});
