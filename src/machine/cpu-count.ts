/**
 * How many threads of this process can compute at the same time: the CPUs it may be scheduled on,
 * or fewer where a control group on the path from its own group to the root sets a quota of CPU
 * time. More threads than that do not compute faster: all of them are stopped together when the
 * quota of a period is used up.
 *
 * Trusts Node for the scheduler's mask and the cgroup files for quotas; promises at least 1.
 */

import { availableParallelism } from 'node:os';
import { type CgroupDirectory, findCgroupDirectories } from './cgroup.js';
import { type ReadText, readKernelText } from './kernel-text.js';

export function readCpuCount(
  readText: ReadText = readKernelText,
  schedulableCount: number = availableParallelism(),
): number {
  const quotas = findCgroupDirectories('cpu', readText).map((directory) => readQuota(directory, readText));
  // Rounded up: a thread too many waits a little, a thread too few leaves CPU time unused.
  return Math.max(1, Math.ceil(Math.min(schedulableCount, ...quotas)));
}

/** The group's CPU time over wall time, Infinity without a quota (`-1` in version 1, `max` in version 2). */
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
