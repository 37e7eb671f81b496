/**
 * Directories that belong to one job alone (mode 0700, a name nobody else has), and their removal.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SystemError } from '../errors.js';
import { errnoOf, ioError, reasonOf } from './io-error.js';

/** @param purpose begins the message when it cannot be made. */
export function makePrivateDirectory(parent: string, prefix: string, purpose: 'temp' | 'output'): string {
  try {
    return mkdtempSync(join(parent, prefix));
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
    mkdirSync(path, 0o700);
  } catch (error) {
    throw ioError('make', 'output', path, error);
  }
}

export function removeDirectory(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 2 });
  } catch (error) {
    throw new SystemError('ERR_IO', `cannot remove ${path}: ${reasonOf(error)}; remove it by hand`, { cause: error });
  }
}
