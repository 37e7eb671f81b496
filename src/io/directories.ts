/**
 * Directories that a job makes: private ones (mode 0700) with their removal, and those that several users may share
 * (mode by umask).
 */
import type { BigIntStats, Dirent } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SystemError } from '../errors.js';
import { fileCalls } from './file-calls.js';
import { errnoOf, type FileRole, ioError, isFull, reasonOf, systemCall } from './io-error.js';
import { statPath } from './paths.js';

export type DirectoryPurpose = 'temp' | 'output' | 'job';

export function makePrivateDirectory(parent: string, prefix: string, purpose: DirectoryPurpose): string {
  const path = join(parent, prefix);
  try {
    return fileCalls.makeUniqueDirectory(path);
  } catch (error) {
    throw cannotMakeError(path, purpose, error);
  }
}

/** Makes a directory. False when the name exists, even as a link that leads nowhere: see `requirePrivate`. */
export function makeOwnDirectory(path: string, purpose: DirectoryPurpose): boolean {
  try {
    fileCalls.makeDirectory(path, 0o700);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    removeIfMade(path);
    throw cannotMakeError(path, purpose, error);
  }
}

/** A call that failed may have done its work. */
function removeIfMade(path: string): void {
  try {
    fileCalls.removeDirectory(path);
  } catch {
    // There is none, or this call did not make it.
  }
}

function cannotMakeError(path: string, purpose: DirectoryPurpose, error: unknown): SystemError {
  const parent = dirname(path);
  const reason = errnoOf(error) === 'ENOENT' ? reasonOfNone(parent) : reasonOf(error);
  const [code, message] = {
    temp: [
      'ERR_TEMP_DIR',
      `cannot make a directory in the temp directory ${parent}: ${reason}; name a writable directory with \`tempDirs\``,
    ],
    output: ['ERR_IO', `cannot make the output in ${parent}: ${reason}; expected a writable directory`],
    job: [
      'ERR_TEMP_DIR',
      `cannot make the job directory ${basename(path)} in ${parent}: ${reason}; name a writable place with \`tempDirs\` or \`jobDir\``,
    ],
  }[purpose] as ['ERR_TEMP_DIR' | 'ERR_IO', string];
  return new SystemError(isFull(error) ? 'ERR_NO_SPACE' : code, message, { cause: error });
}

/** File systems of the kernel, such as `/proc`, answer a call that makes something as if the directory did not exist. */
function reasonOfNone(parent: string): string {
  try {
    fileCalls.stat(parent);
    return 'nothing can be made there';
  } catch {
    return 'it does not exist';
  }
}

/**
 * Refuses an existing directory if anybody else could have put something into it: in a shared temp directory others can
 * guess the name of a job's directory, and plant it.
 * @param readers who may look into it: others may read a directory that the user named.
 */
export function requirePrivate(path: string, readers: 'owner' | 'anyone' = 'owner'): void {
  const refuse = (problem: string) => new SystemError('ERR_TEMP_DIR', `cannot use the directory ${path}: ${problem}`);
  const stat = systemCall('examine', 'temp', path, () => fileCalls.lstat(path));
  if (stat.isSymbolicLink()) {
    throw refuse('it is a symbolic link, expected a directory; name the directory that it leads to, or remove it');
  }
  if (!stat.isDirectory()) throw refuse('it is not a directory; remove it or name another one');
  const user = process.geteuid?.();
  // Systems without users have no owners and no modes either.
  if (user === undefined) return;
  if (stat.uid !== BigInt(user)) {
    throw refuse(`it belongs to user ${stat.uid}, expected user ${user}; name another one, or remove it`);
  }
  const [forbidden, problem, change] =
    readers === 'owner'
      ? [0o077n, 'it is open to other users', 'go-rwx']
      : [0o022n, 'other users can write to it', 'go-w'];
  if ((stat.mode & forbidden) !== 0n) {
    const mode = (stat.mode & 0o777n).toString(8);
    throw refuse(`${problem} (mode ${mode}); if everything in it is yours, run chmod ${change} on it`);
  }
}

/** Makes the directory, or refuses an existing one that is not private. */
export function ensurePrivateDirectory(path: string, purpose: DirectoryPurpose): void {
  if (!makeOwnDirectory(path, purpose)) requirePrivate(path);
}

/** Removes a directory, unless it holds something or is a mount point. */
export function removeIfEmpty(path: string): void {
  try {
    fileCalls.removeDirectory(path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'EBUSY') return;
    throw new SystemError('ERR_IO', `cannot remove ${path}: ${reasonOf(error)}; remove it by hand`, { cause: error });
  }
}

/**
 * Removes a directory, if it exists, with everything in it. Leaves what somebody planted under its name: a symbolic
 * link, with its target, or a directory of another user.
 */
export function removeDirectory(path: string): void {
  try {
    if (isOwnDirectory(fileCalls.lstat(path))) removeAll(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw new SystemError('ERR_IO', `cannot remove ${path}: ${reasonOf(error)}; remove it by hand`, { cause: error });
  }
}

/** Removes everything in a directory of this user, except names that stay. */
export function removeContents(path: string, stays: (name: string) => boolean): void {
  try {
    for (const entry of fileCalls.list(path)) if (!stays(entry.name)) removeEntry(path, entry);
  } catch (error) {
    throw new SystemError('ERR_IO', `cannot empty ${path}: ${reasonOf(error)}; remove it by hand`, { cause: error });
  }
}

function isOwnDirectory(stat: BigIntStats): boolean {
  const user = process.geteuid?.();
  return stat.isDirectory() && (user === undefined || stat.uid === BigInt(user));
}

function removeAll(path: string): void {
  for (const entry of fileCalls.list(path)) removeEntry(path, entry);
  ifPresent(() => fileCalls.removeDirectory(path));
}

function removeEntry(directory: string, entry: Dirent): void {
  const inside = join(directory, entry.name);
  ifPresent(() => (entry.isDirectory() ? removeAll(inside) : fileCalls.unlink(inside)));
}

function ifPresent(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

export function ensureSharedDirectory(path: string, role: FileRole): void {
  try {
    fileCalls.makeDirectory(path, 0o777);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' && statPath(path, role)?.isDirectory() === true) return;
    throw ioError('make the directory', role, path, error);
  }
}
