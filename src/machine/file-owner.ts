/**
 * Files whose name says who made them, and whether their maker still runs:
 *
 *     KIND+HOST+BOOT-ID+PID-NAMESPACE+PID+START-TICKS+THREAD+TOKEN
 *
 * It is all in the name, because a name appears in one step and bytes do not. A field that is not known is `unknown`.
 *
 * A file is left over only when its owner is known to be gone: a process of this host that no longer exists (or whose
 * number a later process has), or that ran before this host was started again. A process on another host or in another
 * container may run or not. Hosts that share a directory must therefore have different names; `judgeOwnerAmongHosts` is
 * for directories where two of them may have the same one.
 *
 * Who may sweep such a file: nobody while it is live, anybody when it is left over. If that cannot be known, the lock
 * of a job counts as held (job-directory/job-lock.ts), a temp directory and an index that is being made stay, and the
 * files of an attempt at a store stay until a grace is over (store/collect-garbage.ts).
 */
import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { ifPossible } from '../floor/cleanup.js';
import { removeFile } from '../io/files.js';
import { errnoOf, type FileRole } from '../io/io-error.js';
import { listNames } from '../io/paths.js';
import { type ReadText, readSystemLink, readSystemText } from './system-files.js';

/** The host is written as in the name. */
export interface FileOwner extends ProcessIdentity {
  /** A process can have several threads that run this program. */
  readonly threadId: number;
  readonly token: string;
}

export type OwnerState = 'live' | 'left over' | 'unknowable';

export interface OwnedName {
  readonly name: string;
  readonly owner: FileOwner;
  readonly state: OwnerState;
}

const OWNER = new RegExp(
  '^(?<host>[A-Za-z0-9._%-]{1,64})\\+(?<bootId>[0-9a-f-]{36}|unknown)\\+(?<pidNamespace>\\d{1,20}|unknown)' +
    '\\+(?<pid>[1-9]\\d{0,9})\\+(?<startTicks>\\d{1,20}|unknown)\\+(?<threadId>\\d{1,10})\\+(?<token>[0-9a-f]{16})$',
);
const LARGEST_PID = 2 ** 31 - 1;

/** Tokens of the leases that this thread holds. Its other files are left over, such as those it could not remove. */
const leasedTokens = new Set<string>();

export function identifyOwner(): FileOwner {
  return { ...identifyThisProcess(), threadId, token: randomBytes(8).toString('hex') };
}

/** A lease on a file whose name says that this thread owns it. The file counts as live until the lease is released. */
export class OwnerLease {
  readonly name: string;
  readonly path: string;
  /** 16 hex digits, different for each name. */
  readonly token: string;

  constructor(kind: string, directory: string) {
    const owner = identifyOwner();
    this.name = formatOwnerName(kind, owner);
    this.path = join(directory, this.name);
    this.token = owner.token;
    leasedTokens.add(owner.token);
  }

  release(): void {
    leasedTokens.delete(this.token);
  }
}

/** @param kind lower-case letters and hyphens. */
export function formatOwnerName(kind: string, owner: FileOwner): string {
  const { bootId = 'unknown', pidNamespace = 'unknown', pid, startTicks = 'unknown', threadId, token } = owner;
  return [kind, hostInName(owner.host), bootId, pidNamespace, pid, startTicks, threadId, token].join('+');
}

export function parseOwnerName(kind: string, name: string): FileOwner | undefined {
  if (!name.startsWith(`${kind}+`)) return undefined;
  const fields = OWNER.exec(name.slice(kind.length + 1))?.groups ?? {};
  const { host, bootId, pidNamespace, pid, startTicks, threadId, token } = fields;
  if (host === undefined || token === undefined || Number(pid) > LARGEST_PID) return undefined;
  return {
    host,
    bootId: knownIn(bootId),
    pidNamespace: knownIn(pidNamespace),
    pid: Number(pid),
    startTicks: knownIn(startTicks),
    threadId: Number(threadId),
    token,
  };
}

function judgeOwner(owner: FileOwner, own: FileOwner): OwnerState {
  if (owner.host !== hostInName(own.host)) return 'unknowable';
  if (owner.bootId !== own.bootId) {
    return owner.bootId === undefined || own.bootId === undefined ? 'unknowable' : 'left over';
  }
  if (owner.pidNamespace !== own.pidNamespace) return 'unknowable';
  if (owner.pid === own.pid && owner.startTicks === own.startTicks) {
    // Another thread knows what it holds; this one does not.
    if (owner.threadId !== own.threadId) return 'unknowable';
    return leasedTokens.has(owner.token) ? 'live' : 'left over';
  }
  return isRunning(owner.pid, owner.startTicks) ? 'live' : 'left over';
}

/** Judges owners on hosts that may have one name: an owner with another boot id may be on another host. */
export function judgeOwnerAmongHosts(owner: FileOwner, own: FileOwner): OwnerState {
  return owner.bootId === own.bootId ? judgeOwner(owner, own) : 'unknowable';
}

export function judgeNames(kind: string, names: readonly string[], judge = judgeOwner): OwnedName[] {
  const own = identifyOwner();
  return names.flatMap((name) => {
    const owner = parseOwnerName(kind, name);
    return owner === undefined ? [] : [{ name, owner, state: judge(owner, own) }];
  });
}

/** Removes the files of this kind that are left over in a directory. Files that cannot be judged or removed stay. */
export function removeLeftOver(kind: string, directory: string, role: FileRole): void {
  ifPossible(() => {
    for (const { name, state } of judgeNames(kind, listNames(directory, role))) {
      if (state === 'left over') ifPossible(() => removeFile(join(directory, name), role));
    }
  });
}

/** A host name as it is, if a file name can hold it, else a hash of it. */
export function hostInName(host: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(host)) return host;
  return `%${createHash('sha256').update(host).digest('hex').slice(0, 32)}`;
}

function knownIn(field: string | undefined): string | undefined {
  return field === 'unknown' ? undefined : field;
}

/**
 * Tells whether a process still runs, also after a restart of the machine. A process number alone says little: numbers
 * are given again, each container has its own, and so does each host that shares a directory. All but host and number
 * come from /proc; where there is none, as on macOS, they are undefined.
 */
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

/** Identifies processes; tests give another one. */
export interface ProcessProbe {
  readonly readText: ReadText;
  readLink(path: string): string | undefined;
  readonly pid: number;
  /** Does what `process.kill(pid, 0)` does: throws when there is no such process. */
  signalNothing(pid: number): void;
}

const systemProbe: ProcessProbe = {
  readText: readSystemText,
  readLink: readSystemLink,
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

/** Parses the `stat` file of a process: `PID (NAME) STATE ...`, where the name may hold anything. */
function parseStat(line: string): { pid: number; state: string; startTicks: string } | undefined {
  const nameEnd = line.lastIndexOf(')');
  // The 3rd field and the 22nd, counted from 1.
  const { 0: state, 19: startTicks } = line.slice(nameEnd + 2).split(' ');
  if (nameEnd < 0 || !state || !startTicks || !/^\d{1,20}$/.test(startTicks)) return undefined;
  return { pid: Number.parseInt(line, 10), state, startTicks };
}
