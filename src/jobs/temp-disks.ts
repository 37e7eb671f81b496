/**
 * The temp directories that the caller named or that were chosen, with the gate and the kind of each disk.
 */
import type { Release } from '../cleanup.js';
import { SystemError } from '../errors.js';
import { statPath } from '../io/paths.js';
import { makePrivateTempDirectory, removeLeftOverTempDirectories } from '../job-directory/held-directory.js';
import type { DeviceGates } from '../machine/device-gates.js';
import type { TempDisk } from '../pile-sets/pile-layout.js';

export class TempDisks {
  readonly #parents: readonly TempDisk[];

  /** @throws SystemError ERR_TEMP_DIR if one of `directories` does not exist or is not a directory. */
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

  /** Whether one of the disks is a rotating one. */
  get rotate(): boolean {
    return this.#parents.some(({ rotates }) => rotates);
  }

  /** The same disks, each with the job's own directory there. */
  in(dataDirectories: readonly string[]): readonly TempDisk[] {
    return this.#parents.map((parent, disk) => ({ ...parent, directory: dataDirectories[disk] ?? parent.directory }));
  }

  /**
   * Makes a directory with a unique name on each disk, and removes the directories of killed jobs.
   * @param releases removes the new directories, the last one first.
   */
  makePrivate(releases: Release[]): readonly TempDisk[] {
    for (const { directory } of this.#parents) removeLeftOverTempDirectories(directory);
    return this.in(this.#parents.map(({ directory }) => makePrivateTempDirectory(directory, releases)));
  }
}
