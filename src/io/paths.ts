/**
 * Questions about paths, with errors that say what could not be found out.
 */
import { type BigIntStats, constants } from 'node:fs';
import { errnoOf } from './errno.js';
import { fileCalls } from './file-calls.js';
import { type FileRole, ioError, reasonOf } from './io-error.js';

function leadsNowhere(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR';
}

/** `stat`, following symbolic links; undefined when there is nothing. */
export function statPath(path: string, role: FileRole): BigIntStats | undefined {
  try {
    return fileCalls.stat(path);
  } catch (error) {
    if (leadsNowhere(error)) return undefined;
    throw ioError('examine', role, path, error);
  }
}

/** `lstat`, of a symbolic link itself; undefined when there is nothing. */
export function lstatPath(path: string, role: FileRole): BigIntStats | undefined {
  try {
    return fileCalls.lstat(path);
  } catch (error) {
    if (leadsNowhere(error)) return undefined;
    throw ioError('examine', role, path, error);
  }
}

/** Whether there is something of this name, be it a symbolic link that leads nowhere. */
export function nameExists(path: string, role: FileRole): boolean {
  return lstatPath(path, role) !== undefined;
}

/** Whether both names lead to one file; false when one of them leads nowhere. */
export function isSameFile(a: string, b: string, role: FileRole): boolean {
  const statA = statPath(a, role);
  const statB = statPath(b, role);
  return statA !== undefined && statB !== undefined && statA.dev === statB.dev && statA.ino === statB.ino;
}

/** Whether both names are of one file, or of one symbolic link; false when there is nothing of one name. */
export function isSameEntry(a: string, b: string, role: FileRole): boolean {
  const statA = lstatPath(a, role);
  const statB = lstatPath(b, role);
  return statA !== undefined && statB !== undefined && statA.dev === statB.dev && statA.ino === statB.ino;
}

/** The path of an existing file without symbolic links. */
export function realPathOf(path: string, role: FileRole): string {
  try {
    return fileCalls.realPath(path);
  } catch (error) {
    throw ioError('examine', role, path, error);
  }
}

/** Whether this process may make something in a directory. */
export function isWritable(directory: string, role: FileRole): boolean {
  return findObstacle(directory, 'write', role) === undefined;
}

/** Why this process may not make something in a directory, or list what is in it; undefined when it may. */
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

/** The names in a directory, of files and directories alike. */
export function listNames(directory: string, role: FileRole): string[] {
  try {
    return fileCalls.list(directory).map(({ name }) => name);
  } catch (error) {
    throw ioError('list', role, directory, error);
  }
}
