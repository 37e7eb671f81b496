import { describe, expect, test } from 'vitest';
import { findCgroupDirectories } from '#src/machine/limits.js';

function find(controller: 'memory' | 'cpu', cgroup: string, mountinfo: string) {
  const texts: Record<string, string> = { '/proc/self/cgroup': cgroup, '/proc/self/mountinfo': mountinfo };
  return findCgroupDirectories(controller, (path) => texts[path]);
}

describe('findCgroupDirectories', () => {
  test('version 2: from the own group up to the mount', () => {
    const mountinfo = '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n';
    expect(find('memory', '0::/user.slice/session-1.scope\n', mountinfo)).toEqual([
      { path: '/sys/fs/cgroup/user.slice/session-1.scope', version: 2 },
      { path: '/sys/fs/cgroup/user.slice', version: 2 },
      { path: '/sys/fs/cgroup', version: 2 },
    ]);
  });

  const hybrid = [
    '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
    '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
    '41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
  ].join('\n');

  test('version 1 beside version 2: each controller in its own hierarchy, and the unified one', () => {
    const cgroup = '4:memory:/a/b\n2:cpu,cpuacct:/c\n1:name=systemd:/d\n0::/\n';
    expect(find('memory', cgroup, hybrid)).toEqual([
      { path: '/sys/fs/cgroup/memory/a/b', version: 1 },
      { path: '/sys/fs/cgroup/memory/a', version: 1 },
      { path: '/sys/fs/cgroup/memory', version: 1 },
      { path: '/sys/fs/cgroup/unified', version: 2 },
    ]);
    expect(find('cpu', cgroup, hybrid)).toEqual([
      { path: '/sys/fs/cgroup/cpu,cpuacct/c', version: 1 },
      { path: '/sys/fs/cgroup/cpu,cpuacct', version: 1 },
      { path: '/sys/fs/cgroup/unified', version: 2 },
    ]);
  });

  test('a controller that is not a word of the list is not taken for one', () => {
    expect(find('cpu', '2:cpuacct:/a\n3:cpuset:/b\n', hybrid)).toEqual([]);
  });

  test('a mount of a part of the hierarchy shows the groups below its root', () => {
    const mountinfo = '35 31 0:32 /docker/0a1b /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory';
    expect(find('memory', '4:memory:/docker/0a1b/inner', mountinfo)).toEqual([
      { path: '/sys/fs/cgroup/memory/inner', version: 1 },
      { path: '/sys/fs/cgroup/memory', version: 1 },
    ]);
    expect(find('memory', '4:memory:/docker/0a1b', mountinfo)).toEqual([{ path: '/sys/fs/cgroup/memory', version: 1 }]);
  });

  test.each([
    ['of the host', '0::/kubepods/pod7', '/docker/0a1b'],
    ['of a sibling of the root', '0::/docker/0a1b2', '/docker/0a1b'],
    ['outside the namespace', '0::/../sibling', '/'],
    ['below the root, which is above the namespace', '0::/', '/../..'],
  ])('a group %s gives the mount itself', (_, cgroup, root) => {
    const mountinfo = `30 20 0:26 ${root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw`;
    expect(find('memory', cgroup, mountinfo)).toEqual([{ path: '/sys/fs/cgroup', version: 2 }]);
  });

  test('of several mounts the one that shows the most groups is used', () => {
    const mountinfo = [
      '30 20 0:26 /a/b /srv/inner rw - cgroup2 cgroup2 rw',
      '31 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw',
    ].join('\n');
    expect(find('memory', '0::/a/b', mountinfo).map(({ path }) => path)).toEqual([
      '/sys/fs/cgroup/a/b',
      '/sys/fs/cgroup/a',
      '/sys/fs/cgroup',
    ]);
  });

  test('a group with a colon in its name is one group', () => {
    const mountinfo = '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw';
    expect(find('memory', '0::/a:b', mountinfo)[0]).toEqual({ path: '/sys/fs/cgroup/a:b', version: 2 });
  });

  test('no /proc, no groups', () => {
    expect(findCgroupDirectories('memory', () => undefined)).toEqual([]);
    expect(find('memory', '0::/a', '')).toEqual([]);
  });
});
