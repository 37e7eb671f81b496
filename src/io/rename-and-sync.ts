/**
 * Makes files durable and visible: fsync, then one rename or link. `link` refuses an existing name, where `rename`
 * would silently replace it.
 */
import { constants } from 'node:fs';
import { SystemError, UsageError } from '../errors.js';
import { fileCalls } from './file-calls.js';
import { type OpenFile, openForRead, withFileAsync } from './files.js';
import { errnoOf, type FileRole, ioError, nounOf, systemCall } from './io-error.js';
import { lstatPath, nameExists } from './paths.js';

/** A name that should be new exists; its file was left alone. */
export class NameTakenError extends SystemError {
  constructor(path: string, role: FileRole) {
    super('ERR_IO', `cannot create ${nounOf(role)}${path}: the name is taken`);
  }
}

/**
 * Waits until the bytes written to an open file are on its device. A failed fsync is final: the kernel may have dropped
 * the data, and a second call would succeed. So the caller must write the file again, under another name.
 */
export async function syncOpenFile(file: OpenFile): Promise<void> {
  try {
    await fileCalls.syncAsync(file.fd);
  } catch (error) {
    throw ioError('sync', file.role, file.path, error);
  }
}

/** Does what `syncOpenFile` does, for a file that was written and closed, or for the names in a directory. */
export async function syncPath(path: string, role: FileRole = 'output'): Promise<void> {
  await withFileAsync(openForRead(path, role), async (file) => {
    try {
      await syncOpenFile(file);
    } catch (error) {
      // Some network file systems cannot sync a directory and say so.
      const isRefused = error instanceof Error && errnoOf(error.cause) === 'EINVAL';
      if (!isRefused || !fileCalls.statOpen(file.fd).isDirectory()) throw error;
    }
  });
}

export function byteLengthOf(path: string): number {
  return systemCall('examine', 'output', path, () => Number(fileCalls.stat(path).size));
}

/** Creates an empty file, with the mode that the umask gives, unless it exists. */
export function ensureFile(path: string, role: 'output' | 'store'): void {
  try {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants;
    fileCalls.close(fileCalls.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o666));
  } catch (error) {
    throw ioError('create', role, path, error);
  }
}

/**
 * Gives a file the mode of the file that it is to replace and, where this user may, its owner and group; durably. Does
 * nothing without such a file, or when the two agree.
 */
export async function copyPermissions(path: string, former: string): Promise<void> {
  const theirs = lstatPath(former, 'output');
  if (theirs?.isFile() !== true) return;
  const own = systemCall('examine', 'output', path, () => fileCalls.lstat(path));
  // Only root gives a file away.
  const user = process.geteuid?.() === 0 ? theirs.uid : own.uid;
  const hasOwners = own.uid === user && own.gid === theirs.gid;
  const mode = Number(theirs.mode & 0o777n);
  if (hasOwners && Number(own.mode & 0o777n) === mode) return;
  // Opened before its mode may forbid that.
  await withFileAsync(openForRead(path, 'output'), async (file) => {
    const hasGroup = hasOwners || changeOwner(path, user, theirs.gid) || own.gid === theirs.gid;
    // The bits of the group are for the former group; another one gets those of everybody.
    const permitted = hasGroup ? mode : (mode & 0o707) | (((mode & 0o007) << 3) & mode);
    systemCall('give its mode to', 'output', path, () => fileCalls.chmod(path, permitted));
    await syncOpenFile(file);
  });
}

/** False where this user may not do that, or the file system has no owners. */
function changeOwner(path: string, user: bigint, group: bigint): boolean {
  try {
    fileCalls.chown(path, Number(user), Number(group));
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EPERM' || errno === 'EINVAL' || errno === 'ENOTSUP' || errno === 'ENOSYS') return false;
    throw ioError('give its owner to', 'output', path, error);
  }
}

/** Replaces a file of that name. When it throws, nothing has changed. */
export function moveIntoPlace(from: string, to: string): void {
  systemCall('give its name to', 'output', to, () => fileCalls.rename(from, to));
}

/**
 * Gives `from` the name `to` beside its own, or in place of it where the file system has no hard links.
 * @throws UsageError ERR_OUTPUT_EXISTS when the name is taken.
 */
export function linkOrRename(from: string, to: string): void {
  try {
    if (!linkIfPossible(from, to, 'output')) fileCalls.rename(from, to);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw outputAppearedError(to);
    throw ioError('give its name to', 'output', to, error);
  }
}

/** Gives the temp file `from` the name `to`. When it throws, nothing has changed. @throws NameTakenError */
export function linkToNewName(from: string, to: string): void {
  try {
    if (linkIfPossible(from, to, 'temp')) removeFormerName(from, to);
    else fileCalls.rename(from, to);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw new NameTakenError(to, 'temp');
    throw ioError('give its name to', 'temp', to, error);
  }
}

/**
 * Gives the file `from` of a store the name `to`, for good: others look for that name and may rely on it from then on,
 * so it stays when the former name cannot be removed.
 * @throws NameTakenError; SystemError also where there are no hard links, because two files could get one name there.
 */
export function publishName(from: string, to: string): void {
  try {
    if (!linkIfPossible(from, to, 'store')) {
      throw new Error('this file system has no hard links; put the pile store on one that has them');
    }
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw new NameTakenError(to, 'store');
    throw ioError('give its name to', 'store', to, error);
  }
  try {
    fileCalls.unlink(from);
  } catch {
    // The name says what the file is; the collection of garbage deletes it later.
  }
}

/** False where the file system has no hard links; then nothing has the name `to`. */
function linkIfPossible(from: string, to: string, role: FileRole): boolean {
  try {
    fileCalls.link(from, to);
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST' && haveOneInode(from, to)) return true;
    if (errno !== 'EPERM' && errno !== 'ENOTSUP' && errno !== 'ENOSYS' && errno !== 'EMLINK') throw error;
    if (nameExists(to, role)) throw Object.assign(new Error('it exists'), { code: 'EEXIST' });
    return false;
  }
}

/**
 * Returns whether `link` succeeded though it reports that the name is taken: it was repeated by a network file system
 * that lost its server's answer, or because a signal interrupted it.
 */
function haveOneInode(path: string, other: string): boolean {
  try {
    const [a, b] = [fileCalls.lstat(path), fileCalls.lstat(other)];
    return a.ino === b.ino && a.dev === b.dev;
  } catch {
    return false;
  }
}

function removeFormerName(from: string, to: string): void {
  try {
    fileCalls.unlink(from);
  } catch (error) {
    // A call that failed may have succeeded nevertheless: then `to` is the only name.
    if (!nameExists(from, 'temp')) return;
    fileCalls.unlink(to);
    throw error;
  }
}

/** Gives a private directory the mode that the umask gives. */
export function applyUmask(path: string): void {
  systemCall('open to others', 'output', path, () => fileCalls.chmod(path, 0o777 & ~process.umask()));
}

/** Gives a directory the name `to`, which must not exist. */
export function moveDirectoryIntoPlace(from: string, to: string): void {
  try {
    fileCalls.rename(from, to);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'ENOTDIR') throw outputAppearedError(to);
    throw ioError('give its name to', 'output', to, error);
  }
}

/** The advice for a job; tasks write over an output in another way. */
export const REPLACE_ADVICE = 'give `force` to replace it';

export function outputAppearedError(path: string): UsageError {
  return new UsageError(
    `the output ${path} appeared during the job and was left alone; ${REPLACE_ADVICE}`,
    'ERR_OUTPUT_EXISTS',
  );
}
