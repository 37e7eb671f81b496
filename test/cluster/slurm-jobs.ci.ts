/** A job on Slurm, with programs that answer as Slurm's do: what is submitted, refused, cancelled, resumed and told. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { SlurmId } from '#src/cluster/slurm-calls.js';
import type { ClusterPlanOptions, ShuffleProgress, SlurmTaskOptions } from '#src/index.js';
import { clusterStatus, followSlurm, resumeOnSlurm, shuffle, submitToSlurm } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { FaultyFileCalls } from '../faults/faulty-file-calls.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { useFakeSlurm } from '../fixtures/fake-slurm.js';
import { contentOf, runNow } from '../fixtures/run-cluster.js';
import { runCommand } from '../fixtures/run-command.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { messageOf, smallClusterJob, THREE_TASKS } from '../fixtures/small-cluster-job.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const slurm = useFakeSlurm(directory);
const { jobDir, options, giveUp } = smallClusterJob(directory);

const submit = (more: Partial<ClusterPlanOptions & SlurmTaskOptions> = {}) =>
  submitToSlurm({ ...options(), ...more }, THREE_TASKS);

/** Lines of squeue for the jobs of a submission, each as `INDEX STATE NODE REASON`. */
function queueOf(
  { jobs }: { readonly jobs: readonly SlurmId[] },
  describe: (kind: string) => string | readonly string[],
): string {
  const lines = jobs.flatMap(({ kind, id }) => {
    const comment = slurm.wordsOf(id).find((word) => word.startsWith('--comment='));
    return [describe(kind)].flat().map((text) => {
      const [index = '', state = '', node = '', reason = ''] = text.split(' ');
      return `${id}|${index}|${state}|${node}|1:00|${comment?.slice('--comment='.length)}|${reason}\n`;
    });
  });
  return lines.join('');
}

const INDEXES = [0, 1, 2];
const all = (text: string) => INDEXES.map((index) => `${index} ${text}`);

