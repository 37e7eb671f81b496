/**
 * Which process this is, so that others on the machine can tell whether it still runs, and after a restart of the
 * machine that it does not. A process number alone says little: numbers are given again, each container has its own,
 * and so does each host that shares a directory.
 *
 * Trusts /proc for more than host and number. Where there is none, as on macOS, the rest is undefined.
 */
import { hostname } from 'node:os';
import { errnoOf } from '../io/io-error.js';
import { type ReadText, readKernelLink, readKernelText } from './kernel-text.js';

export interface ProcessIdentity {
  readonly host: string;
  /** Another one after each start of the machine; the same in all of its containers. */
  readonly bootId: string | undefined;
  /** The number of the set of processes in which `pid` counts. */
  readonly pidNamespace: string | undefined;
  readonly pid: number;
  /** Clock ticks from the start of the machine to that of the process. */
  readonly startTicks: string | undefined;
}

/** What identifies processes; tests give another one. */
export interface ProcessProbe {
  readonly readText: ReadText;
  readLink(path: string): string | undefined;
  readonly pid: number;
  /** As `process.kill(pid, 0)`: throws when there is no such process. */
  signalNothing(pid: number): void;
}

const systemProbe: ProcessProbe = {
  readText: readKernelText,
  readLink: readKernelLink,
  pid: process.pid,
  signalNothing: (pid) => {
    process.kill(pid, 0);
  },
};

export function identifyThisProcess(probe: ProcessProbe = systemProbe): ProcessIdentity {
  return {
    host: hostname(),
    bootId: /^[0-9a-f-]{36}(?=\n?$)/.exec(probe.readText('/proc/sys/kernel/random/boot_id') ?? '')?.[0],
    pidNamespace: /^pid:\[(\d+)\]$/.exec(probe.readLink('/proc/self/ns/pid') ?? '')?.[1],
    pid: probe.pid,
    startTicks: readOwnStart(probe),
  };
}

/**
 * A stopped process still runs; one that ended and was not waited for does not. When that cannot be found out, it runs.
 * @param pid counted in the set of processes that this one is in, on this machine since it was started.
 * @param startTicks if known: a process with other ticks is another one of the same number.
 */
export function isRunning(pid: number, startTicks: string | undefined, probe: ProcessProbe = systemProbe): boolean {
  try {
    probe.signalNothing(pid);
  } catch (error) {
    // Other errors mean that there is one that this user must not signal.
    return errnoOf(error) !== 'ESRCH';
  }
  if (readOwnStart(probe) === undefined) return true;
  const stat = parseStat(probe.readText(`/proc/${pid}/stat`) ?? '');
  // It has just ended, or is hidden from this user.
  if (stat === undefined) return true;
  if (stat.state === 'Z' || stat.state === 'X') return false;
  return startTicks === undefined || stat.startTicks === startTicks;
}

/** Undefined also when /proc belongs to another set of processes, and numbers in it are not what they seem. */
function readOwnStart(probe: ProcessProbe): string | undefined {
  const stat = parseStat(probe.readText('/proc/self/stat') ?? '');
  return stat?.pid === probe.pid ? stat.startTicks : undefined;
}

/** From the `stat` file of a process: `PID (NAME) STATE ...`, where the name may hold anything. */
function parseStat(line: string): { pid: number; state: string; startTicks: string } | undefined {
  const nameEnd = line.lastIndexOf(')');
  // The 3rd field and the 22nd, counted from 1.
  const { 0: state, 19: startTicks } = line.slice(nameEnd + 2).split(' ');
  if (nameEnd < 0 || !state || !startTicks || !/^\d{1,20}$/.test(startTicks)) return undefined;
  return { pid: Number.parseInt(line, 10), state, startTicks };
}
