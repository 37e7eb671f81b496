import { constants } from 'node:os';
import { getSystemErrorMap, getSystemErrorName, types } from 'node:util';
import { InputError, PileshufError, SystemError } from '../errors.js';

/** Node has no names for some errors of network file systems and quotas: their code is "Unknown system error -116". */
const NAMELESS = new Map(
  (['EDQUOT', 'ESTALE'] as const).map((errno) => [getSystemErrorName(-constants.errno[errno]), errno]),
);

/**
 * The operating system's name for what went wrong, such as ENOENT; empty for other errors. Takes errors of other
 * realms, such as that of a test in Jest, which are not instances of this `Error`.
 */
export function errnoOf(error: unknown): string {
  if (!types.isNativeError(error) || !('code' in error) || typeof error.code !== 'string') return '';
  return NAMELESS.get(error.code) ?? error.code;
}

export function isFull(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOSPC' || errno === 'EDQUOT';
}

/** The role of a file in the job; decides which error its failure becomes. */
export type FileRole = 'input' | 'temp' | 'output' | 'store';

/** The words where those of Node say less, or it has none. */
const ERRNO_TEXT: Record<string, string> = {
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the device reports an input/output error',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many open files (raise `ulimit -n`)',
  ENFILE: 'too many open files in the system',
  EEXIST: 'it exists already',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  ESTALE: 'the network file system lost the file',
  ENXIO: 'there is no such device, or it is a socket',
  EINVAL: 'the file or its file system does not allow this',
  EAGAIN: 'the system has too few resources for this now',
};

function textOfErrno(errno: string): string {
  return ERRNO_TEXT[errno] ?? [...getSystemErrorMap().values()].find(([code]) => code === errno)?.[1] ?? errno;
}

/** The system's reason in words, else the message, which says more than a code such as ERR_INVALID_STATE. */
export function reasonOf(error: unknown): string {
  if (error instanceof PileshufError) {
    // What the system said, without the words for the call: the caller has its own.
    return error instanceof SystemError && error.cause !== undefined ? reasonOf(error.cause) : error.message;
  }
  const errno = errnoOf(error);
  if (/^E[A-Z0-9]+$/.test(errno)) return textOfErrno(errno);
  return types.isNativeError(error) ? error.message : String(error);
}

export const STANDARD_OUTPUT_NAME = 'standard output';

/** Returns what stands before a path in a message, with the space that follows. */
export function nounOf(role: FileRole): string {
  return role === 'temp' ? 'temp file ' : role === 'output' ? 'output ' : '';
}

export const FULL_DISK_ADVICE = 'free some space';
/** The advice for a temp disk of a job. */
export const FULL_TEMP_ADVICE = 'free some space, or start anew with other disks (`tempDirs`)';

/** @param doing completes "cannot ... PATH", such as `open` or `write at byte 12 of`. */
export function ioError(doing: string, role: FileRole, path: string, error: unknown): InputError | SystemError {
  const errno = errnoOf(error);
  // Only directories are listed, so the noun for a file would be wrong.
  const noun = path === STANDARD_OUTPUT_NAME || doing === 'list' ? '' : nounOf(role);
  const message = `cannot ${doing} ${noun}${path}: ${reasonOf(error)}`;
  if (role === 'input' && errno !== 'EMFILE' && errno !== 'ENFILE') {
    const code = errno === 'ENOENT' || errno === 'ENOTDIR' ? 'ERR_INPUT_MISSING' : 'ERR_INPUT_UNREADABLE';
    return new InputError(code, message, { cause: error });
  }
  if (isFull(error)) {
    const advice = role === 'temp' ? FULL_TEMP_ADVICE : FULL_DISK_ADVICE;
    return new SystemError('ERR_NO_SPACE', `${message}; ${advice}`, { cause: error });
  }
  return new SystemError('ERR_IO', message, { cause: error });
}

/** Makes a call of the system, whose failure becomes an `ioError`. */
export function systemCall<T>(doing: string, role: FileRole, path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw ioError(doing, role, path, error);
  }
}