describe('a submission', () => {
  it('has an array of each pass and a commit, each after the one before', async () => {
    const submission = await submit({ maxParallel: 2 });
    expect(submission.jobs).toEqual([
      { kind: 'scatter', id: '11', tasks: 3 },
      { kind: 'shuffle', id: '12', tasks: 3 },
      { kind: 'commit', id: '13', tasks: 1 },
    ]);
    const words = submission.jobs.map(({ id }) =>
      slurm.wordsOf(id).filter((word) => /array|dependency|kill/.test(word)),
    );
    expect(words).toEqual([
      ['--array=0-2%2'],
      ['--array=0-2%2', '--dependency=afterok:11', '--kill-on-invalid-dep=yes'],
      ['--dependency=afterok:12', '--kill-on-invalid-dep=yes'],
    ]);
    expect(slurm.calls().slice(0, 2)).toEqual([
      'sbatch --test-only --job-name=pileshuf-scatter --nodes=1 --ntasks=1 --cpus-per-task=1 --mem=2048M --requeue',
      'scontrol show config',
    ]);
    giveUp();
  });

  it('has an array that reads a large output back, and again what is written anew', async () => {
    const { jobs } = await submitToSlurm(options(), { ...THREE_TASKS, commitReadBytes: 0 });
    expect(jobs.map(({ kind, id, tasks }) => `${kind} ${id} ${tasks}`)).toEqual([
      ...['scatter 11 3', 'shuffle 12 3', 'verify 13 3', 'commit 14 1'],
    ]);
    expect(slurm.wordsOf('14')).toContain('--dependency=afterok:13');
    for (const kind of ['scatter', 'shuffle'] as const)
      for (const taskIndex of [0, 1, 2]) await runNow({ kind, jobDir: jobDir(), taskIndex });
    const [staging = ''] = readdirSync(directory.path('.')).filter((name) => name.startsWith('.pileshuf-'));
    truncateSync(directory.path(staging, '0.part'), 3000);
    for (const taskIndex of [0, 1]) await runNow({ kind: 'verify', jobDir: jobDir(), taskIndex });
    expect(await messageOf(runNow({ kind: 'verify', jobDir: jobDir(), taskIndex: 2 }))).toContain(
      'shuffle task 2 wrote',
    );
    const again = await resumeOnSlurm({ jobDir: jobDir() });
    expect(again.jobs.map(({ kind, tasks }) => `${kind} ${tasks}`)).toEqual(['shuffle 1', 'verify 1', 'commit 1']);
    for (const kind of ['shuffle', 'verify', 'commit'] as const)
      await runNow({ kind, jobDir: jobDir(), taskIndex: kind === 'commit' ? undefined : 2 });
    expect(await clusterStatus(jobDir())).toMatchObject({ state: 'committed', readBackBy: 'verify' });
  });

  it('gives records what the program leaves of the memory', async () => {
    const submission = await submit({ taskMemoryBytes: 2 ** 30, cpusPerTask: 2 });
    expect(submission.plan?.memoryBytes).toBe((1024 - 256 - 2 * 64) * 2 ** 20);
    giveUp();
    expect(await messageOf(submit({ taskMemoryBytes: 2 ** 28 }))).toBe(
      '`taskMemoryBytes` is 256 MiB, and 1 thread takes 320 MiB beside the records; give at least 384 MiB',
    );
  });

  it('is done by its scripts', async () => {
    const submission = await submit();
    for (const { kind, id, tasks = 0 } of submission.jobs) {
      const ofScript = kind === 'commit' ? undefined : tasks - 1;
      for (const taskIndex of INDEXES.slice(0, ofScript ?? 0))
        if (kind === 'scatter' || kind === 'shuffle') await runNow({ kind, jobDir: jobDir(), taskIndex });
      const { exitCode, log } = slurm.runTask(id, ofScript);
      expect(log).toContain(kind === 'commit' ? 'committed 400 records' : `did ${kind} task ${ofScript}`);
      expect(exitCode).toBe(0);
    }
    expect((await followSlurm(submission)).records).toBe(400);
    await shuffle({
      inputs: [directory.path('in')],
      seed: 's',
      output: directory.path('local'),
      tempDirs: [directory.temp],
    });
    expect(contentOf(directory.path('out'))).toEqual(contentOf(directory.path('local')));
    expect(readdirSync(jobDir()).sort()).toEqual(['committed', 'logs']);
    expect((await resumeOnSlurm({ jobDir: jobDir() })).jobs).toEqual([]);
  });

  it('is folded where Slurm allows fewer indexes', async () => {
    slurm.configure('MaxArraySize            = 1001\nSchedulerParameters     = nohold,max_array_tasks=2\n');
    const { jobs } = await submit();
    expect(jobs.map(({ tasks }) => tasks)).toEqual([2, 2, 1]);
    expect(slurm.runTask('11', 0).log).toContain('did scatter tasks 0, 2');
    giveUp();
  });
});

describe('a directory of logs that cannot be', () => {
  it.each([
    [
      'below what is not there',
      'nowhere/logs',
      /^`logDir` \S+\/nowhere\/logs: \S+\/nowhere does not exist; name another/,
    ],
    ['below a file', 'in/logs', /^`logDir` \S+\/in\/logs: \S+\/in is not a directory; name another directory$/],
    ['a file', 'in', /^`logDir` \S+\/in: \S+\/in is not a directory; name another directory$/],
    ['below the new job directory', 'job/a/logs', /^`logDir` \S+: \S+\/job\/a does not exist; name another directory$/],
  ])('is refused before anything is planned: %s', async (_, logDir, message) => {
    expect(await messageOf(submit({ logDir: directory.path(logDir) }))).toMatch(message);
    expect(readdirSync(directory.path('.')).sort()).toEqual(['fake', 'in', 'temp']);
  });

  it('may be in the job directory, or beside it', async () => {
    for (const logDir of [directory.path('job', 'mine'), directory.path('beside')]) {
      expect((await submit({ logDir })).logDir).toBe(logDir);
      expect(readdirSync(logDir)).toEqual([]);
      giveUp();
    }
  });
});

