/**
 * Opening and reading the files of a complete pile set, and the errors for one that is not what was written or
 * that its disk does not give any more: either way the pile set has to be made again.
 */
import { dirname } from 'node:path';
import { SystemError, VerificationError } from '../errors.js';
import { type OpenFile, type OwnRole, openOwnForRead } from '../io/files.js';
import { errnoOf } from '../io/io-error.js';
import { listNames, statPath } from '../io/paths.js';

const ADVICE: Record<OwnRole, string> = {
  temp: 'check the disk; a job that can be resumed goes on with `resume`',
  store: 'check the disk, and restore the store from a copy, or replace what was written there',
};

/**
 * What a disk or its file system says of a part of it that it cannot read; the two without names are EBADMSG and
 * EUCLEAN. Not what another try may give: a lack of memory or descriptors, a permission, a server that is away.
 */
const UNREADABLE = new Set([
  'EIO',
  'EILSEQ',
  'ENODATA',
  'EREMOTEIO',
  'Unknown system error -74',
  'Unknown system error -117',
]);

/** @param pileSetName undefined where the caller does not know it yet. */
export function damagedPileSet(
  what: string,
  pileSetName: string | undefined,
  role: OwnRole = 'temp',
): VerificationError {
  return new VerificationError(`${what}; ${ADVICE[role]}`, { pileSetName });
}

/**
 * Whether the disk says that it cannot read something, and not for a lack of the whole disk: its directories
 * still answer.
 */
export function isUnreadable(error: unknown, directories: readonly string[]): error is SystemError {
  return (
    error instanceof SystemError && UNREADABLE.has(errnoOf(error.cause)) && directories.every((path) => answers(path))
  );
}

function answers(directory: string): boolean {
  try {
    listNames(directory, 'temp');
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads of a file of a pile set; an error that making the pile set again would mend names it.
 * @throws SystemError
 */
export function readingPileSet<T>(path: string, pileSetName: string | undefined, role: OwnRole, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isUnreadable(error, [dirname(path)])) throw error;
    throw new SystemError('ERR_IO', `${error.message}; ${ADVICE[role]}`, { cause: error.cause, pileSetName });
  }
}

/**
 * @throws VerificationError when the file is gone or a symbolic link, and SystemError when it cannot be opened: so also when its
 *   directory is gone with it, as with a disk that was unmounted.
 */
export function openPileSetFile(path: string, pileSetName: string | undefined, role: OwnRole = 'temp'): OpenFile {
  try {
    return readingPileSet(path, pileSetName, role, () => openOwnForRead(path, role));
  } catch (error) {
    const errno = error instanceof SystemError ? errnoOf(error.cause) : '';
    if (errno === 'ELOOP') throw damagedPileSet(`${path} is a symbolic link`, pileSetName, role);
    if (errno !== 'ENOENT' || statPath(dirname(path), role) === undefined) throw error;
    throw damagedPileSet(`${path} does not exist any more`, pileSetName, role);
  }
}
