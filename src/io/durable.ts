/**
 * Making files durable and visible: fsync, then one rename or link. `link` refuses a name that
 * exists, where `rename` would silently replace it.
 */
import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../errors.js';
import { errnoOf } from './errno.js';
import { fileCalls } from './file-calls.js';
import { ioError } from './io-error.js';
import { nameExists } from './paths.js';

/**
 * Waits until a file's or directory's bytes are on its device.
 * A failed fsync is final: the kernel may have dropped the data, and a second call would succeed.
 */
export async function syncPath(path: string): Promise<void> {
  let fd: number;
  try {
    fd = fileCalls.open(path, constants.O_RDONLY);
  } catch (error) {
    throw ioError('open', 'output', path, error);
  }
  try {
    await fileCalls.syncAsync(fd);
  } catch (error) {
    // Some network file systems cannot sync a directory and say so.
    if (errnoOf(error) !== 'EINVAL' || !fileCalls.statOpen(fd).isDirectory())
      throw ioError('sync', 'output', path, error);
  } finally {
    fileCalls.close(fd);
  }
}

/** Size of a file in bytes, as the file system knows it. */
export function byteLengthOf(path: string): number {
  try {
    return Number(fileCalls.stat(path).size);
  } catch (error) {
    throw ioError('examine', 'output', path, error);
  }
}

/** Makes a file that must not exist, empty, with the mode that the umask gives. */
export function createEmpty(path: string): void {
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    fileCalls.close(fileCalls.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666));
  } catch (error) {
    throw ioError('create', 'output', path, error);
  }
}

/** Gives `from` the name `to`, which must not exist unless `mayReplace`. When it throws, nothing has changed. */
export function moveIntoPlace(from: string, to: string, mayReplace: boolean): void {
  try {
    if (mayReplace) fileCalls.rename(from, to);
    else moveToNewName(from, to);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw appearedDuringJob(to);
    throw ioError('give its name to', 'output', to, error);
  }
}

function moveToNewName(from: string, to: string): void {
  try {
    fileCalls.link(from, to);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'EPERM' && errno !== 'ENOTSUP' && errno !== 'ENOSYS' && errno !== 'EMLINK') throw error;
    // The file system has no hard links: look, then rename.
    if (nameExists(to, 'output')) throw Object.assign(new Error('it exists'), { code: 'EEXIST' });
    fileCalls.rename(from, to);
    return;
  }
  try {
    fileCalls.unlink(from);
  } catch (error) {
    fileCalls.unlink(to);
    throw error;
  }
}

/** Gives the directory `from` the name `to`, which must not exist, with the mode that the umask gives. */
export function moveDirectoryIntoPlace(from: string, to: string): void {
  try {
    fileCalls.chmod(from, 0o777 & ~process.umask());
    fileCalls.rename(from, to);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'ENOTDIR') throw appearedDuringJob(to);
    throw ioError('give its name to', 'output', to, error);
  }
}

export function appearedDuringJob(path: string): UsageError {
  return new UsageError(
    `the output ${path} appeared during the job and was left alone; give --force to replace it`,
    'ERR_OUTPUT_EXISTS',
  );
}

/** Makes the names in the directory that holds `path` durable. */
export async function syncParent(path: string): Promise<void> {
  await syncPath(dirname(path));
}
