/**
 * Opening the files of a complete pile set, and the error for one that is not what was written.
 */
import { dirname } from 'node:path';
import { SystemError, VerificationError } from '../errors.js';
import { errnoOf } from '../io/errno.js';
import { type OpenFile, openTempForRead } from '../io/files.js';
import { statPath } from '../io/paths.js';

/** @param pileSetName undefined where the caller does not know it yet. */
export function damagedPileSet(what: string, pileSetName: string | undefined): VerificationError {
  return new VerificationError(`${what}; check the disk; a job that can be resumed goes on with --resume`, {
    pileSetName,
  });
}

/**
 * @throws VerificationError when the file is gone or a symbolic link, and SystemError when it cannot be opened: so also when its
 *   directory is gone with it, as with a disk that was unmounted.
 */
export function openPileSetFile(path: string, pileSetName: string | undefined): OpenFile {
  try {
    return openTempForRead(path);
  } catch (error) {
    const errno = error instanceof SystemError ? errnoOf(error.cause) : '';
    if (errno === 'ELOOP') throw damagedPileSet(`${path} is a symbolic link`, pileSetName);
    if (errno !== 'ENOENT' || statPath(dirname(path), 'temp') === undefined) throw error;
    throw damagedPileSet(`${path} does not exist any more`, pileSetName);
  }
}
