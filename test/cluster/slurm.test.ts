/** A job on Slurm, with programs that answer as Slurm's do: what is submitted, refused, cancelled, resumed and told. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ClusterPlanOptions, ShuffleProgress, SlurmSubmission, SlurmTaskOptions } from '#src/index.js';
import { clusterStatus, followSlurm, resumeOnSlurm, shuffle, submitToSlurm } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { FaultyFileCalls } from '../faults/faulty-file-calls.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { useFakeSlurm } from '../fixtures/fake-slurm.js';
import { contentOf, runNow } from '../fixtures/run-cluster.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { messageOf, smallClusterJob, THREE_TASKS } from '../fixtures/small-cluster-job.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const slurm = useFakeSlurm(directory);
const { jobDir, options, giveUp } = smallClusterJob(directory);

const submit = (more: Partial<ClusterPlanOptions & SlurmTaskOptions> = {}) =>
  submitToSlurm({ ...options(), ...more }, THREE_TASKS);

/** Lines of squeue for the jobs of a submission. */
function queueOf({ jobs }: SlurmSubmission, describe: (kind: string, i: number) => string): string {
  return jobs
    .map(({ kind, id }, i) => {
      const comment = slurm.wordsOf(id).find((word) => word.startsWith('--comment='));
      const [index = '', state = '', node = '', reason = ''] = describe(kind, i).split(' ');
      return `${id}|${index}|${state}|${node}|${comment?.slice('--comment='.length)}|${reason}\n`;
    })
    .join('');
}

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
      'scontrol show config',
      'sbatch --test-only --job-name=pileshuf-scatter --nodes=1 --ntasks=1 --cpus-per-task=1 --mem=2048M --requeue',
    ]);
    giveUp();
  });

  it('has arrays of what comes between the passes', async () => {
    const { jobs } = await submit({ unique: true, repeat: true, headCount: 9 });
    expect(jobs.map(({ kind }) => kind)).toEqual(['scatter', 'measure', 'draw', 'shuffle', 'commit']);
    const after = jobs.map(({ id }) => slurm.wordsOf(id).find((word) => word.startsWith('--dependency=')));
    expect(after).toEqual([undefined, ...[11, 12, 13, 14].map((id) => `--dependency=afterok:${id}`)]);
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
    for (const index of [0, 1]) expect(slurm.runTask('13', index).log).toContain(`did verify task ${index}`);
    expect(await messageOf(runNow({ kind: 'verify', jobDir: jobDir(), taskIndex: 2 }))).toContain(
      'shuffle task 2 wrote',
    );
    const again = await resumeOnSlurm({ jobDir: jobDir() });
    expect(again.jobs.map(({ kind, tasks }) => `${kind} ${tasks}`)).toEqual(['shuffle 1', 'verify 1', 'commit 1']);
    for (const { id, kind } of again.jobs)
      expect(slurm.runTask(id, kind === 'commit' ? undefined : 2).exitCode).toBe(0);
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

  it('of one small task has arrays of one', async () => {
    const { jobs } = await submitToSlurm(options(), {});
    expect(jobs.map(({ tasks }) => tasks)).toEqual([1, 1, 1]);
    giveUp();
  });

  it('is done by its scripts', async () => {
    const submission = await submit();
    for (const { kind, id, tasks = 0 } of submission.jobs) {
      for (let index = 0; index < tasks; index++) {
        const { exitCode, log } = slurm.runTask(id, kind === 'commit' ? undefined : index);
        expect(log).toContain(kind === 'commit' ? 'committed 400 records' : `did ${kind} task ${index}`);
        expect(exitCode).toBe(0);
      }
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
    slurm.showQueue(`${queueOf(first, () => '0-2 PENDING  None')}99|0|RUNNING|n1|pileshuf:other:scatter|None\n`);
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

describe.runIf(fromCi)('who waits', () => {
  it('hears of tasks that failed, and of those that could not tell', async () => {
    const submission = await submit();
    await messageOf(runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 1 }));
    writeFileSync(directory.path('job', 'logs', 'scatter-000002.log'), 'begins\nKilled\n');
    const ended = queueOf(submission, (kind) =>
      kind === 'scatter' ? '2 OUT_OF_MEMORY n3 OutOfMemory' : '0-2 CANCELLED  DependencyNeverSatisfied',
    );
    slurm.showQueue(`${ended}${ended.split('\n')[0]?.replace('|2|OUT_OF_MEMORY|', '|0|COMPLETED|')}\n`);
    expect(await messageOf(followSlurm(submission))).toMatch(
      /^shuffle task 1 on \S+: scatter tasks 0, 1, 2 of .* run them first; scatter task 2 on n3: OUT_OF_MEMORY \(OutOfMemory\), "Killed"; logs are in .*job\/logs; pileshuf cluster slurm --resume --job-dir \S+job submits what is not done$/,
    );
    giveUp();
  });

  it('hears that Slurm has lost the jobs, or could not start one', async () => {
    const submission = await submit();
    expect(await messageOf(followSlurm(submission))).toContain(
      'Slurm has no job 11, 12, 13 any more, and scatter tasks 0, 1, 2 and shuffle tasks 0, 1, 2 are not done; logs',
    );
    slurm.showQueue(
      queueOf(submission, (kind) => (kind === 'scatter' ? '0 FAILED n2 JobLaunchFailure' : '0 CANCELLED  Dependency')),
    );
    expect(await messageOf(followSlurm(submission))).toMatch(
      /^scatter task 0 on n2: Slurm could not start it; the node may not see \S+logs; logs are/,
    );
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
    expect(await messageOf(followSlurm(submission))).toMatch(/^the commit on n1: CANCELLED; logs are in .* --resume /);
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
    const job = { ...options(), unique: true, repeat: true, headCount: 9 };
    const submission = await submitToSlurm(job, { ...THREE_TASKS, commitReadBytes: 0 });
    const tasksOf = (kind: string) => submission.jobs.find((job) => job.kind === kind)?.tasks ?? 0;
    const run = async (kind: 'scatter' | 'measure' | 'draw' | 'shuffle' | 'verify', count = tasksOf(kind)) => {
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
        expect(phases.map(({ phase }) => phase)).toEqual(['scatter', 'measure', 'draw', 'shuffle', 'verify', 'commit']);
        for (const { cost } of phases) expect(cost).toBeGreaterThan(0);
      }
      return told[0];
    };
    const bytesTotal = statSync(directory.path('in')).size;
    await run('scatter');
    await run('measure', 1);
    const bytesDone = Math.round(bytesTotal / tasksOf('measure'));
    expect(await look()).toMatchObject({ phase: 'measure', bytesDone, bytesTotal });
    await run('measure');
    expect(await look()).toMatchObject({ phase: 'draw', bytesDone: 0, bytesTotal });
    await run('draw');
    await run('shuffle');
    await run('verify', 1);
    expect(await look()).toMatchObject({
      phase: 'verify',
      bytesDone: expect.closeTo((9 * 8.725) / tasksOf('verify'), -1),
    });
    giveUp();
  });

  it('hears of a task that Slurm holds', async () => {
    const submission = await submit();
    slurm.showQueue(
      queueOf(submission, (kind) => (kind === 'scatter' ? '2 PENDING  JobHeldAdmin' : '0-2 PENDING  Dependency')),
    );
    const warnings: string[] = [];
    const leaving = new AbortController();
    const onWarning = (line: string) => {
      warnings.push(line);
      // Time to hear it again, which he must not.
      setTimeout(() => leaving.abort(), 1500);
    };
    await messageOf(followSlurm(submission, { signal: leaving.signal, onWarning }));
    expect(warnings).toEqual(['Slurm holds scatter task 2 (JobHeldAdmin); scontrol release 11_2 lets it run']);
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

describe('pileshuf cluster slurm', () => {
  const call = (...words: string[]) => commandInProcess(['cluster', 'slurm', ...words]);
  const words = () => {
    const { inputs, output } = options();
    return [
      String(inputs[0]),
      '-o',
      output,
      '--job-dir',
      jobDir(),
      '--tasks',
      '2',
      '--cpus-per-task',
      '1',
      '--mem',
      '900',
    ];
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

  it('prints scripts, and does nothing', async () => {
    const { exitCode, stdout } = await call(...words(), '--dry-run', '--sbatch-args=--nice "--exclude=n 1"');
    expect(exitCode).toBe(0);
    expect(stdout.toString().match(/^sbatch .*$/gm)).toHaveLength(3);
    expect(stdout.toString()).toContain("--nice '--exclude=n 1'");
    expect(existsSync(jobDir())).toBe(false);
    expect(slurm.calls()).toEqual(['scontrol show config']);
  });

  it('prints where the commit writes the profile, on one line', async () => {
    const { stdout } = await call(...words(), '--dry-run', '--profile=/a\nb');
    expect(stdout.toString()).toMatch(/\n# The commit writes where the time went to "\/a\\nb"\n$/);
  });

  it('prints the script of each array that the job may have', async () => {
    const kindsOf = async (...asked: string[]) => {
      const { stdout } = await call(...asked, '--dry-run');
      return [...stdout.toString().matchAll(/cluster task (\w+)/g)].map(([, kind]) => kind);
    };
    expect(await kindsOf(...words(), '--unique-by=.url')).toEqual(['scatter', 'measure', 'shuffle', 'commit']);
    const tasks = ['--job-dir', jobDir(), '--tasks', '2'];
    expect(await kindsOf('in', '--append', 'store', ...tasks)).toEqual(['scatter', 'commit']);
    expect(await kindsOf('--shuffle-store', 'store', '-o', 'out', ...tasks)).toEqual(['shuffle', 'commit']);
  });

  it.each([
    ['no output', ['in', '--job-dir', 'j', '--tasks', '2'], '--output is missing'],
    ['no tasks', ['in', '--job-dir', 'j', '-o', 'o'], '--tasks is missing'],
    ['no inputs', ['--job-dir', 'j', '-o', 'o', '--tasks', '2'], 'name the inputs'],
    ['memory without a number', ['in', '--job-dir', 'j', '--mem', 'G'], '--mem G: expected what sbatch takes'],
    ['an input of a planned job', ['in', '--job-dir', 'j', '--resume'], 'in: the plan in --job-dir has decided it'],
    [
      'a seed of a planned job',
      ['--seed=1', '--job-dir', 'j', '--resume'],
      '--seed: the plan in --job-dir has decided it',
    ],
    [
      'a profile of a planned job',
      ['--profile=p', '--job-dir', 'j', '--resume'],
      '--profile: the plan in --job-dir has decided it',
    ],
    ['a job that is not there', ['--job-dir', '/nowhere', '--resume'], 'the job directory /nowhere does not exist'],
    [
      'an option of its own',
      ['in', '--job-dir', 'j', '-o', 'o', '--tasks=2', '--sbatch-args=-a 3'],
      '--sbatch-args has -a',
    ],
  ])('refuses %s', async (_, argv, message) => {
    const { exitCode, stderr } = await call(...argv);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr.match(/\n/g)).toHaveLength(1);
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
