/** Tells when the process has as many files open as it may: an error in one line, and a cleanup that still works. */

import { PileshufError, SystemError } from '../errors.js';
import { ifPossible } from '../floor/cleanup.js';
import { closeFile, openForRead } from '../io/files.js';
import { errnoOf } from '../io/io-error.js';
import { readOpenFileLimit } from './limits.js';

/** The number of files with which nothing fails that happens before a job opens its own. */
const ENOUGH_FILES = 64;

/** The error for a failure that comes from too many open files, unless it is an error of pileshuf already. */
export function tooManyFilesError(thrown: unknown): SystemError | undefined {
  if (thrown instanceof PileshufError || !(thrown instanceof Error)) return undefined;
  // Node reports some modules that it cannot open as missing.
  const isUnread = errnoOf(thrown) === 'ERR_MODULE_NOT_FOUND' && readOpenFileLimit() < ENOUGH_FILES;
  // When memory cannot be measured, only the text says why.
  if (!isUnread && !/\bE[MN]FILE\b/.test(thrown.message)) return undefined;
  return new SystemError('ERR_IO', 'too many open files (raise `ulimit -n`)', { cause: thrown });
}

/** Reserves a descriptor for the cleanup, which cannot list a directory without one. The result gives it back. */
export function reserveFile(): () => void {
  const file = ifPossible(() => openForRead('/dev/null', 'temp'));
  return () => {
    if (file !== undefined) ifPossible(() => closeFile(file));
  };
}