describe('what Slurm refuses', () => {
  it('is refused before anything is planned', async () => {
    slurm.refuse(
      'test',
      'sbatch: error: invalid partition specified: nope\nallocation failure: Invalid partition name\n',
    );
    expect(await messageOf(submit({ partition: 'nope' }))).toBe(
      'sbatch: invalid partition specified: nope; allocation failure: Invalid partition name',
    );
    expect(existsSync(jobDir())).toBe(false);
  });

  it.each(sampled([11, 12, 13], 3, 2))('as submission %d takes the others back', async (id) => {
    slurm.refuse(id, 'sbatch: error: QOSMaxSubmitJobPerUserLimit\n');
    const message = await messageOf(submit());
    expect(message).toBe(
      `sbatch: QOSMaxSubmitJobPerUserLimit; nothing of it stays in the queue; the plan is kept: pileshuf cluster slurm --resume --job-dir ${jobDir()} submits it again`,
    );
    const cancelled = slurm.calls().filter((call) => call.startsWith('scancel'));
    expect(cancelled).toEqual(id === 11 ? [] : [`scancel ${id === 12 ? '11' : '11 12'}`]);
    expect((await resumeOnSlurm({ jobDir: jobDir() })).jobs).toHaveLength(3);
    giveUp();
  });

  it('and yet has taken is cancelled, too', async () => {
    slurm.refuse(12, 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n');
    expect(await messageOf(submit())).toContain('Socket timed out on send/recv operation; nothing of it stays');
    expect(slurm.calls().at(-1)).toBe('scancel 11 12');
    slurm.showQueue('');
    giveUp();
  });

  it('is said of a Slurm that is not there', async () => {
    const former = process.env['PATH'];
    process.env['PATH'] = directory.temp;
    expect(await messageOf(submit())).toMatch(/^there is no sbatch on PATH; /);
    process.env['PATH'] = former;
    slurm.configure('');
    expect((await submit()).jobs).toHaveLength(3);
    giveUp();
  });
});

describe('what tasks ask for', () => {
  it('may be all that a node has: the plan takes three quarters of the smallest with enough CPUs', async () => {
    slurm.tell('nodes', '1|1000|cpu*\n4|8000|cpu*\n8|64000|cpu*\n8|2000|old\n');
    const { jobs, plan } = await submit({ taskMemoryBytes: 0, cpusPerTask: 2 });
    expect(plan?.memoryBytes).toBe((6000 - 256 - 2 * 64) * 2 ** 20);
    expect(slurm.wordsOf(jobs[0]?.id ?? '')).toContain('--mem=0M');
    giveUp();
  });

  it('is its own for the commit, which Slurm checks, too', async () => {
    const { jobs } = await submit({ time: '1:00', commitTime: '2:00:00', commitMemoryBytes: 2 ** 30 });
    const [scatter, , commit] = jobs.map(({ id }) => slurm.wordsOf(id).filter((word) => /^--(time|mem)=/.test(word)));
    expect({ scatter, commit }).toEqual({
      scatter: ['--time=1:00', '--mem=2048M'],
      commit: ['--time=2:00:00', '--mem=1024M'],
    });
    expect(slurm.calls()[1]).toMatch(/^sbatch --test-only --job-name=pileshuf-commit --time=2:00:00 .*--mem=1024M/);
    const again = await resumeOnSlurm({ jobDir: jobDir() });
    expect(slurm.wordsOf(again.jobs.at(-1)?.id ?? '')).toContain('--time=2:00:00');
    giveUp();
  });

  it.each([
    [{ cpusPerTask: 16 }, '`cpusPerTask` is 16, and the largest node has 8 CPUs'],
    [{ cpusPerTask: 16, partition: 'gpu' }, '`cpusPerTask` is 16, and the largest node of gpu has 4 CPUs'],
    [{ taskMemoryBytes: 2 ** 37 }, '`taskMemoryBytes` is 128G, and the largest node has 64000M'],
    [{ taskMemoryBytes: 2 ** 30, commitMemoryBytes: 2 ** 37 }, '`taskMemoryBytes` is 1G, and the largest node of gpu'],
    [{ cpusPerTask: 8 }, ''],
  ] as const)('%j is refused with what the nodes have', async (asked, reason) => {
    const isOfGpu = 'partition' in asked || 'commitMemoryBytes' in asked;
    slurm.tell('nodes', isOfGpu ? '4|900|gpu\n' : '4|8000|cpu*\n8|64000|cpu*\n');
    slurm.refuse('test', 'allocation failure: Requested node configuration is not available\n');
    const more = 'commitMemoryBytes' in asked ? { partition: 'gpu' } : {};
    expect(await messageOf(submit({ ...asked, ...more }))).toMatch(
      new RegExp(`^sbatch: .*Requested node configuration is not available${reason === '' ? '' : `: ${reason}`}`),
    );
  });

  it('is done after the command of the user', async () => {
    const { jobs } = await submit({ envCommand: 'export LOADED=yes' });
    const { log } = slurm.runTask(jobs[0]?.id ?? '', 0);
    expect(log).toContain('did scatter task 0');
    giveUp();
  });
});

describe('a later submission', () => {
  it('has only what has no record', async () => {
    await submit({ partition: 'cpu', sbatchArgs: ['--nice'], maxParallel: 2 });
    for (const taskIndex of [0, 2]) await runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex });
    const { jobs } = await resumeOnSlurm({ jobDir: jobDir(), time: '1:00', taskMemoryBytes: 2 ** 32 });
    const ofScatter = slurm.wordsOf(jobs[0]?.id ?? '');
    expect(ofScatter).toEqual(
      expect.arrayContaining(['--array=1%2', '--partition=cpu', '--time=1:00', '--nice', '--mem=4096M']),
    );
    await runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 1 });
    const later = await resumeOnSlurm({ jobDir: jobDir() });
    expect(later.jobs.map(({ kind }) => kind)).toEqual(['shuffle', 'commit']);
    const ofShuffle = slurm.wordsOf(later.jobs[0]?.id ?? '');
    expect(ofShuffle).toContain('--array=0-2%2');
    expect(ofShuffle.join(' ')).not.toContain('--dependency');
    giveUp();
  });

  it('waits for the jobs of the former one, and for no others', async () => {
    const first = await submit();
    slurm.showQueue(`${queueOf(first, () => all('PENDING  None'))}99|0|RUNNING|n1||pileshuf:other:scatter|None\n`);
    const second = await resumeOnSlurm({ jobDir: jobDir() });
    expect(second).toMatchObject({ wereQueued: true, jobs: [{ id: '11' }, { id: '12' }, { id: '13' }] });
    slurm.showQueue(queueOf(first, () => '0 CANCELLED n1 None'));
    expect(await resumeOnSlurm({ jobDir: jobDir() })).toMatchObject({
      wereQueued: false,
      jobs: [{ id: '14' }, {}, {}],
    });
    giveUp();
  });
});

