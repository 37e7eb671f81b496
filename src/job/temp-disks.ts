/** The temp directories that the caller named or that were chosen, with the gate and the kind of each disk. */

import { SystemError, UsageError } from '../errors.js';
import type { Release } from '../floor/cleanup.js';
import { findObstacle, statPath } from '../io/paths.js';
import { makePrivateTempDirectory, removeStaleTempDirectories } from '../job-directory/locked-directory.js';
import type { DeviceGates } from '../machine/devices.js';
import type { TempDisk } from '../piles/pile-layout.js';
import { requireWritable } from '../places/outputs/output-files.js';

/** The reason why a directory is a temp directory. */
export type TempChoice = 'tempDirs' | 'jobDir' | 'TMPDIR' | 'output' | 'default';

const ORIGINS: Readonly<Record<TempChoice, string>> = {
  tempDirs: '',
  jobDir: ' (of `jobDir`)',
  TMPDIR: ' (of the variable TMPDIR)',
  output: ' (that of the output)',
  default: ' (the default)',
};

/** A temp directory as messages name it: as the caller gave it, or with the reason for it. */
export function nameOfTempDir(directory: string, choice: TempChoice): string {
  return `the temp directory ${directory}${ORIGINS[choice]}`;
}

export function requireTempDirs(directories: readonly string[], choice: TempChoice): void {
  for (const directory of directories) {
    const name = nameOfTempDir(directory, choice);
    const stat = statPath(directory, 'temp');
    if (stat?.isDirectory() !== true) {
      const what = stat === undefined ? 'does not exist' : 'is not a directory';
      throw new UsageError(`${name} ${what}; name another with \`tempDirs\``, 'ERR_TEMP_DIR');
    }
    if (choice === 'output') requireWritable(directory);
    const obstacle = choice === 'jobDir' ? undefined : findObstacle(directory, 'write', 'temp');
    if (obstacle === undefined) continue;
    throw new SystemError(
      'ERR_TEMP_DIR',
      `cannot make a directory in ${name}: ${obstacle}; name a writable directory with \`tempDirs\``,
    );
  }
}

export class TempDisks {
  readonly #parents: readonly TempDisk[];

  /** @param directories which exist. */
  constructor(directories: readonly string[], gates: DeviceGates) {
    this.#parents = directories.map((directory) => {
      const rotates = gates.deviceOf(directory, 'temp').deviceClass === 'rotating';
      return { directory, gate: gates.gateOf(directory, 'temp'), rotates };
    });
  }

  get count(): number {
    return this.#parents.length;
  }

  /** Returns whether one of the disks is a rotating one. */
  get rotate(): boolean {
    return this.#parents.some(({ rotates }) => rotates);
  }

  /** The same disks, each with the job's own directory there. */
  in(dataDirectories: readonly string[]): readonly TempDisk[] {
    return this.#parents.map((parent, disk) => ({ ...parent, directory: dataDirectories[disk] ?? parent.directory }));
  }

  /** Removes the directories of killed jobs that no later attempt would find. */
  removeLeftOver(): void {
    for (const { directory } of this.#parents) removeStaleTempDirectories(directory);
  }

  /** Makes a private directory on each disk, which `releases` remove, and removes those of killed jobs. */
  makePrivate(releases: Release[]): readonly TempDisk[] {
    this.removeLeftOver();
    return this.in(this.#parents.map(({ directory }) => makePrivateTempDirectory(directory, releases)));
  }
}

/** An empty variable counts as none. */
export function tempDirOfEnvironment(): string | undefined {
  return process.env['TMPDIR'] || undefined;
}
