// @ts-check
// `npm run bench:cluster -- FILE...`: the CPU time of a shuffle as tasks, against that of the local job. Each round runs the
// local job with its piles on disk, then all tasks, one after the other; then every task once more, which finds that it is
// done: what a start costs. Prints a table, and fails only if the two outputs differ.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const command = path.join(import.meta.dirname, '..', 'dist', 'bundle', 'main.cjs');
const kinds = ['scatter', 'shuffle'];

const { values, positionals: inputs } = parseArgs({
  allowPositionals: true,
  options: {
    tasks: { type: 'string', default: '4' },
    threads: { type: 'string', default: '2' },
    memory: { type: 'string', default: '1G' },
    rounds: { type: 'string', default: '3' },
    work: { type: 'string', default: os.tmpdir() },
  },
});
if (inputs.length === 0) throw new Error('name the inputs');
const workDir = fs.mkdtempSync(path.join(values.work, 'cluster-cpu-'));
const at = (/** @type {string} */ name) => path.join(workDir, name);

try {
  const rounds = Array.from({ length: Number(values.rounds) }, (_, round) => measureRound(round));
  const names = Object.keys(rounds[0] ?? {});
  for (const name of names) {
    const seconds = rounds.map((round) => round[name] ?? Number.NaN);
    const text = seconds.map((each) => each.toFixed(2).padStart(7)).join(' ');
    process.stdout.write(`${name.padEnd(34)} ${text}   median ${median(seconds).toFixed(2)}\n`);
  }
} finally {
  fs.rmSync(workDir, { recursive: true, force: true });
}

/** @param {number} round @returns {Record<string, number>} CPU seconds, and ratios of them */
function measureRound(round) {
  const local = cpuOf([...inputs, '-o', at('local'), ...asked(), '--workers', values.threads, '-T', workDir]);
  const planned = ['--job-dir', at('job'), '--tasks', values.tasks, '--cpus-per-task', values.threads, '--json'];
  const plan = cpuOf(['cluster', 'plan', ...inputs, '-o', at('out'), ...asked(), ...planned]);
  const { scatterTasks, shuffleTasks } = JSON.parse(plan.stdout);
  /** @type {Record<string, number>} */
  const ofKind = {};
  let starts = 0;
  for (const [i, count] of [scatterTasks, shuffleTasks].entries()) {
    const kind = kinds[i] ?? '';
    const tasks = Array.from({ length: count }, (_, index) => ['cluster', 'task', kind, '--index', `${index}`]);
    const run = () => tasks.reduce((sum, words) => sum + cpuOf([...words, '--job-dir', at('job')]).seconds, 0);
    ofKind[`${kind} tasks (${count})`] = run();
    starts += run();
  }
  const commit = cpuOf(['cluster', 'task', 'commit', '--job-dir', at('job')]).seconds;
  const again = cpuOf(['cluster', 'task', 'commit', '--job-dir', at('job')]).seconds;
  const start = starts / (scatterTasks + shuffleTasks);
  const all = Object.values(ofKind).reduce((sum, seconds) => sum + seconds, plan.seconds + commit);
  const processes = scatterTasks + shuffleTasks + 2;
  if (round === 0 && spawnSync('cmp', [at('local'), at('out')], { stdio: 'inherit' }).status !== 0)
    throw new Error('the tasks wrote other bytes than the local job');
  for (const name of ['local', 'out', 'job']) fs.rmSync(at(name), { recursive: true, force: true });
  return {
    'local job': local.seconds,
    plan: plan.seconds,
    ...ofKind,
    commit,
    'commit, done before': again,
    'a task, done before': start,
    'all / local': all / local.seconds,
    'without starts / local': (all - processes * start) / (local.seconds - start),
  };
}

function asked() {
  return ['--seed', '1', '-S', values.memory];
}

/** @param {string[]} words @returns {{ seconds: number, stdout: string }} of the process and its threads */
function cpuOf(words) {
  const script = 'TIMEFORMAT="%U %S"; time "$@"';
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', process.execPath, command, ...words], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`);
  const [user = '', sys = ''] = stderr.trim().split('\n').at(-1)?.split(' ') ?? [];
  return { seconds: Number(user) + Number(sys), stdout };
}

/** @param {number[]} numbers */
function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
