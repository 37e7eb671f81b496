// @ts-check
// `npm run bench:cluster -- FILE...`: the CPU time of a shuffle as tasks, against that of the local job. Each round runs the
// local job with its piles on disk, then all tasks, one after the other, then twice as many tasks: the difference is what a
// task costs besides its work, most of it the start of a process and of its threads. Every task runs once more, too, and
// finds that it is done. Prints a table, and fails only if the outputs differ.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const command = path.join(import.meta.dirname, '..', 'dist', 'bundle', 'main.cjs');

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
  const local = cpuOf([...inputs, '-o', at('local'), ...asked(), '--workers', values.threads, '-T', workDir]).seconds;
  const asTasks = measureTasks(Number(values.tasks));
  const sameBytes = () => spawnSync('cmp', [at('local'), at('out')], { stdio: 'inherit' }).status === 0;
  if (round === 0 && !sameBytes()) throw new Error('the tasks wrote other bytes than the local job');
  const ofMore = measureTasks(2 * Number(values.tasks));
  fs.rmSync(at('local'));
  const { all, doneBefore, count, ...parts } = asTasks;
  if (ofMore.count === count) throw new Error('name larger inputs: a plan makes no further task of these');
  const furtherTask = (ofMore.all - all) / (ofMore.count - count);
  const withoutStarts = (/** @type {number} */ ofTask) =>
    (all - 2 * doneBefore - count * ofTask) / (local - doneBefore);
  return {
    'local job': local,
    ...parts,
    'a task, done before': doneBefore,
    'a further task': furtherTask,
    'all / local': all / local,
    'without process starts / local': withoutStarts(doneBefore),
    'without further tasks / local': withoutStarts(furtherTask),
  };
}

/**
 * @param {number} taskCount of each array
 * @returns {{ all: number, doneBefore: number, count: number } & Record<string, number>} CPU seconds
 */
function measureTasks(taskCount) {
  fs.rmSync(at('out'), { force: true });
  const planned = ['--job-dir', at('job'), '--tasks', `${taskCount}`, '--cpus-per-task', values.threads, '--json'];
  const plan = cpuOf(['cluster', 'plan', ...inputs, '-o', at('out'), ...asked(), ...planned]);
  const { scatterTasks, shuffleTasks } = JSON.parse(plan.stdout);
  /** @type {Record<string, number>} */
  const ofKind = {};
  let doneBefore = 0;
  for (const [kind, count] of Object.entries({ scatter: scatterTasks, shuffle: shuffleTasks })) {
    const tasks = Array.from({ length: count }, (_, index) => ['cluster', 'task', kind, '--index', `${index}`]);
    const run = () => tasks.reduce((sum, words) => sum + cpuOf([...words, '--job-dir', at('job')]).seconds, 0);
    ofKind[`${kind} tasks (${count})`] = run();
    doneBefore += run();
  }
  const commit = cpuOf(['cluster', 'task', 'commit', '--job-dir', at('job')]).seconds;
  fs.rmSync(at('job'), { recursive: true });
  const count = scatterTasks + shuffleTasks;
  const all = Object.values(ofKind).reduce((sum, seconds) => sum + seconds, plan.seconds + commit);
  return { plan: plan.seconds, ...ofKind, commit, all, doneBefore: doneBefore / count, count };
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