/** The check of the request, the size of arrays, three jobs. */
const KILLS = [1, 2, 3, 4, 5].flatMap((call) => (['before', 'after'] as const).map((when) => ({ call, when })));

it.each(sampled(KILLS, 5, 2))('a submission that is killed $when call $call is finished', async ({ call, when }) => {
  const { inputs, output } = options();
  const words = [String(inputs[0]), '-o', output, '--tasks', '3', '--cpus-per-task', '1', '--partition', 'cpu'];
  const argv = ['cluster', 'slurm', ...words, '--job-dir', jobDir()];
  slurm.killAt(call, when);
  const env = { PILESHUF_TEST_TUNING: JSON.stringify(THREE_TASKS) };
  expect((await runCommand(argv, { env })).signal).toBe('SIGKILL');
  const queued = slurm.submitted();
  slurm.showQueue(queueOf({ jobs: queued }, () => all('PENDING  Resources')));
  if (!existsSync(jobDir())) {
    expect((await runCommand(argv, { env })).exitCode).toBe(0);
  } else {
    const { jobs, wereQueued } = await resumeOnSlurm({ jobDir: jobDir() });
    expect(jobs.slice(0, queued.length).map(({ id, tasks }) => ({ id, tasks }))).toEqual(
      queued.map(({ id }) => ({ id, tasks: undefined })),
    );
    expect(wereQueued).toBe(queued.length === 3);
  }
  const submitted = slurm.submitted();
  expect(submitted.map(({ kind }) => kind)).toEqual(['scatter', 'shuffle', 'commit']);
  const after = submitted.map(({ id }) => slurm.wordsOf(id).find((word) => /^--dependency/.test(word)));
  expect(after).toEqual([undefined, ...submitted.slice(0, 2).map(({ id }) => `--dependency=afterok:${id}`)]);
  for (const { id } of submitted) expect(slurm.wordsOf(id)).toContain('--partition=cpu');
  giveUp();
});

