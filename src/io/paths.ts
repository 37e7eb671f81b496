import { type BigIntStats, constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileCalls } from './file-calls.js';
import { errnoOf, type FileRole, ioError, reasonOf, systemCall } from './io-error.js';

function examine(path: string, role: FileRole, stat: () => BigIntStats): BigIntStats | undefined {
  try {
    return stat();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
    throw ioError('examine', role, path, error);
  }
}

export function statPath(path: string, role: FileRole): BigIntStats | undefined {
  return examine(path, role, () => fileCalls.stat(path));
}

export function lstatPath(path: string, role: FileRole): BigIntStats | undefined {
  return examine(path, role, () => fileCalls.lstat(path));
}

/** Returns whether a name exists, even as a symbolic link that leads nowhere. */
export function nameExists(path: string, role: FileRole): boolean {
  return lstatPath(path, role) !== undefined;
}

/** Returns whether both names lead to one file; false when one of them leads nowhere. */
export function isSameFile(a: string, b: string, role: FileRole): boolean {
  return areSame(statPath(a, role), statPath(b, role));
}

/** Returns whether both names are of one file, or of one symbolic link; false when one name does not exist. */
export function isSameEntry(a: string, b: string, role: FileRole): boolean {
  return areSame(lstatPath(a, role), lstatPath(b, role));
}

function areSame(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/** The first parent of a path, from below, that exists and is not a directory. */
export function fileAmongParents(path: string, role: FileRole): string | undefined {
  const parent = dirname(path);
  const found = statPath(parent, role);
  if (found === undefined) return parent === path ? undefined : fileAmongParents(parent, role);
  return found.isDirectory() ? undefined : parent;
}

export function realPathOf(path: string, role: FileRole): string {
  return systemCall('examine', role, path, () => fileCalls.realPath(path));
}

/** Why this process may not create files in a directory, or list it; undefined when it may. */
export function findObstacle(directory: string, to: 'read' | 'write', role: FileRole): string | undefined {
  try {
    fileCalls.access(directory, constants.X_OK | (to === 'read' ? constants.R_OK : constants.W_OK));
    return undefined;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EACCES' || errno === 'EPERM' || errno === 'EROFS') return reasonOf(error);
    throw ioError('examine', role, directory, error);
  }
}

export function listNames(directory: string, role: FileRole): string[] {
  return systemCall('list', role, directory, () => fileCalls.list(directory).map(({ name }) => name));
}

/**
 * Bytes that an unprivileged process can still write below a directory, as statfs counts them now: without the blocks
 * reserved for root. Others write too, and a quota may stop a writer earlier. Undefined where the file system does not say:
 * network and FUSE file systems may not count blocks. Throws what statfs throws.
 */
export function readFreeBytes(directory: string): number | undefined {
  const { blocks, bavail, bsize } = fileCalls.statFileSystem(directory);
  return blocks === 0 ? undefined : bavail * bsize;
}

/** Bytes that the files of a directory take on its device; 0 when there is no such directory. */
export function readStoredBytes(directory: string, role: FileRole): number {
  if (lstatPath(directory, role)?.isDirectory() !== true) return 0;
  return listNames(directory, role).reduce((sum, name) => {
    const stat = statPath(join(directory, name), role);
    return stat?.isFile() === true ? sum + 512 * Number(stat.blocks) : sum;
  }, 0);
}
