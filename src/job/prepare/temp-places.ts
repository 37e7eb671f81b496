/**
 * The temp directories as they were named, with what is known of their disks.
 */
import { SystemError } from '../../errors.js';
import { statPath } from '../../io/paths.js';
import { makePrivateTempDirectory, removeLeftOverTempDirectories } from '../../job-directory/private-temp-directory.js';
import type { TempPlace } from '../../pile-store/store-layout.js';
import type { Release } from '../../release-all.js';
import type { DeviceGates } from './device-gates.js';

export class TempPlaces {
  readonly #parents: readonly TempPlace[];

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
  in(dataDirectories: readonly string[]): readonly TempPlace[] {
    return this.#parents.map((parent, disk) => ({ ...parent, directory: dataDirectories[disk] ?? parent.directory }));
  }

  /**
   * Makes a directory on each disk, of a name that nobody else has; last made, first removed. Those of jobs that
   * were killed are removed.
   */
  makePrivate(releases: Release[]): readonly TempPlace[] {
    for (const { directory } of this.#parents) removeLeftOverTempDirectories(directory);
    return this.in(this.#parents.map(({ directory }) => makePrivateTempDirectory(directory, releases)));
  }
}
