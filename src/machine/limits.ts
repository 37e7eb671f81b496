/**
 * How much memory, CPUs and open files this process may really use. A control group on the path from the process's own
 * group to the root may allow less than the machine has. A job that believes the machine alone is killed without a
 * message as soon as it runs in a container or under a batch system.
 *
 * Trusts /proc and the cgroup files; without them, Node's figures. Promises 0 <= availableBytes <= totalBytes, as of
 * now (other processes may take memory a moment later), at least one CPU, and a positive number of files.
 */

import { availableParallelism, freemem, totalmem } from 'node:os';
import { posix } from 'node:path';
import { isWithin, type Mount, parseMounts, type ReadText, readSystemText } from './system-files.js';

/** The memory of this machine or container. */
export interface Memory {
  /** All of it, used or free. */
  readonly totalBytes: number;
  /**
   * The memory that a program can get without swapping: free memory, and page cache that the kernel would give back.
   */
  readonly availableBytes: number;
}

/** How much memory this process may use, within the limits of its container. */
export function readMemory(readText: ReadText = readSystemText): Memory {
  const machine = readMachineMemory(readText);
  const bounds = findCgroupDirectories('memory', readText).map((directory) => readBound(directory, readText));
  const totalBytes = Math.min(machine.totalBytes, ...bounds.map((bound) => bound.totalBytes));
  const availableBytes = Math.min(totalBytes, machine.availableBytes, ...bounds.map((bound) => bound.availableBytes));
  return { totalBytes, availableBytes: Math.max(0, availableBytes) };
}

/** Returns the memory of the process; 0 where that cannot be read, as when it may open no more files. */
export function readResidentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}

/** The addresses that `ulimit -v` leaves to this process, in bytes; Infinity where there is no such limit. */
export function readFreeAddressBytes(readText: ReadText = readSystemText): number {
  const limit = /^Max address space\s+(\d+)/m.exec(readText('/proc/self/limits') ?? '')?.[1];
  const usedKib = parseNumbers(readText('/proc/self/status') ?? '').get('VmSize');
  return limit === undefined || usedKib === undefined ? Infinity : Math.max(0, Number(limit) - usedKib * 1024);
}

function readMachineMemory(readText: ReadText): Memory {
  const meminfo = parseNumbers(readText('/proc/meminfo') ?? '');
  const totalKib = meminfo.get('MemTotal');
  const availableKib = meminfo.get('MemAvailable');
  if (totalKib === undefined || availableKib === undefined) {
    // macOS counts its page cache as used, which leaves next to nothing free on a healthy machine.
    return { totalBytes: totalmem(), availableBytes: Math.max(freemem(), Math.floor(totalmem() / 4)) };
  }
  return { totalBytes: totalKib * 1024, availableBytes: availableKib * 1024 };
}

/**
 * The bound that one group sets. A group without a limit or out of sight needs no case of its own: its bound is
 * Infinity, or in version 1 the largest number of whole pages in 63 bits.
 */
function readBound({ path, version }: CgroupDirectory, readText: ReadText): Memory {
  const readNumber = (file: string) => parseLimit(readText(`${path}/${file}`));
  const stat = parseNumbers(readText(`${path}/memory.stat`) ?? '');

  // Page cache counts as used by the group that first touched it, but is given back when the limit is reached. In
  // version 1 only the `total_` figures include the groups below.
  const [limitBytes, usedBytes, cacheBytes] =
    version === 1
      ? [
          // The second one knows the limits of groups above that a container cannot see.
          Math.min(readNumber('memory.limit_in_bytes'), stat.get('hierarchical_memory_limit') ?? Infinity),
          readNumber('memory.usage_in_bytes'),
          (stat.get('total_inactive_file') ?? 0) + (stat.get('total_active_file') ?? 0),
        ]
      : [
          // Above `high` the kernel does not kill, it stalls: as bad for a job of many hours.
          Math.min(readNumber('memory.max'), readNumber('memory.high')),
          readNumber('memory.current'),
          (stat.get('inactive_file') ?? 0) + (stat.get('active_file') ?? 0),
        ];
  const availableBytes = Number.isFinite(usedBytes) ? limitBytes - usedBytes + cacheBytes : limitBytes;
  return { totalBytes: limitBytes, availableBytes };
}

/** `max` and an unreadable file are Infinity. */
function parseLimit(text: string | undefined): number {
  const match = /^\d+/.exec(text ?? '');
  return match === null ? Infinity : Number(match[0]);
}

