/**
 * The failure of a call of shuf, in the words that GNU's programs use. It has no exit code of its own: all failures of
 * shuf end with 1.
 */
import { getSystemErrorMap } from 'node:util';

export class ShufError extends Error {
  /** Whether a line after the message names `--help`. */
  readonly hasHint: boolean;

  /** @param message what stands behind `shuf: `. */
  constructor(message: string, hint?: 'hint') {
    super(message);
    this.name = 'ShufError';
    this.hasHint = hint !== undefined;
  }
}

/** The C library's words for what a call of the operating system may end with. Those of Node differ. */
const ERRNO_TEXT: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EBADF: 'Bad file descriptor',
  EBUSY: 'Device or resource busy',
  EDQUOT: 'Disk quota exceeded',
  EFBIG: 'File too large',
  EINVAL: 'Invalid argument',
  EIO: 'Input/output error',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  EMFILE: 'Too many open files',
  ENAMETOOLONG: 'File name too long',
  ENFILE: 'Too many open files in system',
  ENODEV: 'No such device',
  ENOENT: 'No such file or directory',
  ENOMEM: 'Cannot allocate memory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  ENXIO: 'No such device or address',
  EPERM: 'Operation not permitted',
  EPIPE: 'Broken pipe',
  EROFS: 'Read-only file system',
  ESTALE: 'Stale file handle',
  ETXTBSY: 'Text file busy',
};

/** The operating system's name for what went wrong, such as ENOENT; undefined for other errors. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'errno' in error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/** What went wrong, in the words of the C library where it has some. */
export function reasonOf(error: unknown): string {
  const errno = errnoOf(error);
  const text = errno === undefined ? undefined : ERRNO_TEXT[errno];
  if (text !== undefined) return text;
  const known = [...getSystemErrorMap().values()].find(([name]) => name === errno);
  return known?.[1] ?? (error instanceof Error ? error.message : String(error));
}