describe.runIf(fromCi)('who waits', () => {
  const DROPPED = all('CANCELLED  DependencyNeverSatisfied');

  it('hears of a task that Slurm has forgotten when the others end', async () => {
    const submission = await submit();
    slurm.showQueue(
      queueOf(submission, (kind) => (kind === 'scatter' ? ['0 CANCELLED n1 None', '1 RUNNING n2 None'] : [])),
    );
    const forget = () => slurm.showQueue('');
    const following = messageOf(followSlurm(submission, { onProgress: forget }));
    expect(await following).toMatch(/^scatter task 0 on n1: cancelled; logs/);
    giveUp();
  });

  it('hears the error that an attempt noted', async () => {
    const submission = await submit();
    await messageOf(runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 1 }));
    slurm.showQueue(
      queueOf(submission, (kind) =>
        kind === 'shuffle' ? '1 FAILED n3 NonZeroExitCode' : kind === 'scatter' ? all('COMPLETED n1 None') : DROPPED,
      ),
    );
    expect(await messageOf(followSlurm(submission))).toMatch(
      /^shuffle task 1 on n3: scatter tasks 0, 1, 2 of .* run them first; logs are in/,
    );
    giveUp();
  });

  it('hears of the end when the rest can never start, and resumes without it', async () => {
    const submission = await submit();
    const stuck = '0 PENDING  DependencyNeverSatisfied';
    slurm.showQueue(queueOf(submission, (kind) => (kind === 'scatter' ? '0 FAILED n1 NonZeroExitCode' : stuck)));
    expect(await messageOf(followSlurm(submission))).toMatch(/^scatter task 0 on n1: FAILED \(NonZeroExitCode\); logs/);
    expect((await resumeOnSlurm({ jobDir: jobDir() })).jobs.map(({ id }) => id)).toEqual(['14', '15', '16']);
    expect(slurm.calls()).toContain('scancel 12 13');
    giveUp();
  });

  it('hears of the end when the temp data is gone, too', async () => {
    const submission = await submit();
    for (const { kind, id } of submission.jobs.slice(0, 2))
      for (const index of [0, 1, 2]) expect([kind, slurm.runTask(id, index).exitCode]).toEqual([kind, 0]);
    const isPublished = () => existsSync(directory.path('job', 'committed'));
    const faulty = new FaultyFileCalls({ kind: 'kills', part: 'nothing' }, 5, isPublished);
    const former = replaceFileCalls(faulty.calls);
    await runNow({ kind: 'commit', jobDir: jobDir() }).catch(() => {});
    await faulty.settle();
    replaceFileCalls(former);
    slurm.showQueue(queueOf(submission, (kind) => (kind === 'commit' ? ' CANCELLED n1 None' : '0 COMPLETED n1 None')));
    expect(await messageOf(followSlurm(submission))).toMatch(/^the commit on n1: cancelled; logs are in .* --resume /);
    slurm.showQueue(queueOf(submission, (kind) => (kind === 'commit' ? ' RUNNING n1 None' : '0 COMPLETED n1 None')));
    let isOver = false;
    const following = followSlurm(submission).finally(() => {
      isOver = true;
    });
    await sleep(1500);
    expect({ isPublished: isPublished(), isOver }).toEqual({ isPublished: true, isOver: false });
    await runNow({ kind: 'commit', jobDir: jobDir() });
    expect((await following).records).toBe(400);
  });

  it('hears how far the tasks are that come between the passes', async () => {
    const job = { ...options(), unique: true, headCount: 9 };
    const submission = await submitToSlurm(job, { ...THREE_TASKS, commitReadBytes: 0 });
    const tasksOf = (kind: string) => submission.jobs.find((job) => job.kind === kind)?.tasks ?? 0;
    const run = async (kind: 'scatter' | 'measure' | 'shuffle' | 'verify', count = tasksOf(kind)) => {
      for (let taskIndex = 0; taskIndex < count; taskIndex++) await runNow({ kind, jobDir: jobDir(), taskIndex });
    };
    const look = async () => {
      const told: ShuffleProgress[] = [];
      const leaving = new AbortController();
      const onProgress = (progress: ShuffleProgress) => {
        told.push(progress);
        leaving.abort();
      };
      await messageOf(followSlurm(submission, { signal: leaving.signal, onProgress }));
      expect(told).toHaveLength(1);
      for (const { phases } of told) {
        expect(phases.map(({ phase }) => phase)).toEqual(['scatter', 'measure', 'shuffle', 'verify', 'commit']);
        for (const { phase, bytes } of phases) expect(bytes === 0, phase).toBe(phase === 'commit');
      }
      return told[0];
    };
    const bytesTotal = statSync(directory.path('in')).size;
    await run('scatter');
    await run('measure', 1);
    const bytesDone = Math.round(bytesTotal / tasksOf('measure'));
    expect(await look()).toMatchObject({ phase: 'measure', bytesDone, bytesTotal });
    await run('measure');
    await run('shuffle');
    await run('verify', 1);
    expect(await look()).toMatchObject({
      phase: 'verify',
      bytesDone: expect.closeTo((9 * 8.725) / tasksOf('verify'), -1),
    });
    giveUp();
  });

  it('goes on when Slurm does not answer, and hears how to end the jobs when he leaves', async () => {
    const submission = await submit();
    slurm.showQueue('', 1);
    const leaving = new AbortController();
    const warnings: string[] = [];
    const onWarning = (line: string) => {
      warnings.push(line);
      setTimeout(() => leaving.abort(), 1500);
    };
    const following = followSlurm(submission, { signal: leaving.signal, onWarning });
    expect(await messageOf(following)).toBe(
      'no longer waiting; jobs 11, 12, 13 stay in Slurm, and scancel 11 12 13 ends them',
    );
    await expect(following).rejects.toMatchObject({ kind: 'aborted', code: 'ABORT_ERR' });
    expect(warnings).toEqual(['squeue: ended with exit code 1; the jobs may go on, and this waits']);
    giveUp();
  });
});

