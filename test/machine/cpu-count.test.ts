import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import { readCpuCount } from '#src/machine/cpu-count.js';

describe('readCpuCount', () => {
  const at = '/sys/fs/cgroup';

  test.each([
    ['no quota', '-1', '-1', 16],
    ['a quota of whole CPUs', '400000', '-1', 4],
    ['a quota of one CPU and a half, rounded up', '150000', '-1', 2],
    ['a quota of a tenth of a CPU, at least one', '10000', '-1', 1],
    ['a quota above the CPUs there are', '9900000', '-1', 16],
    ['a tighter quota on the group above', '400000', '300000', 3],
  ])('version 1: %s', (_, own, above, count) => {
    const texts: Record<string, string> = {
      '/proc/self/cgroup': '2:cpu,cpuacct:/job/step\n',
      '/proc/self/mountinfo': '32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct',
      [`${at}/cpu/job/step/cpu.cfs_quota_us`]: `${own}\n`,
      [`${at}/cpu/job/step/cpu.cfs_period_us`]: '100000\n',
      [`${at}/cpu/job/cpu.cfs_quota_us`]: `${above}\n`,
      [`${at}/cpu/job/cpu.cfs_period_us`]: '100000\n',
    };
    expect(readCpuCount((path) => texts[path], 16)).toBe(count);
  });

  test.each([
    ['no quota', 'max 100000', 16],
    ['a quota with its own period', '100000 50000', 2],
    ['a quota without a period', '250000', 16],
    ['an empty file', '', 16],
  ])('version 2: %s', (_, own, count) => {
    const texts: Record<string, string> = {
      '/proc/self/cgroup': '0::/job\n',
      '/proc/self/mountinfo': '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw',
      [`${at}/job/cpu.max`]: `${own}\n`,
    };
    expect(readCpuCount((path) => texts[path], 16)).toBe(count);
  });

  test('without /proc it is what Node says', () => {
    expect(readCpuCount(() => undefined)).toBe(availableParallelism());
  });

  test('of this machine is a whole number from 1 to what Node says', () => {
    const count = readCpuCount();
    expect(Number.isInteger(count)).toBe(true);
    expect(count).toBeGreaterThanOrEqual(1);
    expect(count).toBeLessThanOrEqual(availableParallelism());
  });
});
