/** The memory, CPUs and open files that this process may use, on literal trees of /proc and control groups. */
import { availableParallelism, totalmem } from 'node:os';
import { describe, expect, test } from 'vitest';
import { readCpuCount, readFreeAddressBytes, readMemory, readOpenFileLimit } from '#src/machine/limits.js';

const machine = { '/proc/meminfo': 'MemTotal:       1000 kB\nMemFree:  100 kB\nMemAvailable:    800 kB\n' };
const read = (texts: Record<string, string>) => readMemory((path) => texts[path]);

test('readFreeAddressBytes reads what ulimit -v leaves', () => {
  const texts = (limit: string) => (path: string) =>
    path === '/proc/self/status' ? 'VmSize:\t 1000 kB\n' : `Max address space         ${limit}   unlimited   bytes\n`;
  expect([texts('2048000'), texts('1000'), texts('unlimited'), () => undefined].map(readFreeAddressBytes)).toEqual([
    1_024_000,
    0,
    Infinity,
    Infinity,
  ]);
});

describe('readMemory', () => {
  test('without control groups it is the machine', () => {
    expect(read(machine)).toEqual({ totalBytes: 1_024_000, availableBytes: 819_200 });
  });

  describe('version 1', () => {
    const at = '/sys/fs/cgroup/memory';
    const v1 = {
      ...machine,
      '/proc/self/cgroup': '4:memory:/job/step\n0::/\n',
      '/proc/self/mountinfo':
        '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
      [`${at}/memory.limit_in_bytes`]: '9223372036854771712\n',
      [`${at}/memory.usage_in_bytes`]: '999999999\n',
      [`${at}/job/step/memory.limit_in_bytes`]: '9223372036854771712\n',
      [`${at}/job/step/memory.usage_in_bytes`]: '50000\n',
    };

    test('no limit anywhere is the machine', () => {
      expect(read(v1)).toEqual(read(machine));
      const largePages = { ...v1, [`${at}/job/step/memory.limit_in_bytes`]: '9223372036854710272\n' };
      expect(read(largePages)).toEqual(read(machine));
    });

    test('the limit of a group above bounds it, and its page cache counts as available', () => {
      const texts = {
        ...v1,
        [`${at}/job/memory.limit_in_bytes`]: '500000\n',
        [`${at}/job/memory.usage_in_bytes`]: '450000\n',
        [`${at}/job/memory.stat`]: [
          'cache 1',
          'inactive_file 11',
          'active_file 13',
          'hierarchical_memory_limit 500000',
          'total_inactive_file 300000',
          'total_active_file 100000',
        ].join('\n'),
      };
      expect(read(texts)).toEqual({ totalBytes: 500_000, availableBytes: 450_000 });
    });

    test('a limit above that only memory.stat shows bounds it', () => {
      const texts = { ...v1, [`${at}/job/step/memory.stat`]: 'hierarchical_memory_limit 400000\n' };
      expect(read(texts)).toEqual({ totalBytes: 400_000, availableBytes: 350_000 });
    });
  });

  describe('version 2', () => {
    const at = '/sys/fs/cgroup';
    const v2 = {
      ...machine,
      '/proc/self/cgroup': '0::/pod/app\n',
      '/proc/self/mountinfo': '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw',
      [`${at}/pod/memory.max`]: 'max\n',
      [`${at}/pod/memory.high`]: 'max\n',
      [`${at}/pod/memory.current`]: '350000\n',
      [`${at}/pod/memory.stat`]: 'anon 90000\nfile 250000\ninactive_file 200000\nactive_file 50000\n',
      [`${at}/pod/app/memory.max`]: '600000\n',
      [`${at}/pod/app/memory.high`]: 'max\n',
      [`${at}/pod/app/memory.current`]: '100000\n',
    };

    test('max is no limit, a number is', () => {
      expect(read(v2)).toEqual({ totalBytes: 600_000, availableBytes: 500_000 });
    });

    test('the tightest group decides each of the two figures', () => {
      const texts = { ...v2, [`${at}/pod/memory.max`]: '700000', [`${at}/pod/memory.stat`]: '' };
      expect(read(texts)).toEqual({ totalBytes: 600_000, availableBytes: 350_000 });
    });

    test('memory.high bounds like memory.max', () => {
      expect(read({ ...v2, [`${at}/pod/memory.high`]: '400000\n' })).toEqual({
        totalBytes: 400_000,
        availableBytes: 300_000,
      });
    });

    test('a group that is over its limit has nothing available', () => {
      expect(read({ ...v2, [`${at}/pod/app/memory.current`]: '600001\n' }).availableBytes).toBe(0);
    });

    test("a host's group that is not visible here leaves the limit of the mount's own root", () => {
      const texts = {
        ...machine,
        '/proc/self/cgroup': '0::/docker/0a1b\n',
        '/proc/self/mountinfo': '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw',
        [`${at}/memory.max`]: '300000\n',
        [`${at}/memory.current`]: '100000\n',
      };
      expect(read(texts)).toEqual({ totalBytes: 300_000, availableBytes: 200_000 });
    });
  });

  test('without /proc it is what Node says, and at least a quarter of it counts as available', () => {
    const memory = readMemory(() => undefined);
    expect(memory.totalBytes).toBe(totalmem());
    expect(memory.availableBytes).toBeGreaterThanOrEqual(Math.floor(totalmem() / 4));
    expect(memory.availableBytes).toBeLessThanOrEqual(memory.totalBytes);
  });
});

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
});

describe('readOpenFileLimit', () => {
  const limits = (soft: string) =>
    [
      'Limit                     Soft Limit           Hard Limit           Units     ',
      'Max processes             96365                96365                processes ',
      `Max open files            ${soft.padEnd(20)} 1048576              files     `,
    ].join('\n');

  test.each([
    ['the soft limit', limits('1024'), 1024],
    ['unlimited', limits('unlimited'), Infinity],
    ['no /proc', undefined, 256],
    ['a text without the line', 'Limit Soft Limit\n', 256],
  ])('%s', (_, text, limit) => {
    expect(readOpenFileLimit((path) => (path === '/proc/self/limits' ? text : undefined))).toBe(limit);
  });
});