it('status shows the tasks that Slurm has, and why they wait', async () => {
  const submission = await submit();
  const states = ['0 RUNNING n1 None', '1 PENDING  Priority', '2 PENDING  Priority'];
  slurm.showQueue(
    queueOf(submission, (kind) => (kind === 'scatter' ? states : kind === 'shuffle' ? '2 PENDING  JobHeldUser' : [])),
  );
  const status = (...more: string[]) => commandInProcess(['cluster', 'status', '--job-dir', jobDir(), ...more]);
  const { stdout } = await status();
  expect(stdout.toString().match(/^slurm .*$/gm)).toEqual([
    'slurm    scatter, job 11, task 0: RUNNING',
    'slurm    scatter, job 11, 2 tasks: PENDING (Priority)',
    'slurm    shuffle, job 12, task 2: PENDING (JobHeldUser); scontrol release 12_2 lets it run',
  ]);
  const { queue } = JSON.parse((await status('--json')).stdout.toString());
  expect(queue[1]).toEqual({ kind: 'scatter', jobId: '11', tasks: 2, state: 'PENDING', reason: 'Priority' });
  slurm.showQueue('', 1);
  const silent = await status();
  expect(silent.stderr).toContain('warning: squeue: ended with exit code 1');
  expect(silent.stdout.toString()).toContain('scatter  0 of 3 tasks done');
  giveUp();
});

