/**
 * The temp directories as they were named, with what is known of their disks.
 */

import type { Release } from '../cleanup.js';
import { SystemError } from '../errors.js';
import { statPath } from '../io/paths.js';
import { makePrivateTempDirectory, removeLeftOverTempDirectories } from '../job-directory/held-directory.js';
import type { DeviceGates } from '../machine/device-gates.js';
import type { TempDisk } from '../pile-sets/pile-layout.js';

export class TempDisks {
  readonly #parents: readonly TempDisk[];

  /** @throws SystemError ERR_TEMP_DIR when one of `directories` is none. */
  constructor(directories: readonly string[], gates: DeviceGates) {
    this.#parents = directories.map((directory) => {
      const stat = statPath(directory, 'temp');
      if (stat?.isDirectory() !== true) {
        const what = stat === undefined ? 'does not exist' : 'is not a directory';
        throw new SystemError(
          'ERR_TEMP_DIR',
          `the temp directory ${directory} ${what}; name another with \`tempDirs\``,
        );
      }
      const rotates = gates.deviceOf(directory, 'temp').deviceClass === 'rotating';
      return { directory, gate: gates.gateOf(directory, 'temp'), rotates };
    });
  }

  get count(): number {
    return this.#parents.length;
  }

  /** Whether one of their disks does. */
  get rotate(): boolean {
    return this.#parents.some(({ rotates }) => rotates);
  }

  /** As temp places of a job, in directories of its own, one on each disk. */
  in(dataDirectories: readonly string[]): readonly TempDisk[] {
    return this.#parents.map((parent, disk) => ({ ...parent, directory: dataDirectories[disk] ?? parent.directory }));
  }

  /**
   * Makes a directory on each disk, of a name that nobody else has; last made, first removed. Those of jobs that
   * were killed are removed.
   */
  makePrivate(releases: Release[]): readonly TempDisk[] {
    for (const { directory } of this.#parents) removeLeftOverTempDirectories(directory);
    return this.in(this.#parents.map(({ directory }) => makePrivateTempDirectory(directory, releases)));
  }
}