/** Parses lines `name 123` or `name: 123 kB`. */
function parseNumbers(text: string): ReadonlyMap<string, number> {
  const lines = text.matchAll(/^(?<name>[^\s:]+):?\s+(?<value>\d+)/gm);
  return new Map(Array.from(lines, ({ groups }) => [groups?.['name'] ?? '', Number(groups?.['value'])]));
}

/**
 * How many threads of this process can compute at the same time: the CPUs that it may be scheduled on, or fewer where a
 * control group sets a quota of CPU time. More threads do not compute faster: the kernel stops all of them together
 * when the quota of a period is used up.
 */
export function readCpuCount(
  readText: ReadText = readSystemText,
  schedulableCount: number = availableParallelism(),
): number {
  const quotas = findCgroupDirectories('cpu', readText).map((directory) => readQuota(directory, readText));
  // Rounded up: a thread too many waits a little, a thread too few leaves CPU time unused.
  return Math.max(1, Math.ceil(Math.min(schedulableCount, ...quotas)));
}

/** CPU time over wall time; Infinity without a quota (`-1` in version 1, `max` in version 2). */
function readQuota({ path, version }: CgroupDirectory, readText: ReadText): number {
  const text =
    version === 1
      ? `${readText(`${path}/cpu.cfs_quota_us`)} ${readText(`${path}/cpu.cfs_period_us`)}`
      : readText(`${path}/cpu.max`);
  const [quotaMicroseconds = Number.NaN, periodMicroseconds = Number.NaN] = (text ?? '')
    .trim()
    .split(/\s+/)
    .map(Number);
  const quota = quotaMicroseconds / periodMicroseconds;
  return quota > 0 ? quota : Infinity;
}

/** The soft limit of macOS, the lowest among the systems in use. */
const unknownOpenFileLimit = 256;

export function readOpenFileLimit(readText: ReadText = readSystemText): number {
  const soft = /^Max open files\s+(\S+)/m.exec(readText('/proc/self/limits') ?? '')?.[1];
  if (soft === 'unlimited') return Infinity;
  const limit = Number(soft);
  return limit > 0 ? limit : unknownOpenFileLimit;
}

interface CgroupDirectory {
  readonly path: string;
  /** Version 1 has one hierarchy a controller, version 2 one for all; the names of files differ. */
  readonly version: 1 | 2;
}

/**
 * The directories from the process's own group up to the highest visible one. With both versions mounted (systemd's
 * hybrid layout) both are listed: only one of them has the controller's files.
 */
export function findCgroupDirectories(controller: 'memory' | 'cpu', readText: ReadText): readonly CgroupDirectory[] {
  const mounts = parseMounts(readText('/proc/self/mountinfo') ?? '');
  const v1Mounts = mounts.filter((m) => m.fileSystemType === 'cgroup' && m.superOptions.includes(controller));
  const v2Mounts = mounts.filter((m) => m.fileSystemType === 'cgroup2');

  return (readText('/proc/self/cgroup') ?? '').split('\n').flatMap((line): readonly CgroupDirectory[] => {
    const { controllers, group } = /^\d+:(?<controllers>[^:]*):(?<group>\/.*)$/.exec(line)?.groups ?? {};
    if (controllers === undefined || group === undefined) return [];
    if (controllers === '') return climb(group, v2Mounts).map((path) => ({ path, version: 2 }));
    if (!controllers.split(',').includes(controller)) return [];
    return climb(group, v1Mounts).map((path) => ({ path, version: 1 }));
  });
}

function climb(group: string, mounts: readonly Mount[]): readonly string[] {
  // The mount with the shortest root shows the most of the groups above.
  const [widest] = mounts.filter((mount) => isWithin(group, mount.root)).sort((a, b) => a.root.length - b.root.length);
  // A group that starts with /.. lies outside this cgroup namespace, where no path leads.
  if (widest === undefined || group.split('/').includes('..')) {
    return mounts.slice(0, 1).map((mount) => mount.mountPoint);
  }
  const directories: string[] = [];
  let below = posix.join('/', group.slice(widest.root === '/' ? 0 : widest.root.length));
  while (below !== '/') {
    directories.push(posix.join(widest.mountPoint, below));
    below = posix.dirname(below);
  }
  return [...directories, widest.mountPoint];
}
