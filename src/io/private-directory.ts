/**
 * Directories that belong to one job alone (mode 0700, a name nobody else has), and their removal.
 */
import { join } from 'node:path';
import { SystemError } from '../errors.js';
import { errnoOf } from './errno.js';
import { fileCalls } from './file-calls.js';
import { ioError, reasonOf } from './io-error.js';

/** @param purpose begins the message when it cannot be made. */
export function makePrivateDirectory(parent: string, prefix: string, purpose: 'temp' | 'output'): string {
  try {
    return fileCalls.makeUniqueDirectory(join(parent, prefix));
  } catch (error) {
    const reason = errnoOf(error) === 'ENOENT' ? 'it does not exist' : reasonOf(error);
    if (purpose === 'temp') {
      throw new SystemError(
        'ERR_TEMP_DIR',
        `cannot make a directory in the temp directory ${parent}: ${reason}; name one that can be written with --temp-dir`,
        { cause: error },
      );
    }
    throw new SystemError(
      'ERR_IO',
      `cannot make the output in ${parent}: ${reason}; expected a directory that can be written`,
      {
        cause: error,
      },
    );
  }
}

/** A directory in one that is private already. */
export function makeDirectory(path: string): void {
  try {
    fileCalls.makeDirectory(path, 0o700);
  } catch (error) {
    throw ioError('make', 'output', path, error);
  }
}

/** Removes a directory with all that is in it; what is gone already is as good as removed. */
export function removeDirectory(path: string): void {
  try {
    for (const entry of fileCalls.list(path)) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) removeDirectory(inside);
      else ifPresent(() => fileCalls.unlink(inside));
    }
    ifPresent(() => fileCalls.removeDirectory(path));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    if (error instanceof SystemError) throw error;
    throw new SystemError('ERR_IO', `cannot remove ${path}: ${reasonOf(error)}; remove it by hand`, { cause: error });
  }
}

function ifPresent(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
