// @ts-check
// Measures one run of one line of shell. Before it, the page cache drops the inputs, the old output is removed and
// everything else is flushed. Takes the wall time on the monotonic clock, the CPU time of the whole process tree, the
// exit status and the peak memory. Bash's `times` gives the CPU time in milliseconds, of all processes waited for; GNU
// time, if installed, gives the peak memory of the largest process. Starting bash costs a few milliseconds, the same
// for everyone.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readTracedCalls } from './traced-calls.mjs';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { MemoryCgroup } from './cgroup.mjs' */
/** @import { TracedCalls } from './traced-calls.mjs' */

/**
 * @typedef {object} Run
 * @property {number} round counted from 0; the warm-up rounds have negative numbers
 * @property {number} wallSeconds
 * @property {number | null} userSeconds null if the shell was killed first
 * @property {number | null} sysSeconds
 * @property {number | null} peakRssBytes
 * @property {TracedCalls | null} calls if they were traced
 * @property {number | null} pass1Seconds of pileshuf, from its own report
 * @property {number} exitStatus as a shell gives it: 128 + n for signal n
 * @property {boolean} isKilled by the OOM killer
 * @property {string} stderrTail
 */

const gnuTime = '/usr/bin/time';
const hasGnuTime = fs.existsSync(gnuTime);
const sigkillStatus = 137;
const stderrTailLength = 600;

/** @type {{ child: ChildProcess | undefined, signal: NodeJS.Signals | undefined }} */
const stopping = { child: undefined, signal: undefined };

/** Why the bench ended early. */
export class Interrupted extends Error {
  /** @param {NodeJS.Signals} signal */
  constructor(signal) {
    super(`interrupted by ${signal}`);
    this.exitStatus = 128 + os.constants.signals[signal];
  }
}

/** On SIGINT and SIGTERM ends the run in progress; `measureRun` then throws, so that its callers remove their files. */
export function stopOnSignals() {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(signal, () => {
      stopping.signal = signal;
      if (stopping.child?.pid) process.kill(-stopping.child.pid, 'SIGKILL'); // its process group: the child is detached
    });
  }
}

/** @param {string} workDir */
export function removeOutputs(workDir) {
  for (const name of ['out', 'out-decoded', 'tmp', 'times', 'rss', 'stderr', 'trace']) {
    fs.rmSync(path.join(workDir, name), { recursive: true, force: true });
  }
}

/**
 * @param {string} workDir
 * @param {string[]} inputFiles
 */
export function prepareRun(workDir, inputFiles) {
  removeOutputs(workDir);
  fs.mkdirSync(path.join(workDir, 'tmp'));
  for (const file of inputFiles) {
    // Copies nothing: makes the kernel drop the file from the page cache. If this dd cannot, the cache stays.
    spawnSync('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none']);
  }
  spawnSync('sync');
}

/**
 * @param {{ workDir: string, command: string, env: Record<string, string>, round: number,
 *   cgroup: MemoryCgroup | undefined }} what
 * @returns {Promise<Run>}
 */
export async function measureRun({ workDir, command, env, round, cgroup }) {
  if (stopping.signal) throw new Interrupted(stopping.signal);
  const enter = cgroup ? 'echo $$ > "$CGROUP/cgroup.procs" || exit 125; ' : '';
  // Opened by a shell: /dev/null as Node gives it looks like a standard output that is closed.
  const script = `exec > /dev/null; ${enter}set -o pipefail; ${command}; status=$?; times > times; exit $status`;
  const argv = ['bash', '-c', script];
  if (hasGnuTime) argv.unshift(gnuTime, '-o', 'rss', '-f', '%M');
  const stderrFd = fs.openSync(path.join(workDir, 'stderr'), 'w');
  const startNs = process.hrtime.bigint();
  const [program = '', ...args] = argv;
  const child = spawn(program, args, {
    cwd: workDir,
    env: { ...process.env, LC_ALL: 'C', ...env, CGROUP: cgroup?.dir ?? '' },
    stdio: ['ignore', 'ignore', stderrFd],
    detached: true,
  });
  stopping.child = child;
  const exitStatus = await statusOf(child);
  const wallSeconds = Number(process.hrtime.bigint() - startNs) / 1e9;
  stopping.child = undefined;
  fs.closeSync(stderrFd);
  if (stopping.signal) throw new Interrupted(stopping.signal);
  const stderr = fs.readFileSync(path.join(workDir, 'stderr'), 'utf8');
  return {
    round,
    wallSeconds,
    ...readTimes(path.join(workDir, 'times')),
    peakRssBytes: readPeakRssBytes(path.join(workDir, 'rss')),
    calls: readTracedCalls(workDir),
    pass1Seconds: readPass1Seconds(stderr),
    exitStatus,
    isKilled: exitStatus !== 0 && (exitStatus === sigkillStatus || (cgroup?.oomKillCount() ?? 0) > 0),
    stderrTail: stderr.slice(-stderrTailLength).trim(),
  };
}

/**
 * Touches most of the free memory once and frees it: on a virtual machine the first touch of a page can cost more than
 * the measured work. Another process does it, so that all the memory is freed.
 *
 * @returns {number} the number of bytes; 0 if that failed, which does no harm
 */
export function touchMemory() {
  const bytes = Math.floor(availableMemoryBytes() * 0.6);
  const script = `const kept = []; for (let left = ${bytes}; left > 0; left -= 2 ** 26) kept.push(Buffer.alloc(2 ** 26, 1));`;
  const { status } = spawnSync(process.execPath, ['-e', script], { stdio: 'ignore' });
  return status === 0 ? bytes : 0;
}

/** Free memory plus page cache that can be freed: `os.freemem` of Node 20 counts only the former. */
function availableMemoryBytes() {
  if (!fs.existsSync('/proc/meminfo')) return os.freemem();
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(fs.readFileSync('/proc/meminfo', 'utf8'))?.[1];
  return kib === undefined ? os.freemem() : Number(kib) * 1024;
}

/** @param {ChildProcess} child @returns {Promise<number>} */
function statusOf(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? os.constants.signals[signal] : 0)));
  });
}

/**
 * @param {string} file a line of the shell and a line of its children, each "0m1.234s 0m0.567s": user, system
 * @returns {{ userSeconds: number | null, sysSeconds: number | null }}
 */
function readTimes(file) {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  const seconds = [...text.matchAll(/(\d+)m([\d.]+)s/g)].map((match) => Number(match[1]) * 60 + Number(match[2]));
  const [shellUser, shellSys, childUser, childSys] = seconds;
  if (shellUser === undefined || shellSys === undefined || childUser === undefined || childSys === undefined) {
    return { userSeconds: null, sysSeconds: null };
  }
  return { userSeconds: shellUser + childUser, sysSeconds: shellSys + childSys };
}

/** @param {string} stderr @returns {number | null} */
function readPass1Seconds(stderr) {
  const summary = stderr.split('\n').find((line) => line.startsWith('{"event":"summary"'));
  return summary === undefined ? null : JSON.parse(summary).seconds.pass1;
}

/** @param {string} file @returns {number | null} */
function readPeakRssBytes(file) {
  if (!fs.existsSync(file)) return null;
  // If the command failed, a line with its exit status comes first.
  const kib = Number(fs.readFileSync(file, 'utf8').trim().split('\n').at(-1));
  return Number.isFinite(kib) ? kib * 1024 : null;
}
