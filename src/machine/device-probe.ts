/**
 * The few questions to the system that finding a device takes. `systemProbe` asks the real one;
 * tests give a literal tree.
 *
 * Promises that only `statDevice` throws, and only what stat throws: all else answers "nothing".
 */

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { type ReadText, readKernelText } from './kernel-text.js';

export interface DeviceProbe {
  /** Follows symbolic links. Throws what stat throws. */
  statDevice(path: string): StatDevice;
  readonly readText: ReadText;
  /** The absolute path without symbolic links; undefined when there is nothing at `path`. */
  realPath(path: string): string | undefined;
  exists(path: string): boolean;
  /** The names in a directory; none when it is missing. */
  list(directory: string): readonly string[];
}

export interface StatDevice {
  /** st_dev: the file system that holds the file. */
  readonly holder: bigint;
  /** st_rdev when the path is the special file of a block device, such as /dev/sda1. */
  readonly block?: bigint;
}

export const systemProbe: DeviceProbe = {
  statDevice(path) {
    const stat = statSync(path, { bigint: true });
    return stat.isBlockDevice() ? { holder: stat.dev, block: stat.rdev } : { holder: stat.dev };
  },
  readText: readKernelText,
  realPath(path) {
    try {
      return realpathSync(path);
    } catch {
      return undefined;
    }
  },
  exists: existsSync,
  list(directory) {
    try {
      return readdirSync(directory);
    } catch {
      return [];
    }
  },
};
