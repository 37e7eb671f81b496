/**
 * The temp directories of a job: one private directory in each, removed with all that is in them at
 * the end.
 */
import { SystemError } from '../errors.js';
import { statPath } from '../io/paths.js';
import { makePrivateDirectory, removeDirectory } from '../io/private-directory.js';
import type { TempPlace } from '../pile-store/store-layout.js';
import type { DeviceGates } from './device-gates.js';

export class TempPlaces {
  readonly #parents: readonly TempPlace[];
  readonly #places: TempPlace[] = [];

  /** @throws SystemError ERR_TEMP_DIR when one of `directories` is none. */
  constructor(directories: readonly string[], gates: DeviceGates) {
    this.#parents = directories.map((directory) => {
      const stat = statPath(directory, 'temp');
      if (stat?.isDirectory() !== true) {
        const what = stat === undefined ? 'does not exist' : 'is not a directory';
        throw new SystemError('ERR_TEMP_DIR', `the temp directory ${directory} ${what}; name another with --temp-dir`);
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

  /** Makes them. Called once, when the request and the plan are known to be good. */
  make(): readonly TempPlace[] {
    for (const parent of this.#parents) {
      this.#places.push({ ...parent, directory: makePrivateDirectory(parent.directory, '.pileshuf-', 'temp') });
    }
    return this.#places;
  }

  remove(): void {
    for (const { directory } of this.#places.splice(0)) removeDirectory(directory);
  }
}
