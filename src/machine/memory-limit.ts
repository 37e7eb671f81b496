/**
 * How much memory this process may really use: the machine's, or less where a control group on the
 * path from the process's own group to the root sets a limit. A job that believes the machine alone
 * is killed without a message as soon as it runs in a container or under a batch system.
 *
 * Trusts /proc/meminfo and the cgroup files; without them, Node's figures. Promises
 * 0 <= availableBytes <= totalBytes, as of now: other processes may take it a moment later.
 */

import { freemem, totalmem } from 'node:os';
import { type CgroupDirectory, findCgroupDirectories } from './cgroup.js';
import { type ReadText, readKernelText } from './kernel-text.js';

export interface Memory {
  /** What there is, used or not. */
  readonly totalBytes: number;
  /** What can be had without swapping: free memory, and page cache that the kernel would give back. */
  readonly availableBytes: number;
}

export function readMemory(readText: ReadText = readKernelText): Memory {
  const machine = readMachineMemory(readText);
  const bounds = findCgroupDirectories('memory', readText).map((directory) => readBound(directory, readText));
  const totalBytes = Math.min(machine.totalBytes, ...bounds.map((bound) => bound.totalBytes));
  const availableBytes = Math.min(totalBytes, machine.availableBytes, ...bounds.map((bound) => bound.availableBytes));
  return { totalBytes, availableBytes: Math.max(0, availableBytes) };
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
 * The bound that one group sets. A group without a limit or out of sight needs no case of its own:
 * its bound is Infinity, or in version 1 the largest number of whole pages in 63 bits.
 */
function readBound({ path, version }: CgroupDirectory, readText: ReadText): Memory {
  const readNumber = (file: string) => parseLimit(readText(`${path}/${file}`));
  const stat = parseNumbers(readText(`${path}/memory.stat`) ?? '');

  // Page cache counts as used by the group that first touched it, but is given back when the limit
  // is reached. In version 1 only the `total_` figures include the groups below.
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

/** A number of bytes; `max` and an unreadable file are Infinity. */
function parseLimit(text: string | undefined): number {
  const match = /^\d+/.exec(text ?? '');
  return match === null ? Infinity : Number(match[0]);
}

/** The lines `name 123` or `name: 123 kB` by name. */
function parseNumbers(text: string): ReadonlyMap<string, number> {
  const lines = text.matchAll(/^(?<name>[^\s:]+):?\s+(?<value>\d+)/gm);
  return new Map(Array.from(lines, ({ groups }) => [groups?.['name'] ?? '', Number(groups?.['value'])]));
}
