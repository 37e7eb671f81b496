/**
 * A system as a literal tree, instead of stat, /proc and /sys. A path outside the tree does not exist, as on a system
 * without /proc or in a container that hides part of /sys.
 */
import type { DeviceProbe } from '#src/machine/devices.js';

export interface FakeSystem {
  /** st_dev of files and directories. */
  readonly stat?: Readonly<Record<string, bigint>>;
  /** st_rdev of block devices' special files; their own st_dev is 0:6. */
  readonly blockDevices?: Readonly<Record<string, bigint>>;
  readonly texts?: Readonly<Record<string, string>>;
  /** Symbolic links, from path to absolute target. */
  readonly links?: Readonly<Record<string, string>>;
}

export function fakeProbe({ stat = {}, blockDevices = {}, texts = {}, links = {} }: FakeSystem): DeviceProbe {
  const paths = [stat, blockDevices, texts, links].flatMap((part) => Object.keys(part));
  return {
    statDevice(path) {
      const block = blockDevices[path];
      if (block !== undefined) return { holder: 6n, block };
      const holder = stat[path];
      if (holder === undefined) throw new Error(`ENOENT: no such file or directory, stat '${path}'`);
      return { holder };
    },
    readText: (path) => texts[path],
    realPath: (path) => links[path] ?? (paths.includes(path) ? path : undefined),
    exists: (path) => paths.includes(path),
    list: (directory) =>
      paths.filter((path) => path.startsWith(`${directory}/`)).map((path) => path.slice(directory.length + 1)),
  };
}
