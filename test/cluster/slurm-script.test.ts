/** What Slurm is told: the words of sbatch, and a script that any shell runs, whatever the paths are. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type SlurmJob, taskSubmission } from '#src/cluster/slurm-script.js';
import { completeSlurmSettings, type SlurmNote } from '#src/cluster/slurm-settings.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

const NOTE: SlurmNote = {
  ...completeSlurmSettings({ taskMemoryBytes: 2 ** 30 + 1 }, undefined, {}, '/job'),
  token: 't',
};
const wordsFor = (note: SlurmNote, job: SlurmJob, after?: string) =>
  taskSubmission('/job', note, ['node'], job, after).words;
const HARD = `it's "a"\nnew\\line $(touch x) \`touch y\` %a ;&|*`;

describe('a submission', () => {
  it('asks for what the user gave, and for nothing else', () => {
    const given = { partition: 'cpu', time: '2:00', account: 'a', qos: 'q', constraint: 'x&y', sbatchArgs: ['--nice'] };
    const array = { indexes: [0, 1], stride: 2 };
    const note = { ...NOTE, ...given, maxParallel: 3 };
    expect(wordsFor(note, { kind: 'shuffle', array }, '12')).toEqual([
      ...['sbatch', '--parsable', '--job-name=pileshuf-shuffle', '--partition=cpu', '--time=2:00', '--account=a'],
      ...['--qos=q', '--constraint=x&y', '--nodes=1', '--ntasks=1', '--cpus-per-task=4', '--mem=1025M', '--requeue'],
      ...['--nice', '--comment=pileshuf:t:shuffle', '--chdir=/', '--open-mode=append'],
      ...[
        '--output=/job/logs/shuffle-%6a.log',
        '--array=0-1%3',
        '--dependency=afterok:12',
        '--kill-on-invalid-dep=yes',
      ],
    ]);
    const bare = { ...NOTE, logDir: '/100%a', maxParallel: 3 };
    const commit = wordsFor(bare, { kind: 'commit', array: undefined });
    expect(commit.slice(-2)).toEqual(['--open-mode=append', '--output=/100%%a/commit.log']);
    expect(commit.join(' ')).not.toMatch(/partition|time|array|dependency/);
  });

  it.each('--array=0-3 -a -a0-3 --output -o --dependency=x -d --wait --comment=c --wrap=ls'.split(' '))(
    'refuses %s of the user',
    (word) => {
      expect(() => completeSlurmSettings({ sbatchArgs: ['--nice', word] }, undefined, {}, '/job')).toThrow(
        `has ${word}, which pileshuf decides itself`,
      );
    },
  );

  it('leaves other words to the user', () => {
    const sbatchArgs = ['--exclude=n1', '--mail-type=END', '--nice', '--export=ALL', '--no-requeue', '-x', 'n1'];
    completeSlurmSettings({ sbatchArgs }, undefined, {}, '/job');
  });

  it('refuses a backslash in the directory of logs', () => {
    expect(() => completeSlurmSettings({ logDir: '/a\\b' }, undefined, {}, '/job')).toThrow('has a backslash');
  });
});

/** A program that notes its words and its environment, and ends with the next of these codes. */
function noter(codes: readonly number[]): readonly string[] {
  const place = directory.path(HARD.replaceAll('/', ''));
  mkdirSync(place);
  const path = `${place}/main`;
  codes.forEach((code, i) => {
    writeFileSync(directory.path(`code-${i}`), String(code));
  });
  writeFileSync(
    path,
    `n=0; while [ -e "${directory.path('call')}-$n" ]; do n=$((n + 1)); done
for word; do printf '%s\\0' "$word"; done >"${directory.path('call')}-$n"
env >"${directory.path('env')}"
exit "$(cat "${directory.path('code')}-$n")"
`,
  );
  return ['/bin/sh', path];
}

interface Place extends Partial<Pick<SlurmNote, 'scratchDir' | 'envCommand'>> {
  readonly jobDirectory?: string;
  readonly program: readonly string[];
}