describe('pileshuf cluster slurm', () => {
  const call = (...words: string[]) => commandInProcess(['cluster', 'slurm', ...words]);
  const words = () => {
    const { inputs, output } = options();
    return `${inputs[0]} -o ${output} --job-dir ${jobDir()} --tasks 2 --cpus-per-task 1 --mem 900`.split(' ');
  };

  it('prints what it submitted', async () => {
    const { exitCode, stdout } = await call(...words(), '--seed', 's', '--job-name', 'mine');
    expect(exitCode).toBe(0);
    const lines = stdout.toString().split('\n');
    expect(lines.filter((line) => /^(scatter|shuffle|commit|logs)/.test(line))).toEqual([
      'scatter        job 11, array of 1',
      'shuffle        job 12, array of 1, after 11',
      'commit         job 13, after 12',
      `logs           ${jobDir()}/logs`,
    ]);
    expect(slurm.wordsOf('12')).toContain('--job-name=mine-shuffle');
    const again = await call('--resume', '--job-dir', jobDir(), '--json');
    expect(JSON.parse(again.stdout.toString())).toMatchObject({ wereQueued: false, jobs: [{ id: '14' }, {}, {}] });
    giveUp();
  });

  it('plans after other jobs, in a job that submits the tasks', async () => {
    const asked = ['--seed', 's', '--commit-time', '5:00', '--env-command', 'export LOADED=yes'];
    const { stdout } = await call(...words(), ...asked, '--dependency', 'afterok:7');
    expect(stdout.toString()).toBe(
      `job directory  ${jobDir()}\nplan           job 11, after afterok:7; it submits the other jobs\nlog            ${jobDir()}.plan.log\n`,
    );
    expect(existsSync(jobDir())).toBe(false);
    expect(slurm.wordsOf('11')).toEqual(
      expect.arrayContaining(['--job-name=pileshuf-plan', '--dependency=afterok:7', '--kill-on-invalid-dep=yes']),
    );
    // The other job has ended.
    expect(slurm.runTask('11').log).toContain(`shuffle        job 13, array of 1, after 12\n`);
    expect(slurm.submitted().map(({ kind }) => kind)).toEqual(['plan', 'scatter', 'shuffle', 'commit']);
    expect(slurm.wordsOf('12').join(' ')).not.toContain('--dependency');
    expect(slurm.wordsOf('14')).toContain('--time=5:00');
    // The node was lost, and Slurm runs the plan again.
    expect(slurm.runTask('11').log).toContain('commit         job 17, after 16\n');
    giveUp();
  });

  it.runIf(fromCi)('says why the plan after other jobs was not made', async () => {
    slurm.showQueue('');
    const { stderr, exitCode } = await call(...words(), '--dependency', 'afterok:7', '--wait');
    expect({ stderr, exitCode }).toEqual({
      stderr: `pileshuf: Slurm has no job 11 any more; its log is ${jobDir()}.plan.log; nothing is planned\n`,
      exitCode: 1,
    });
  });

  it('prints scripts, and does nothing', async () => {
    const { exitCode, stdout } = await call(...words(), '--dry-run', '--sbatch-args=--nice "--exclude=n 1"');
    expect(exitCode).toBe(0);
    expect(stdout.toString().match(/^sbatch .*$/gm)).toHaveLength(3);
    expect(stdout.toString()).toContain("--nice '--exclude=n 1'");
    expect(existsSync(jobDir())).toBe(false);
    expect(slurm.calls()).toEqual(['scontrol show config']);
  });
});

it('a task that does not see the output says so', async () => {
  await submit();
  for (const name of readdirSync(directory.path('.'))) {
    if (name.startsWith('.pileshuf-')) rmSync(directory.path(name), { recursive: true });
  }
  const task = runNow({ kind: 'scatter', jobDir: jobDir(), taskIndex: 0 });
  expect(await messageOf(task)).toMatch(
    / does not see \S+, which the plan made for the output \S+out; put the output on/,
  );
  mkdirSync(directory.path('other'));
  giveUp();
});
