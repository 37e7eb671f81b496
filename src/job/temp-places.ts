/**
 * The temp directories of a job: one private directory in each, made when something may have to go
 * to disk, and removed with all that is in them at the end.
 */
import { SystemError } from '../errors.js';
import { statPath } from '../io/list-files.js';
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
      return { directory, gate: gates.gateOf(directory) };
    });
  }

  /** The places, made on the first call. */
  make(): readonly TempPlace[] {
    for (const { directory, gate } of this.#parents.slice(this.#places.length)) {
      this.#places.push({ directory: makePrivateDirectory(directory, '.pileshuf-', 'temp'), gate });
    }
    return this.#places;
  }

  remove(): void {
    for (const { directory } of this.#places.splice(0)) removeDirectory(directory);
  }
}
