/**
 * Directories that several users may share: with the mode that the umask gives.
 */
import { errnoOf } from './errno.js';
import { fileCalls } from './file-calls.js';
import { type FileRole, ioError } from './io-error.js';
import { statPath } from './paths.js';

/** Makes the directory; one that is there is as good. */
export function ensureSharedDirectory(path: string, role: FileRole): void {
  try {
    fileCalls.makeDirectory(path, 0o777);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' && statPath(path, role)?.isDirectory() === true) return;
    throw ioError('make the directory', role, path, error);
  }
}