function run(
  { jobDirectory = '/job', program, ...note }: Place,
  array: SlurmJob['array'],
  env: Record<string, string> = {},
) {
  const job = { kind: array ? 'scatter' : 'commit', array } as const;
  const { script } = taskSubmission(jobDirectory, { ...NOTE, ...note }, program, job, undefined);
  writeFileSync(directory.path('script'), script);
  mkdirSync(directory.path('bin'), { recursive: true });
  writeFileSync(directory.path('bin', 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
  const ofSlurm = { SLURM_ARRAY_JOB_ID: '11', SLURM_ARRAY_TASK_ID: '3', SLURMD_NODENAME: 'n7', SLURM_JOB_ID: '12' };
  const { status, stdout, stderr } = spawnSync(
    note.envCommand === undefined ? 'sh' : 'bash',
    [directory.path('script')],
    {
      cwd: directory.path('.'),
      env: { PATH: `${directory.path('bin')}:${process.env['PATH']}`, HOME: '/h', SECRET: 's', ...ofSlurm, ...env },
    },
  );
  return { status, log: `${stdout}${stderr}` };
}

const wordsOf = (call: number) =>
  readFileSync(directory.path(`call-${call}`), 'utf8')
    .split('\0')
    .slice(0, -1);

describe('the script', () => {
  it('calls the program with paths as they are', () => {
    const program = noter([0]);
    const { status, log } = run(
      { program, jobDirectory: `/j/${HARD}`, scratchDir: `/s/${HARD}` },
      { indexes: [3], stride: 8 },
    );
    expect({ status, log }).toEqual({ status: 0, log: 'pileshuf: scatter 3 on n7, Slurm job 11_3, restart 0\n' });
    const expected = ['cluster', 'task', 'scatter', '--job-dir', `/j/${HARD}`, '--scratch', `/s/${HARD}`];
    expect(wordsOf(0)).toEqual([...expected, '--index', '3', '--stride', '8']);
    expect(['x', 'y'].filter((name) => existsSync(directory.path(name)))).toEqual([]);
  });

  it('calls a commit without an index', () => {
    run({ program: noter([0]) }, undefined, { SLURM_TMPDIR: '/my scratch' });
    expect(wordsOf(0)).toEqual(['cluster', 'task', 'commit', '--job-dir', '/job', '--scratch', '/my scratch']);
  });

  it.each([
    [{}, '/tmp'],
    [{ TMPDIR: '/t' }, '/t'],
    [{ TMPDIR: '/t', SLURM_TMPDIR: '/s' }, '/s'],
  ])('finds the scratch directory of the node in %j', (env, scratch) => {
    run({ program: noter([0]) }, undefined, env);
    expect(wordsOf(0).at(-1)).toBe(scratch);
  });

  it('gives the program few variables', () => {
    run({ program: noter([0]) }, undefined, { LD_LIBRARY_PATH: '/l', TMPDIR: '/t', NODE_OPTIONS: '--bad' });
    const names = readFileSync(directory.path('env'), 'utf8').match(/^\w+(?==)/gm) ?? [];
    const ofShell = ['PWD', '_', 'OLDPWD', 'SHLVL'];
    expect(names.filter((name) => !ofShell.includes(name)).sort()).toEqual([
      'HOME',
      'LD_LIBRARY_PATH',
      'PATH',
      'TMPDIR',
    ]);
  });

  it.each([
    { codes: [0], status: 0, calls: 1 },
    { codes: [1, 0], status: 0, calls: 2 },
    { codes: [137, 4], status: 4, calls: 2 },
    { codes: [2], status: 2, calls: 1 },
    { codes: [3], status: 3, calls: 1 },
    { codes: [143], status: 143, calls: 1 },
  ])('after the exit codes $codes has called it $calls times', ({ codes, status, calls }) => {
    expect(run({ program: noter(codes) }, undefined).status).toBe(status);
    expect(existsSync(directory.path(`call-${calls - 1}`))).toBe(true);
    expect(existsSync(directory.path(`call-${calls}`))).toBe(false);
  });

  it('does what the user wants first, and gives the program what that leaves', () => {
    const envCommand = 'export FOUND=$SECRET # as it is\nfalse; true';
    const { status } = run({ program: noter([0]), envCommand }, undefined, { PATH: '/usr/bin:/bin' });
    expect(status).toBe(0);
    expect(readFileSync(directory.path('env'), 'utf8')).toContain('FOUND=s\n');
    expect(readFileSync(directory.path('script'), 'utf8')).toMatch(/^#!\/bin\/bash -l\n/);
  });

  it('says where that fails', () => {
    const { status, log } = run({ program: noter([0]), envCommand: '(exit 7)' }, undefined);
    expect(status).toBe(7);
    expect(log).toContain('pileshuf: the command of --env-command ended with exit code 7 on n7');
    expect(existsSync(directory.path('call-0'))).toBe(false);
  });

  it('says which node does not see the program', () => {
    const { status, log } = run({ program: ['/bin/sh', '/no where/main.cjs'] }, undefined);
    expect(status).toBe(2);
    expect(log).toContain('pileshuf: n7 does not see /no where/main.cjs; install pileshuf and Node where all nodes');
  });
});
