/**
 * Finds the control groups that bound this process. A limit may be set on the process's own group
 * or on any group above it, and the tightest one counts, so whoever wants a limit reads it in every
 * directory listed here and takes the smallest.
 *
 * Trusts /proc/self/cgroup (which group) and /proc/self/mountinfo (where its hierarchy is seen).
 * Promises a list, empty where there are no control groups. A directory listed need not exist: in a
 * container the group's path may be that of the host, and then only the mount's own root is real.
 */

import { posix } from 'node:path';
import { isWithin, type Mount, parseMounts, type ReadText } from './kernel-text.js';

export interface CgroupDirectory {
  readonly path: string;
  /** Version 1 has one hierarchy a controller, version 2 one for all; the names of files differ. */
  readonly version: 1 | 2;
}

/**
 * The directories from the process's own group up to the highest visible one. With both versions
 * mounted (systemd's hybrid layout) both are listed: only one of them has the controller's files.
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

/** From the directory of `group` up to the point where its hierarchy is mounted. */
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
